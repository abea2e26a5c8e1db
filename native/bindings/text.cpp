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
#include "spanloom/text/json_lines.hpp"
#include "spanloom/text/sentences.hpp"
#include "spanloom/text/tokenizer.hpp"
#include "spanloom/text/word_table.hpp"

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

// Documents whose text belongs to Python strings.
struct HeldTexts {
  nb::tuple strings;  // keeps the memory of the texts
  text::TokenizedTexts texts;
  std::vector<std::string> own;  // the texts themselves, where they were written here
};

struct Tagged {
  text::FoundMentions found;
  const HeldTexts* held;  // Python keeps it
};

std::string_view utf8(nb::handle text, const char* what, std::size_t number) {
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

// The pieces as bytes of Python; each is let go of as it is copied.
nb::list as_bytes(std::vector<std::string> pieces) {
  nb::list out;
  for (std::string& piece : pieces) {
    out.append(nb::bytes(piece.data(), piece.size()));
    piece = {};
  }
  return out;
}

nb::list write(const Tagged& tagged, const std::vector<std::string>& labels, nb::handle ids, nb::handle metas,
               bool whole, int threads) {
  const nb::object id_list = checked(PySequence_Fast(ids.ptr(), "ids must be a list"));
  const nb::object meta_list = checked(PySequence_Fast(metas.ptr(), "metas must be a list"));
  const auto size = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(id_list.ptr()));
  if (static_cast<std::size_t>(PySequence_Fast_GET_SIZE(meta_list.ptr())) != size)
    throw std::invalid_argument("[Tagged] as many metas as ids are needed");
  std::vector<text::LineExtras> extras(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto at = static_cast<Py_ssize_t>(i);
    extras[i] = {utf8(PySequence_Fast_GET_ITEM(id_list.ptr(), at), "id", i),
                 utf8(PySequence_Fast_GET_ITEM(meta_list.ptr(), at), "meta", i)};
  }
  std::vector<std::string> pieces;
  {
    const nb::gil_scoped_release release;
    pieces = text::json_lines(tagged.held->texts, tagged.found, labels, extras, whole, threads);
  }
  return as_bytes(std::move(pieces));
}

// One number of every range or mention, as an array.
template <class Item, class Number>
auto column(const std::vector<Item>& items, Number number) {
  std::vector<std::uint32_t> out(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) out[i] = number(items[i]);
  return give(std::move(out));
}

auto pointers(const std::vector<std::size_t>& ptr) { return give(std::vector<std::int64_t>(ptr.begin(), ptr.end())); }

// The character of each mention's first (or one past its last) token.
auto mention_chars(const Tagged& tagged, bool end) {
  const text::TokenizedTexts& texts = tagged.held->texts;
  std::vector<std::uint32_t> out(tagged.found.spans.size());
  for (std::size_t d = 0; d < texts.documents(); ++d) {
    for (std::size_t m = tagged.found.ptr[d]; m < tagged.found.ptr[d + 1]; ++m) {
      const Found& span = tagged.found.spans[m];
      out[m] = end ? texts.chars[texts.first_token(d) + static_cast<std::size_t>(span.end) - 1].end
                   : texts.chars[texts.first_token(d) + static_cast<std::size_t>(span.start)].start;
    }
  }
  return give(std::move(out));
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
          "unknown",
          [](const text::WordTable& self, const Input<std::uint64_t>& keys) { return give(self.unknown(span(keys))); },
          "keys"_a, "The places of keys that are not known, each key once.")
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
          [](const text::WordTable& table, const Input<std::int64_t>& ptr, const Input<std::uint64_t>& keys,
             const Input<std::uint64_t>& gaps, const Input<std::uint64_t>& begin, int threads) {
            HeldTexts held;
            text::WrittenWords words;
            {
              const nb::gil_scoped_release release;
              words = table.write({span(ptr), span(keys), span(gaps), span(begin)});
              held.own = std::move(words.texts);
              held.texts = text::with_tokens({held.own.begin(), held.own.end()},
                                             {words.ptr, words.start, words.end, words.first}, threads);
            }
            return nb::make_tuple(std::move(held), give(std::move(words.ptr)), give(std::move(words.place)));
          },
          "table"_a, "ptr"_a, "keys"_a, "gaps"_a, "begin"_a, "threads"_a = 0,
          nb::sig("def of_words(table: WordTable, ptr: numpy.typing.NDArray[numpy.int64], "
                  "keys: numpy.typing.NDArray[numpy.uint64], gaps: numpy.typing.NDArray[numpy.uint64], "
                  "begin: numpy.typing.NDArray[numpy.uint64], threads: int = 0) -> tuple[TokenizedTexts, "
                  "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
          "Texts made of words of a table, and (ptr, place) of their tokens, which are the words but white space: "
          "place "
          "is the number of the word within its text. gaps: whether a blank follows; begin: 1 where a sentence begins, "
          "0 "
          "where that is not known.")
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

  nb::class_<Tagged>(m, "TaggedTexts", "The mentions of documents, as arrays with one number a mention.")
      .def_prop_ro("size", [](const Tagged& self) { return self.found.spans.size(); })
      .def_prop_ro(
          "ptr", [](const Tagged& self) { return pointers(self.found.ptr); }, nb::rv_policy::automatic,
          "[documents + 1]: the mentions of each document.")
      .def_prop_ro(
          "label",
          [](const Tagged& self) {
            return column(self.found.spans, [](const Found& span) { return static_cast<std::uint32_t>(span.type); });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "start",
          [](const Tagged& self) {
            return column(self.found.spans, [](const Found& span) { return static_cast<std::uint32_t>(span.start); });
          },
          nb::rv_policy::automatic, "The first token, in the document.")
      .def_prop_ro(
          "end",
          [](const Tagged& self) {
            return column(self.found.spans, [](const Found& span) { return static_cast<std::uint32_t>(span.end); });
          },
          nb::rv_policy::automatic, "One past the last token.")
      .def_prop_ro(
          "start_char", [](const Tagged& self) { return mention_chars(self, false); }, nb::rv_policy::automatic,
          "The first character, in the document.")
      .def_prop_ro(
          "end_char", [](const Tagged& self) { return mention_chars(self, true); }, nb::rv_policy::automatic,
          "One past the last character.")
      .def_prop_ro(
          "prob",
          [](const Tagged& self) {
            std::vector<double> out;
            for (const Found& span : self.found.spans) out.push_back(span.prob);
            return give(std::move(out));
          },
          nb::rv_policy::automatic, "Their probabilities, if they were asked for.")
      .def(
          "surfaces",
          [](const Tagged& self) {
            text::Surfaces made = text::surfaces(self.held->texts, self.found);
            return std::make_tuple(give(std::move(made.bytes)), give(std::move(made.offsets)));
          },
          "Return (bytes in UTF-8, offsets): mention m is written as bytes[offsets[m]:offsets[m + 1]].")
      .def("json_pieces", &write, "labels"_a, "ids"_a, "metas"_a, nb::kw_only(), "whole"_a, "threads"_a = 0,
           nb::sig("def json_pieces(self, labels: collections.abc.Sequence[str], ids: collections.abc.Sequence[str], "
                   "metas: collections.abc.Sequence[str], *, whole: bool, threads: int = 0) -> list[bytes]"),
           "One line for each document; an empty id or meta (JSON) is left out. A long line has several pieces.");

  nb::class_<text::TextTagger>(m, "TextTagger", "Features, and what finds mentions by them: from texts to mentions.")
      .def(nb::init<const FeatureRows&, const MentionFinder&>(), "features"_a, "finder"_a, nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>())
      .def(
          "tag",
          [](const text::TextTagger& self, const HeldTexts& texts, int threads, bool probabilities, double above,
             bool exclusive, bool flat) {
            const nb::gil_scoped_release release;
            return Tagged{self.tag(texts.texts, {probabilities, above, exclusive, flat}, threads), &texts};
          },
          "texts"_a, "threads"_a = 0, nb::kw_only(), "probabilities"_a = false, "above"_a = 0.0, "exclusive"_a = false,
          "flat"_a = false, nb::keep_alive<0, 2>(),
          "As MentionFinder.find; every mention with at least the probability `above`, if that is above 0.");
}

}  // namespace spanloom::bindings
