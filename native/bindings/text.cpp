#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "held_texts.hpp"
#include "spanloom/features/feature_rows.hpp"
#include "spanloom/text/sentences.hpp"
#include "spanloom/text/tokenizer.hpp"
#include "spanloom/text/word_table.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

using bindings::span;
using text::Range;

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

// Words of another program: rows of key, gap and begin.
using Words = nb::ndarray<const std::uint64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
static_assert(sizeof(text::GivenWord) == 3 * sizeof(std::uint64_t));

std::span<const text::GivenWord> span(const Words& words) {
  return {reinterpret_cast<const text::GivenWord*>(words.data()), words.shape(0)};
}

// Keeps texts and cuts them by `cut(views)`.
template <class Cut>
HeldTexts hold(nb::handle given, const Cut& cut) {
  HeldTexts held{nb::steal<nb::tuple>(checked(PySequence_Tuple(given.ptr())).release()), {}};
  std::vector<std::string_view> views;
  for (std::size_t i = 0; i < nb::len(held.strings); ++i) views.push_back(utf8(held.strings[i], "text", i));
  const nb::gil_scoped_release release;
  held.texts = cut(std::move(views));
  return held;
}

}  // namespace

void bind_text(nb::module_& m) {
  nb::class_<text::TokenRules>(m, "TokenRules", "How texts are cut into tokens.")
      .def(
          "__init__",
          [](text::TokenRules* self, const std::string& base, const std::vector<std::string>& switches,
             const std::vector<std::string>& abbreviations) {
            new (self) text::TokenRules(text::TokenRules::named(base, switches, abbreviations));
          },
          "base"_a = "default", "switches"_a = std::vector<std::string>(),
          "abbreviations"_a = std::vector<std::string>(),
          nb::sig("def __init__(self, base: str = 'default', switches: collections.abc.Sequence[str] = [], "
                  "abbreviations: collections.abc.Sequence[str] = []) -> None"))
      .def_prop_ro_static("switch_names",
                          [](nb::handle) {
                            const auto names = text::TokenRules::switch_names();
                            return std::vector<std::string>(names.begin(), names.end());
                          })
      .def(
          "tokenize",
          [](const text::TokenRules& self, const nb::str& given) {
            const std::u32string text = code_points(given);
            std::vector<Range> tokens;
            text::Tokenizer(self).tokenize(text, tokens);
            return pairs(tokens);
          },
          "text"_a, nb::sig("def tokenize(self, text: str) -> list[tuple[int, int]]"),
          "Return the tokens of a text as half-open ranges of characters.")
      .def(
          "split_sentences",
          [](const text::TokenRules& self, const nb::str& given, nb::handle spans) {
            const std::u32string text = code_points(given);
            std::vector<Range> sentences;
            text::Tokenizer(self).split(text, read_pairs(spans), sentences);
            return pairs(sentences);
          },
          "text"_a, "spans"_a,
          nb::sig("def split_sentences(self, text: str, spans: collections.abc.Sequence[tuple[int, int]]) "
                  "-> list[tuple[int, int]]"),
          "Return the sentences of a text, given its tokens by these rules.");
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

  nb::class_<text::WordTable>(m, "WordTable", "Words that another program knows by 64-bit keys.")
      .def(nb::init<>())
      .def("__len__", &text::WordTable::size)
      .def(
          "unknown", [](const text::WordTable& self, const Words& words) { return give(self.unknown(span(words))); },
          "words"_a,
          nb::sig("def unknown(self, words: numpy.typing.NDArray[numpy.uint64]) -> numpy.typing.NDArray[numpy.uint64]"),
          "The keys that are not known, each once. Words are rows as in TokenizedTexts.of_words.")
      .def(
          "add",
          [](text::WordTable& self, std::uint64_t key, const std::string& word, bool blank) {
            self.add(key, word, blank);
          },
          "key"_a, "word"_a, nb::kw_only(), "blank"_a, "Add a word; blank: whether it is white space, and no token.");

  nb::class_<HeldTexts>(m, "TokenizedTexts", "Documents cut into sentences and tokens, without an object for each.")
      .def(
          "__init__",
          [](HeldTexts* self, nb::handle texts, int threads, const text::TokenRules& rules) {
            new (self) HeldTexts(hold(texts, [&](std::vector<std::string_view> views) {
              return text::tokenize_texts(std::move(views), rules, threads);
            }));
          },
          "texts"_a, "threads"_a = 0, "rules"_a = text::TokenRules(),
          nb::sig("def __init__(self, texts: collections.abc.Sequence[str], threads: int = 0, rules: TokenRules = ...) "
                  "-> None"))
      .def_static(
          "with_tokens",
          [](nb::handle texts, const Input<std::int64_t>& ptr, const Input<std::uint32_t>& start,
             const Input<std::uint32_t>& end, const std::optional<Input<std::uint8_t>>& first, int threads) {
            const text::GivenTokens given{span(ptr), span(start), span(end),
                                          first ? span(*first) : std::span<const std::uint8_t>()};
            return hold(texts, [&](std::vector<std::string_view> views) {
              return text::with_tokens(std::move(views), given, threads);
            });
          },
          "texts"_a, "ptr"_a, "start"_a, "end"_a, "first"_a.none() = nb::none(), "threads"_a = 0,
          "Texts whose tokens are known: those of text d are ptr[d] to ptr[d + 1], with half-open ranges of "
          "characters; "
          "first says where sentences begin, which are found without it.")
      .def_static(
          "of_words",
          [](const text::WordTable& table, const Input<std::int64_t>& ptr, const Words& rows) {
            HeldTexts held;
            text::CutWords words;
            {
              const nb::gil_scoped_release release;
              words = table.cut({span(ptr), span(rows)});
              held.own = std::move(words.texts);
              held.texts = std::move(words.cut);
            }
            return nb::make_tuple(std::move(held), give(std::move(words.ptr)), give(std::move(words.place)));
          },
          "table"_a, "ptr"_a, "words"_a,
          nb::sig("def of_words(table: WordTable, ptr: numpy.typing.NDArray[numpy.int64], "
                  "words: numpy.typing.NDArray[numpy.uint64]) -> tuple[TokenizedTexts, "
                  "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
          "Texts made of words of a table, and (ptr, place) of their tokens, which are the words but white space: "
          "place is the number of the word within its text. words: [words, 3] of key; whether a blank follows; 1 where "
          "a sentence begins, 0 where that is not known.")
      .def_static(
          "of_utf8",
          [](const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets, int threads,
             const text::TokenRules& rules) {
            HeldTexts held;
            std::vector<std::string_view> views = text::slices(span(data), span(offsets));
            const nb::gil_scoped_release release;
            held.texts = text::tokenize_texts(std::move(views), rules, threads);
            return held;
          },
          "data"_a, "offsets"_a, "threads"_a = 0, "rules"_a = text::TokenRules(), nb::keep_alive<0, 1>(),
          nb::sig("def of_utf8(data: numpy.typing.NDArray[numpy.uint8], offsets: numpy.typing.NDArray[numpy.int64], "
                  "threads: int = 0, rules: TokenRules = ...) -> TokenizedTexts"),
          "Texts that follow each other in UTF-8, as Arrow has them: text d is data[offsets[d]:offsets[d + 1]]. "
          "Nothing "
          "is copied.")
      .def_prop_ro("documents", [](const HeldTexts& self) { return self.texts.documents(); })
      .def_prop_ro("sentences", [](const HeldTexts& self) { return self.texts.sentences(); })
      .def_prop_ro("tokens", [](const HeldTexts& self) { return self.texts.tokens(); })
      .def_prop_ro(
          "sentence_ptr", [](const HeldTexts& self) { return pointers(self.texts.sentence_ptr); },
          nb::rv_policy::automatic, "[documents + 1]: the sentences of each document.")
      .def_prop_ro(
          "token_ptr", [](const HeldTexts& self) { return pointers(self.texts.token_ptr); }, nb::rv_policy::automatic,
          "[sentences + 1]: the tokens of each sentence.")
      .def_prop_ro(
          "start",
          [](const HeldTexts& self) {
            return column(self.texts.chars, [](const Range& range) { return range.start; });
          },
          nb::rv_policy::automatic, "[tokens]: the first character of each token, in its document.")
      .def_prop_ro(
          "end",
          [](const HeldTexts& self) { return column(self.texts.chars, [](const Range& range) { return range.end; }); },
          nb::rv_policy::automatic, "[tokens]: one past the last character.")
      .def(
          "rows",
          [](const HeldTexts& self, const FeatureRows& features, int threads, std::size_t first,
             std::optional<std::size_t> last) {
            const std::size_t end = last.value_or(self.texts.sentences());
            if (first > end || end > self.texts.sentences())
              throw std::invalid_argument("[TokenizedTexts] there are " + std::to_string(self.texts.sentences()) +
                                          " sentences; " + std::to_string(first) + " to " + std::to_string(end) +
                                          " are not among them");
            const nb::gil_scoped_release release;
            return features.rows(self.texts.input(first, end), threads);
          },
          "features"_a, "threads"_a = 0, "first"_a = 0, "last"_a.none() = nb::none(),
          "The features of sentences first to last, of all without them; they must read words alone.");
}

}  // namespace spanloom::bindings
