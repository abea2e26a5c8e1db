#include "feature_reader.hpp"

#include <nanobind/stl/string.h>

#include <cmath>
#include <stdexcept>

namespace nb = nanobind;

namespace spanloom::bindings {
namespace {

// Where in the input we are, for messages.
struct Place {
  std::size_t sentence = 0, token = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("sentence " + std::to_string(sentence) + ", token " + std::to_string(token) + ": " +
                                what);
  }
};

std::string type_of(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

std::string ascii(nb::handle object) {
  const nb::object text = nb::steal(PyObject_ASCII(object.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  return nb::cast<std::string>(text);
}

std::string_view utf8(nb::handle text, const Place& place) {
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

// A list or tuple, or anything that can be made into one.
nb::object sequence(nb::handle object, const std::string& what) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()))
    throw std::invalid_argument(what + " must be a sequence, got " + type_of(object));
  PyObject* fast = PySequence_Fast(object.ptr(), "");
  if (fast == nullptr) {
    PyErr_Clear();
    throw std::invalid_argument(what + " must be a sequence, got " + type_of(object));
  }
  return nb::steal(fast);
}

std::size_t length(const nb::object& fast) { return static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast.ptr())); }
nb::handle item(const nb::object& fast, std::size_t i) {
  return PySequence_Fast_GET_ITEM(fast.ptr(), static_cast<Py_ssize_t>(i));
}

void read_column(const std::string& name, nb::handle column, bool first, TokenInput& input) {
  const nb::object sentences = sequence(column, "column '" + name + "'");
  StringList& out = input.columns.emplace_back();
  if (!first) out.reserve(input.tokens(), 6 * input.tokens());
  Place place;
  for (std::size_t s = 0; s < length(sentences); ++s) {
    place = {s, 0};
    const nb::object tokens = sequence(item(sentences, s), "column '" + name + "' of sentence " + std::to_string(s));
    const std::size_t n = length(tokens);
    for (std::size_t t = 0; t < n; ++t) {
      place.token = t;
      const nb::handle text = item(tokens, t);
      if (!PyUnicode_Check(text.ptr()))
        place.fail("column '" + name + "' holds " + ascii(text) + " (" + type_of(text) + "); it must be a str");
      out.push_back(utf8(text, place));
    }
    if (first)
      input.sentence_ptr.push_back(static_cast<std::int64_t>(out.size()));
    else if (s >= input.sentences() || out.size() != static_cast<std::size_t>(input.sentence_ptr[s + 1]))
      throw std::invalid_argument("column '" + name + "' of sentence " + std::to_string(s) + " has " +
                                  std::to_string(n) + " values; other columns differ");
  }
}

// The user's own features of one token, by python-crfsuite's conventions:
// "k" -> k with 1; {"k": 2.5} -> k with 2.5; {"k": "v"} -> k:v with 1; {"k": True} -> k with 1;
// {"k": [..]} or {"k": {..}} -> the features inside, each prefixed by "k:".
class OwnReader {
 public:
  explicit OwnReader(TokenInput& input) : input_(input) {}

  void read(nb::handle features, const Place& place, std::string& prefix, int depth) {
    if (depth > 32) place.fail("own features are nested more than 32 deep");
    if (PyDict_Check(features.ptr())) {
      PyObject *key = nullptr, *value = nullptr;
      Py_ssize_t at = 0;
      while (PyDict_Next(features.ptr(), &at, &key, &value)) {
        // A value's __float__ may change the dict: hold on to what we read.
        const nb::object name = nb::borrow(key), held = nb::borrow(value);
        read_pair(name, held, place, prefix, depth);
      }
      return;
    }
    if (!PyList_Check(features.ptr()) && !PyTuple_Check(features.ptr()) && !PyAnySet_Check(features.ptr()))
      place.fail("own features are " + ascii(features) + " (" + type_of(features) +
                 "); they must be a list of strings or a dict");
    if (PyAnySet_Check(features.ptr())) {
      // The order of a set depends on the process; sorted, the result does not.
      const nb::object sorted = nb::steal(PySequence_List(features.ptr()));
      if (!sorted.is_valid() || PyList_Sort(sorted.ptr()) != 0) {
        PyErr_Clear();
        place.fail("own features are a set of different types; they must be strings");
      }
      read_items(sorted, place, prefix);
      return;
    }
    read_items(nb::borrow(features), place, prefix);
  }

 private:
  void read_items(const nb::object& items, const Place& place, const std::string& prefix) {
    for (std::size_t i = 0; i < length(items); ++i) {
      const nb::handle name = item(items, i);
      check_name(name, place);
      add(prefix, utf8(name, place), 1.0f);
    }
  }

  void read_pair(nb::handle key, nb::handle value, const Place& place, std::string& prefix, int depth) {
    check_name(key, place);
    const std::string_view name = utf8(key, place);
    if (PyUnicode_Check(value.ptr())) {
      add(prefix + std::string(name) + ":", utf8(value, place), 1.0f);
    } else if (PyDict_Check(value.ptr()) || PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) ||
               PyAnySet_Check(value.ptr())) {
      const std::size_t before = prefix.size();
      prefix.append(name).append(":");
      read(value, place, prefix, depth + 1);
      prefix.resize(before);
    } else {
      const double number = PyFloat_AsDouble(value.ptr());
      if (number == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        place.fail("own feature " + ascii(key) + " has the value " + ascii(value) + " (" + type_of(value) +
                   "); it must be a number, a bool or a str");
      }
      if (!std::isfinite(static_cast<float>(number)))
        place.fail("own feature " + ascii(key) + " has the value " + ascii(value) +
                   "; it must be a finite number that fits a 32-bit float. Leave the feature out where it is unknown.");
      add(prefix, name, static_cast<float>(number));
    }
  }

  static void check_name(nb::handle name, const Place& place) {
    if (!PyUnicode_Check(name.ptr()))
      place.fail("an own feature is named " + ascii(name) + " (" + type_of(name) + "); names must be strings");
  }

  void add(std::string_view prefix, std::string_view name, float value) {
    input_.own_names.open().append(prefix).append(name);
    input_.own_names.close();
    if (value != 1.0f && input_.own_values.empty()) input_.own_values.assign(input_.own_names.size() - 1, 1.0f);
    // The first value that is not 1 may be that of the very first feature.
    if (value != 1.0f || !input_.own_values.empty()) input_.own_values.push_back(value);
  }

  TokenInput& input_;
};

void read_own(nb::handle own, TokenInput& input) {
  const nb::object sentences = sequence(own, "own features");
  if (length(sentences) != input.sentences())
    throw std::invalid_argument("own features are given for " + std::to_string(length(sentences)) + " of " +
                                std::to_string(input.sentences()) + " sentences");
  OwnReader reader(input);
  std::string prefix;
  input.own_ptr.reserve(input.tokens() + 1);
  input.own_ptr.push_back(0);
  for (std::size_t s = 0; s < input.sentences(); ++s) {
    const nb::handle features = item(sentences, s);
    const std::size_t n = input.length(s);
    if (features.is_none()) {
      input.own_ptr.insert(input.own_ptr.end(), n, input.own_ptr.back());
      continue;
    }
    const nb::object tokens = sequence(features, "own features of sentence " + std::to_string(s));
    if (length(tokens) != n)
      throw std::invalid_argument("own features of sentence " + std::to_string(s) + " are given for " +
                                  std::to_string(length(tokens)) + " of " + std::to_string(n) + " tokens");
    for (std::size_t t = 0; t < n; ++t) {
      reader.read(item(tokens, t), {s, t}, prefix, 0);
      input.own_ptr.push_back(static_cast<std::int64_t>(input.own_names.size()));
    }
  }
}

}  // namespace

TokenInput read_input(const std::vector<std::string>& names, nb::handle columns, nb::handle own) {
  const nb::object lists = sequence(columns, "columns");
  if (length(lists) != names.size() || names.empty())
    throw std::invalid_argument(std::to_string(length(lists)) + " columns for " + std::to_string(names.size()) +
                                " names");
  TokenInput input;
  for (std::size_t c = 0; c < names.size(); ++c) read_column(names[c], item(lists, c), c == 0, input);
  if (!own.is_none()) read_own(own, input);
  return input;
}

}  // namespace spanloom::bindings
