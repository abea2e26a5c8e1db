#include "spanloom/inference/lattice.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

Array<std::int32_t> give_segments(const std::vector<Segment>& segments) {
  std::vector<std::int32_t> flat;
  flat.reserve(2 * segments.size());
  for (const Segment& one : segments) {
    flat.push_back(one.start);
    flat.push_back(one.end);
  }
  return give(std::move(flat));
}

}  // namespace

void bind_lattice(nb::module_& m) {
  m.def(
      "valid_spans",
      [](const Input<std::int32_t>& heads, std::size_t longest, bool single) {
        return give_segments(valid_spans(span(heads), longest, single));
      },
      "heads"_a, "longest"_a, nb::kw_only(), "single"_a, "Start, end, start, end … of the spans that a tree allows.");

  nb::class_<SegmentLayout>(m, "SegmentLayout", "Which rows of features segments read.")
      .def(
          "__init__",
          [](SegmentLayout* self, std::uint32_t left, std::uint32_t right, bool inside, bool gaps) {
            if (left < 1 || right < 1) {
              throw std::invalid_argument("a layout counts tokens from the left and right from 1, not from " +
                                          std::to_string(std::min(left, right)));
            }
            new (self) SegmentLayout{left, right, inside, gaps};
          },
          "left"_a = 1, "right"_a = 1, nb::kw_only(), "inside"_a = false, "gaps"_a = false,
          "Tokens that are told apart counted from the left, from the right; whether each token, and each gap, is by "
          "itself.")
      .def_ro("left", &SegmentLayout::left)
      .def_ro("right", &SegmentLayout::right)
      .def_ro("inside", &SegmentLayout::inside)
      .def_ro("gaps", &SegmentLayout::gaps)
      .def(
          "__eq__",
          [](const SegmentLayout& self, nb::handle other) {
            return nb::isinstance<SegmentLayout>(other) && self == nb::cast<const SegmentLayout&>(other);
          },
          "other"_a, nb::sig("def __eq__(self, other: object) -> bool"));

  nb::class_<Lattices>(m, "Lattices", "The candidate segments of sentences, and which rows of features each reads.")
      .def_static(
          "up_to",
          [](const Input<std::int64_t>& lengths, std::size_t longest, const SegmentLayout& layout) {
            Lattices all(layout);
            for (const std::int64_t n : span(lengths)) {
              if (n < 0) throw std::invalid_argument("a sentence has " + std::to_string(n) + " tokens");
              all.add_all(static_cast<std::size_t>(n), longest);
            }
            return all;
          },
          "lengths"_a, "longest"_a, "layout"_a, "All segments of at most `longest` tokens.")
      .def_static(
          "guided",
          [](const Input<std::int64_t>& lengths, const Input<std::int32_t>& heads, std::size_t longest,
             const SegmentLayout& layout, bool single) {
            Lattices all(layout);
            std::size_t at = 0;
            for (const std::int64_t n : span(lengths)) {
              if (n < 0 || static_cast<std::size_t>(n) > heads.size() - at) {
                throw std::invalid_argument(std::to_string(heads.size()) + " heads do not fit the sentences");
              }
              const auto tokens = static_cast<std::size_t>(n);
              all.add(tokens, valid_spans(span(heads).subspan(at, tokens), longest, single));
              at += tokens;
            }
            if (at != heads.size()) throw std::invalid_argument("there are heads after the last sentence");
            return all;
          },
          "lengths"_a, "heads"_a, "longest"_a, "layout"_a, nb::kw_only(), "single"_a,
          "The spans that the sentences' trees allow.")
      .def("__len__", &Lattices::size)
      .def_prop_ro("segments", &Lattices::segments, "Number of candidate segments of all sentences.")
      .def_prop_ro("tokens", &Lattices::tokens)
      .def_prop_ro("rows", &Lattices::rows)
      .def_prop_ro("layout", &Lattices::layout)
      .def(
          "rows_in", [](const Lattices& self, std::size_t sentence) { return self[sentence].rows(); }, "sentence"_a,
          "The number of rows of a sentence.")
      .def(
          "spans",
          [](const Lattices& self, std::size_t sentence) {
            const Lattice one = self[sentence];
            std::vector<Segment> segments;
            for (std::int32_t i = 0; i < one.tokens; ++i) {
              for (auto s = one.first_segment(i); s < one.first_segment(i + 1); ++s) {
                segments.push_back({i, one.end_of(s)});
              }
            }
            return give_segments(segments);
          },
          "sentence"_a, "Start, end, start, end … of a sentence's candidate segments.")
      .def(
          "rows_of",
          [](const Lattices& self, std::size_t sentence, std::int32_t start, std::int32_t end) {
            const Lattice one = self[sentence];
            const std::int32_t segment = one.find({start, end});
            if (segment < 0) throw std::invalid_argument("the segment is no candidate");
            std::vector<std::int32_t> rows;
            one.each_row(segment, start, [&](std::int32_t row) { rows.push_back(row); });
            return give(std::move(rows));
          },
          "sentence"_a, "start"_a, "end"_a, "The rows that a segment reads, from 0 within its sentence.")
      .def(
          "encode",
          [](const Lattices& self, std::size_t sentence, const Input<std::int32_t>& starts,
             const Input<std::int32_t>& ends, const Input<std::int32_t>& columns, std::int32_t width) {
            return give(self.encode(sentence, span(starts), span(ends), span(columns), width));
          },
          "sentence"_a, "starts"_a, "ends"_a, "columns"_a, "width"_a,
          "The cells of the path through these segments in reading order, single words of column 0 between them.")
      .def(
          "encode_set",
          [](const Lattices& self, std::size_t sentence, const Input<std::int32_t>& starts,
             const Input<std::int32_t>& ends, const Input<std::int32_t>& columns, std::int32_t width) {
            return give(self.encode_set(sentence, span(starts), span(ends), span(columns), width));
          },
          "sentence"_a, "starts"_a, "ends"_a, "columns"_a, "width"_a, "The cells of segments that may overlap.")
      .def(
          "decode_sets",
          [](const Lattices& self, const Input<std::int32_t>& cells, const Input<std::int64_t>& ptr, std::int32_t width,
             std::int32_t first) {
            std::vector<std::int64_t> found_ptr;
            std::vector<std::int32_t> found;
            {
              const nb::gil_scoped_release release;
              found = self.decode_sets(span(cells), span(ptr), width, first, found_ptr);
            }
            return std::make_tuple(give(std::move(found_ptr)), give(std::move(found)));
          },
          "cells"_a, "ptr"_a, "width"_a, "first"_a,
          "Where the segments of each sentence begin that its cells came from, and their start, end, column …; without "
          "columns below `first`.");
}

}  // namespace spanloom::bindings
