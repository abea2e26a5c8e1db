#pragma once
#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "spanloom/text/tokenized_texts.hpp"

namespace spanloom::bindings {

namespace nb = nanobind;

// A new reference of Python's, or the error that it is without one.
inline nb::object checked(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

// Documents whose text belongs to Python strings.
struct HeldTexts {
  nb::tuple strings;  // keeps the memory of the texts
  text::TokenizedTexts texts;
  std::vector<std::string> own;  // the texts themselves, where they were written here
};

// A string of Python as UTF-8, which lives as long as it does. Throws std::invalid_argument, with what it is, if it is
// no valid text.
inline std::string_view utf8(nb::handle text, const char* what, std::size_t number) {
  if (!PyUnicode_Check(text.ptr()))
    throw nb::type_error((std::string(what) + " " + std::to_string(number) + " is not a str").c_str());
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    throw std::invalid_argument(std::string(what) + " " + std::to_string(number) +
                                " is not valid Unicode text (it has a lone surrogate). Decode the source with the "
                                "right encoding, or with errors=\"replace\".");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

// One number of every range or mention, as an array.
template <class Item, class Number>
auto column(const std::vector<Item>& items, Number number) {
  std::vector<std::uint32_t> out(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) out[i] = number(items[i]);
  return give(std::move(out));
}

inline auto pointers(const std::vector<std::size_t>& ptr) {
  return give(std::vector<std::int64_t>(ptr.begin(), ptr.end()));
}

}  // namespace spanloom::bindings
