#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

namespace spanloom::bindings {

// Where in the input we are, for messages.
struct Place {
  std::size_t sentence = 0, token = 0;
  const char* group = "sentence";
  const char* unit = "token";

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(std::string(group) + " " + std::to_string(sentence) + ", " + unit + " " +
                                std::to_string(token) + ": " + what);
  }
};

inline std::string type_of(nanobind::handle object) { return Py_TYPE(object.ptr())->tp_name; }

inline std::string ascii(nanobind::handle object) {
  const nanobind::object text = nanobind::steal(PyObject_ASCII(object.ptr()));
  if (!text.is_valid()) throw nanobind::python_error();
  return nanobind::cast<std::string>(text);
}

inline std::string_view utf8(nanobind::handle text, const Place& place) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    place.fail(ascii(text) +
               " is not valid Unicode text (it has a lone surrogate). Decode the source with the right encoding, or "
               "with errors=\"replace\".");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

// The bytes of UTF-8 text.
inline std::string_view bytes_text(nanobind::handle object, const Place& place) {
  const char* bytes = PyBytes_AsString(object.ptr());
  const Py_ssize_t size = PyBytes_Size(object.ptr());
  if (!nanobind::steal(PyUnicode_DecodeUTF8(bytes, size, nullptr)).is_valid()) {
    PyErr_Clear();
    place.fail(ascii(object) + " is not UTF-8. Decode it with the encoding of its source.");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

// A list or tuple, or anything that can be made into one.
inline nanobind::object sequence(nanobind::handle object, const std::string& what) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()))
    throw std::invalid_argument(what + " must be a sequence, got " + type_of(object));
  PyObject* fast = PySequence_Fast(object.ptr(), "");
  if (fast == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nanobind::python_error();  // of a generator's own code
    PyErr_Clear();
    throw std::invalid_argument(what + " must be a sequence, got " + type_of(object));
  }
  return nanobind::steal(fast);
}

inline std::size_t length(const nanobind::object& fast) {
  return static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast.ptr()));
}
inline nanobind::handle item(const nanobind::object& fast, std::size_t i) {
  return PySequence_Fast_GET_ITEM(fast.ptr(), static_cast<Py_ssize_t>(i));
}

// The ready features of one token or item, by python-crfsuite's conventions:
// "k" -> k with 1; {"k": 2.5} -> k with 2.5; {"k": "v"} -> k:v with 1; {"k": True} -> k with 1;
// {"k": [..]} or {"k": {..}} -> the features inside, each prefixed by "k:".
//
// A Sink says what they are called in messages (kOne, kMany, kAn), whether bytes may stand for text (kBytes) and other
// iterables for lists (kIterables), whether a value fits (fits, kRange), and takes them: add(name, value).
template <class Sink>
class ItemReader {
 public:
  // Keeps a reference to the sink.
  explicit ItemReader(Sink& sink) : sink_(sink) {}

  void read(nanobind::handle features, const Place& place) {
    name_.clear();
    read(features, place, 0);
  }

 private:
  static bool is_text(nanobind::handle object) {
    return PyUnicode_Check(object.ptr()) || (Sink::kBytes && PyBytes_Check(object.ptr()));
  }

  static bool is_list(nanobind::handle object) {
    return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) || PyAnySet_Check(object.ptr());
  }

  // The usual numbers; others have a __float__.
  static bool is_number(nanobind::handle object) { return PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr()); }

  static std::string_view text(nanobind::handle object, const Place& place) {
    if constexpr (Sink::kBytes) {
      if (PyBytes_Check(object.ptr())) return bytes_text(object, place);
    }
    return utf8(object, place);
  }

  void read(nanobind::handle features, const Place& place, int depth) {
    if (depth > 32) place.fail(std::string(Sink::kMany) + " are nested more than 32 deep");
    if (PyDict_Check(features.ptr())) {
      PyObject *key = nullptr, *value = nullptr;
      Py_ssize_t at = 0;
      while (PyDict_Next(features.ptr(), &at, &key, &value)) {
        // A value's __float__ may change the dict: hold on to what we read.
        const nanobind::object name = nanobind::borrow(key), held = nanobind::borrow(value);
        read_pair(name, held, place, depth);
      }
      return;
    }
    if (PyAnySet_Check(features.ptr())) {
      // The order of a set depends on the process; sorted, the result does not.
      const nanobind::object sorted = nanobind::steal(PySequence_List(features.ptr()));
      if (!sorted.is_valid() || PyList_Sort(sorted.ptr()) != 0) {
        PyErr_Clear();
        place.fail(std::string(Sink::kMany) + " are a set of different types; they must be strings");
      }
      read_items(sorted, place);
      return;
    }
    if (is_list(features)) {
      read_items(nanobind::borrow(features), place);
      return;
    }
    if constexpr (Sink::kIterables) {
      if (!is_text(features) && PyObject_HasAttrString(features.ptr(), "__iter__") == 1) {
        read_items(sequence(features, Sink::kMany), place);
        return;
      }
    }
    place.fail(std::string(Sink::kMany) + " are " + ascii(features) + " (" + type_of(features) +
               "); they must be a list of strings or a dict");
  }

  void read_items(const nanobind::object& items, const Place& place) {
    const std::size_t before = name_.size();
    for (std::size_t i = 0; i < length(items); ++i) {
      const nanobind::handle name = item(items, i);
      check_name(name, place);
      name_.append(text(name, place));
      sink_.add(name_, 1.0);
      name_.resize(before);
    }
  }

  void read_pair(nanobind::handle key, nanobind::handle value, const Place& place, int depth) {
    check_name(key, place);
    const std::size_t before = name_.size();
    name_.append(text(key, place));
    if (is_text(value)) {
      name_.push_back(':');
      name_.append(text(value, place));
      sink_.add(name_, 1.0);
    } else if (!is_number(value) && (PyDict_Check(value.ptr()) || is_list(value))) {
      name_.push_back(':');
      read(value, place, depth + 1);
    } else {
      // Of a bool, PyFloat_AsDouble would make a float object.
      const bool flag = PyBool_Check(value.ptr());
      const double number = flag ? (value.is(Py_True) ? 1.0 : 0.0) : PyFloat_AsDouble(value.ptr());
      if (number == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        place.fail(std::string(Sink::kOne) + " " + ascii(key) + " has the value " + ascii(value) + " (" +
                   type_of(value) + "); it must be a number, a bool or a str");
      }
      if (!Sink::fits(number))
        place.fail(std::string(Sink::kOne) + " " + ascii(key) + " has the value " + ascii(value) + "; it must be " +
                   Sink::kRange + ". Leave the " + Sink::kNoun + " out where it is unknown.");
      sink_.add(name_, number);
    }
    name_.resize(before);
  }

  static void check_name(nanobind::handle name, const Place& place) {
    if (!is_text(name))
      place.fail(std::string("an ") + Sink::kOne + " is named " + ascii(name) + " (" + type_of(name) +
                 "); names must be strings");
  }

  Sink& sink_;
  std::string name_;  // of the feature that is read, prefixes first
};

}  // namespace spanloom::bindings
