#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "spanloom/text/sentences.hpp"
#include "spanloom/text/tokenizer.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

using text::Range;

nb::object checked(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

std::u32string code_points(nb::handle text) {
  std::u32string out(static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr())), U'\0');
  // Py_UCS4 is an unsigned integer of the size of char32_t.
  if (!out.empty() && PyUnicode_AsUCS4(text.ptr(), reinterpret_cast<Py_UCS4*>(out.data()),
                                       static_cast<Py_ssize_t>(out.size()), 0) == nullptr)
    throw nb::python_error();
  return out;
}

nb::list pairs(const std::vector<Range>& ranges) {
  nb::object list = checked(PyList_New(static_cast<Py_ssize_t>(ranges.size())));
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    PyObject* pair = checked(PyTuple_New(2)).release().ptr();
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), pair);
    PyTuple_SET_ITEM(pair, 0, checked(PyLong_FromUnsignedLong(ranges[i].start)).release().ptr());
    PyTuple_SET_ITEM(pair, 1, checked(PyLong_FromUnsignedLong(ranges[i].end)).release().ptr());
    PyObject_GC_UnTrack(pair);  // holds nothing that could be part of a cycle
  }
  return nb::steal<nb::list>(list.release());
}

std::uint32_t position(nb::handle number, std::size_t token) {
  const long long value = PyLong_AsLongLong(number.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (value < 0 || value > 0xFFFFFFFFLL)
    throw std::out_of_range("token " + std::to_string(token) + " has the character " + std::to_string(value) +
                            ", which is not in the text");
  return static_cast<std::uint32_t>(value);
}

std::vector<Range> read_pairs(nb::handle spans) {
  const nb::object list = checked(PySequence_Fast(spans.ptr(), "spans must be a sequence of (start, end)"));
  std::vector<Range> out(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(list.ptr())));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const nb::object pair = checked(PySequence_Fast(PySequence_Fast_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i)),
                                                    "a span must be a pair (start, end)"));
    if (PySequence_Fast_GET_SIZE(pair.ptr()) != 2)
      throw std::invalid_argument("span " + std::to_string(i) + " has " +
                                  std::to_string(PySequence_Fast_GET_SIZE(pair.ptr())) + " numbers instead of 2");
    out[i] = {position(PySequence_Fast_GET_ITEM(pair.ptr(), 0), i),
              position(PySequence_Fast_GET_ITEM(pair.ptr(), 1), i)};
  }
  return out;
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def(
      "tokenize",
      [](const nb::str& given) {
        const std::u32string text = code_points(given);
        std::vector<Range> tokens;
        text::Tokenizer().tokenize(text, tokens);
        return pairs(tokens);
      },
      "text"_a, nb::sig("def tokenize(text: str) -> list[tuple[int, int]]"),
      "Return the tokens of a text as half-open ranges of characters.");
  m.def(
      "split_sentences",
      [](const nb::str& given, nb::handle spans) {
        const std::u32string text = code_points(given);
        std::vector<Range> sentences;
        text::split_sentences(text, read_pairs(spans), sentences);
        return pairs(sentences);
      },
      "text"_a, "spans"_a,
      nb::sig("def split_sentences(text: str, spans: collections.abc.Sequence[tuple[int, int]]) "
              "-> list[tuple[int, int]]"),
      "Return the sentences of a text, given its tokens, as half-open ranges of tokens.");
}

}  // namespace spanloom::bindings
