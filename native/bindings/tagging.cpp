#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "held_texts.hpp"
#include "spanloom/text/json_lines.hpp"
#include "spanloom/text/text_tagger.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

struct Tagged {
  text::FoundMentions found;
  const HeldTexts* held;  // Python keeps it
};

// The pieces as bytes of Python; each is let go of as it is copied.
nb::list as_bytes(std::vector<std::string> pieces) {
  nb::list out;
  for (std::string& piece : pieces) {
    out.append(nb::bytes(piece.data(), piece.size()));
    std::string().swap(piece);  // `= {}` would assign no characters, and keep the memory
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

void bind_tagging(nb::module_& m) {
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
             bool exclusive, bool flat, bool flat_types, const Input<double>& thresholds) {
            const nb::gil_scoped_release release;
            const Wanted wanted{probabilities, above, exclusive, flat, flat_types, span(thresholds)};
            return Tagged{self.tag(texts.texts, wanted, threads), &texts};
          },
          "texts"_a, "threads"_a = 0, nb::kw_only(), "probabilities"_a = false, "above"_a = 0.0, "exclusive"_a = false,
          "flat"_a = false, "flat_types"_a = false, "thresholds"_a, nb::keep_alive<0, 2>(), "As MentionFinder.find.");
}

}  // namespace spanloom::bindings
