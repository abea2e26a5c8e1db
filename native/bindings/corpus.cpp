#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "spanloom/text/strings.hpp"
#include "spanloom/text/tagged_terms.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

// The characters of a string of ASCII; nothing for other strings.
std::optional<std::string_view> ascii(nb::handle text) {
  if (!PyUnicode_Check(text.ptr())) throw nb::type_error("[join_tagged_terms] markup and tagged texts must be str");
  if (!PyUnicode_IS_ASCII(text.ptr())) return std::nullopt;
  return std::string_view(static_cast<const char*>(PyUnicode_DATA(text.ptr())),
                          static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr())));
}

nb::object checked(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

nb::object string(std::string_view text) {
  return checked(PyUnicode_DecodeASCII(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
}

nb::list list_of(std::size_t size) {
  return nb::steal<nb::list>(checked(PyList_New(static_cast<Py_ssize_t>(size))).release());
}

// A tuple that holds nothing which could be part of a cycle, so that the search for cycles need not see it.
nb::object leaf(nb::object first, nb::object second = {}) {
  nb::object made = checked(PyTuple_New(second.is_valid() ? 2 : 1));
  PyTuple_SET_ITEM(made.ptr(), 0, first.release().ptr());
  if (second.is_valid()) PyTuple_SET_ITEM(made.ptr(), 1, second.release().ptr());
  PyObject_GC_UnTrack(made.ptr());
  return made;
}

void set(const nb::list& list, std::size_t i, nb::object item) {
  PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), item.release().ptr());
}

// Distinct strings as Python objects, each made once.
class Strings {
 public:
  nb::object operator()(std::string_view text) {
    const std::uint32_t id = pool_.insert(text);
    if (id == objects_.size()) objects_.push_back(string(text));
    return objects_[id];
  }

 private:
  StringPool pool_;
  std::vector<nb::object> objects_;
};

// Half-open ranges as Python tuples. Short ones near the start, which are nearly all, are made once and shared: that is
// most of the memory of a corpus, and of the time to make it.
class Ranges {
 public:
  nb::object operator()(std::uint32_t start, std::uint32_t end) {
    if (start >= kStarts || end - start >= kLengths) return make(start, end);
    nb::object& shared = shared_[start * kLengths + (end - start)];
    if (!shared.is_valid()) shared = make(start, end);
    return shared;
  }

 private:
  static nb::object make(std::uint32_t start, std::uint32_t end) {
    return leaf(checked(PyLong_FromUnsignedLong(start)), checked(PyLong_FromUnsignedLong(end)));
  }

  static constexpr std::size_t kStarts = 512, kLengths = 32;
  std::vector<nb::object> shared_ = std::vector<nb::object>(kStarts * kLengths);
};

class Reader {
 public:
  Reader(const nb::callable& label, bool inner) : label_(label), inner_(inner) {}

  nb::object article(nb::handle markup, nb::handle tagged) {
    const std::optional<std::string_view> own = ascii(markup), words = ascii(tagged);
    if (!own || !words) return nb::none();
    const auto label_of = [this](std::string_view sem) { return number(sem); };
    const std::optional<TaggedTerms> found = join_tagged_terms(*own, *words, label_of, inner_);
    if (!found) return nb::none();
    const nb::list sentences = list_of(found->sentences.size());
    for (std::size_t k = 0; k < found->sentences.size(); ++k) set(sentences, k, sentence(*found, found->sentences[k]));
    return sentences;
  }

 private:
  // The number of a class among the wanted ones; -1 if its label is empty.
  int number(std::string_view sem) {
    const std::uint32_t id = classes_.insert(sem);
    if (id == labels_.size()) labels_.push_back(label_(string(sem)));
    const int wanted = PyObject_IsTrue(labels_[id].ptr());
    if (wanted < 0) throw nb::python_error();
    return wanted == 1 ? static_cast<int>(id) : -1;
  }

  nb::object sentence(const TaggedTerms& found, const TaggedTerms::Sentence& own) {
    const std::string_view text = std::string_view(found.text).substr(own.text_begin, own.text_end - own.text_begin);
    const std::size_t n = own.token_end - own.token_begin;
    const nb::list tokens = list_of(n), spans = list_of(n), tags = list_of(n);
    for (std::size_t i = 0; i < n; ++i) {
      const TaggedTerms::Token& token = found.tokens[own.token_begin + i];
      set(tokens, i, strings_(text.substr(token.start, token.end - token.start)));
      set(spans, i, ranges_(token.start, token.end));
      set(tags, i, strings_(found.tags[token.word]));
    }
    const nb::list terms = list_of(own.term_end - own.term_begin);
    for (std::size_t i = own.term_begin; i < own.term_end; ++i) {
      const TaggedTerms::Term& term = found.terms[i];
      nb::dict attributes;
      const bool plain = term.lex.find('&') == std::string_view::npos;
      put(attributes, lex_, string(plain ? term.lex : *without_entities(term.lex)));
      put(attributes, sem_, strings_(term.sem));
      nb::object parts = leaf(ranges_(term.first, term.last));
      set(terms, i - own.term_begin, nb::make_tuple(labels_[static_cast<std::size_t>(term.label)], parts, attributes));
    }
    return nb::make_tuple(string(text), tokens, spans, tags, terms);
  }

  static void put(const nb::dict& dict, const nb::object& key, const nb::object& value) {
    if (PyDict_SetItem(dict.ptr(), key.ptr(), value.ptr()) != 0) throw nb::python_error();
  }

  nb::callable label_;
  bool inner_;
  nb::object lex_ = string("lex"), sem_ = string("sem");
  StringPool classes_;
  std::vector<nb::object> labels_;  // labels_[i]: the label of class i; empty if it is not wanted
  Strings strings_;
  Ranges ranges_;
};

}  // namespace

void bind_corpus(nb::module_& m) {
  m.def(
      "join_tagged_terms",
      [](const nb::list& markup, const nb::list& tagged, const nb::callable& label, bool inner) {
        if (nb::len(markup) != nb::len(tagged))
          throw std::invalid_argument("[join_tagged_terms] " + std::to_string(nb::len(markup)) + " articles but " +
                                      std::to_string(nb::len(tagged)) + " tagged texts");
        Reader reader(label, inner);
        nb::list articles;
        for (std::size_t k = 0; k < nb::len(markup); ++k) articles.append(reader.article(markup[k], tagged[k]));
        return articles;
      },
      "markup"_a, "tagged"_a, "label"_a, nb::kw_only(), "inner"_a,
      nb::sig("def join_tagged_terms(markup: list[str], tagged: list[str], label: collections.abc.Callable[[str], "
              "str], *, inner: bool) "
              "-> list[list[tuple[str, list[str], list[tuple[int, int]], list[str], "
              "list[tuple[str, tuple[tuple[int, int], ...], dict[str, str]]]]] | None]"),
      "Return for every article its sentences: text, tokens, their ranges, their tags, and terms as (label, parts, "
      "attributes); None for an article that is out of the ordinary.");
}

}  // namespace spanloom::bindings
