#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace spanloom {

// A segment of a sentence: tokens [start, end).
struct Segment {
  std::int32_t start = 0;
  std::int32_t end = 0;
  bool operator==(const Segment&) const = default;
};

// The spans of one sentence that a dependency tree allows, by start, then end (Jie, Muis and Lu 2017, definition 1):
// single words, and [p0, pk + 1) for every chain p0 < p1 < … < pk of neighbours joined by arcs, whatever their
// direction.
//
// heads[t] is the head of token t counted from 1, or 0 for a root. Spans longer than `longest` are left out; with
// `single`, so are those of more than one arc. Any graph will do: several roots, crossing arcs, even cycles.
// Throws std::invalid_argument if a head is not a token of the sentence.
std::vector<Segment> valid_spans(std::span<const std::int32_t> heads, std::size_t longest, bool single);

// Which rows of features a sentence has. Every segment [i, j) reads the rows that its place gives it, and rows that
// segments share are scored once:
//
//   gap(j)        every segment that ends at gap j, which is before token j; only if `gaps`
//   inside(t)     every segment that covers t; only if `inside`
//   left(i, q)    the q-th shortest segment from i, counted from 0, and all that are longer
//   right(j, q)   the q-th shortest segment that ends before j, and all that are longer
//   span(i, j)    this segment alone
//
// What the k-th token from the left brings, 0 <= k < left, is seen by the segments from i that are longer than k, so it
// goes to the left row of the shortest of these; if only one is longer, to its span. The 0-th is the first token, which
// all segments from i see. With few candidates there are few rows, however long they are. The same holds from the
// right.
//
// Rows are numbered in this order, each kind by token, then q; spans by start, then end. The longest segment of a token
// has no left or right row, nor have those whose next shorter one has `left` (`right`) tokens already.
struct SegmentLayout {
  std::uint32_t left = 1;
  std::uint32_t right = 1;
  bool inside = false;
  bool gaps = false;
  bool operator==(const SegmentLayout&) const = default;
};

// What a segment shows: its first and last token, those inside, the k-th from the left or right, itself, the gap where
// it ends.
enum class Part : std::uint8_t { first, last, inside, left, right, span, gap };

// The candidate segments of one sentence. Single words are always among them, so that any set of disjoint segments can
// be completed to a path. It looks at memory that Lattices own.
struct Lattice {
  std::int32_t tokens = 0;
  SegmentLayout layout;
  const std::int64_t* start_ptr = nullptr;  // [tokens + 1]: segments from start_ptr[i] on begin at i
  const std::int32_t* ends = nullptr;       // by segment of the corpus
  const std::int64_t* end_ptr = nullptr;  // [tokens + 1]: by_end from end_ptr[t] on: the segments whose last token is t
  const std::int32_t* by_end = nullptr;   // segments of this sentence from 0, longest first
  const std::int32_t* starts = nullptr;   // by segment of the corpus
  const std::int32_t* left_row = nullptr;   // [tokens + 1]: row of left(i, 0); the next entry ends them
  const std::int32_t* right_row = nullptr;  // [tokens + 1]: row of right(t + 1, 0)

  std::int32_t segments() const { return static_cast<std::int32_t>(start_ptr[tokens] - start_ptr[0]); }
  std::int32_t first_segment(std::int32_t i) const { return static_cast<std::int32_t>(start_ptr[i] - start_ptr[0]); }
  std::int32_t end_of(std::int32_t segment) const { return ends[start_ptr[0] + segment]; }
  std::int32_t start_of(std::int32_t segment) const { return starts[start_ptr[0] + segment]; }
  std::int32_t longest_from(std::int32_t i) const { return ends[start_ptr[i + 1] - 1] - i; }
  // How many segments start at token i, or end with it.
  std::int32_t from(std::int32_t i) const { return static_cast<std::int32_t>(start_ptr[i + 1] - start_ptr[i]); }
  std::int32_t to(std::int32_t t) const { return static_cast<std::int32_t>(end_ptr[t + 1] - end_ptr[t]); }
  // The q-th shortest of them, from 0, and its length.
  std::int32_t nth_from(std::int32_t i, std::int32_t q) const { return first_segment(i) + q; }
  std::int32_t nth_to(std::int32_t t, std::int32_t q) const { return by_end[end_ptr[t + 1] - 1 - q]; }
  std::int32_t length_from(std::int32_t i, std::int32_t q) const { return ends[start_ptr[i] + q] - i; }
  std::int32_t length_to(std::int32_t t, std::int32_t q) const { return t + 1 - start_of(nth_to(t, q)); }

  std::int32_t gaps() const { return layout.gaps ? tokens + 1 : 0; }
  std::int32_t gap(std::int32_t g) const { return g; }
  std::int32_t inside(std::int32_t t) const { return gaps() + t; }
  std::int32_t span(std::int32_t segment) const { return right_row[tokens] + segment; }
  std::int32_t rows() const { return span(segments()); }
  // How many rows the segments from token i share, and those that end with it.
  std::int32_t left_rows(std::int32_t i) const { return left_row[i + 1] - left_row[i]; }
  std::int32_t right_rows(std::int32_t t) const { return right_row[t + 1] - right_row[t]; }

  // The row that holds what a part other than span brings at token i, or at the gap before it, or -1 if no segment sees
  // it; for left and right that is the index-th token from there, which for first and last is 0.
  std::int32_t row(Part part, std::int32_t index, std::int32_t i) const {
    switch (part) {
      case Part::gap:
        return gap(i);
      case Part::inside:
        return inside(i);
      case Part::first:
      case Part::left: {
        std::int32_t q = 0;
        while (q < from(i) && length_from(i, q) <= index) ++q;
        return q == from(i) ? -1 : q + 1 == from(i) ? span(nth_from(i, q)) : left_row[i] + q;
      }
      case Part::last:
      case Part::right: {
        std::int32_t q = 0;
        while (q < to(i) && length_to(i, q) <= index) ++q;
        return q == to(i) ? -1 : q + 1 == to(i) ? span(nth_to(i, q)) : right_row[i] + q;
      }
      default:
        return -1;
    }
  }

  // The number of [start, end), or -1 if it is no candidate.
  std::int32_t find(Segment segment) const;

  // Calls body(row) for every row of a segment, ascending.
  template <class Body>
  void each_row(std::int32_t segment, std::int32_t i, const Body& body) const {
    const std::int32_t j = end_of(segment);
    if (layout.gaps) body(gap(j));
    if (layout.inside) {
      for (std::int32_t t = i; t < j; ++t) body(inside(t));
    }
    const std::int32_t left = std::min(segment - first_segment(i) + 1, left_rows(i));
    for (std::int32_t q = 0; q < left; ++q) body(left_row[i] + q);
    if (right_rows(j - 1) > 0) {
      std::int32_t rank = 0;
      while (nth_to(j - 1, rank) != segment) ++rank;
      const std::int32_t right = std::min(rank + 1, right_rows(j - 1));
      for (std::int32_t q = 0; q < right; ++q) body(right_row[j - 1] + q);
    }
    body(span(segment));
  }
};

// The lattices of many sentences.
class Lattices {
 public:
  explicit Lattices(SegmentLayout layout = {}) : layout_(layout) {}

  // Appends a sentence with these segments, which must be by start, then end, and hold every single word.
  void add(std::size_t tokens, std::span<const Segment> segments);
  // Appends a sentence with all segments of at most `longest` tokens.
  void add_all(std::size_t tokens, std::size_t longest);

  std::size_t size() const { return token_ptr_.size() - 1; }
  std::size_t segments() const { return ends_.size(); }
  std::size_t tokens() const { return static_cast<std::size_t>(token_ptr_.back()); }
  std::size_t rows() const { return static_cast<std::size_t>(row_ptr_.back()); }
  std::int64_t row_base(std::size_t sentence) const { return row_ptr_[sentence]; }
  SegmentLayout layout() const { return layout_; }

  // The cells of the path through these segments, which are in reading order and carry a column > 0 each; the words
  // between them are segments of column 0. Cells of rows first, ascending; then the pair (x, y) of neighbours at
  // rows * width + x * width + y. Throws std::invalid_argument if a segment is no candidate or overlaps the one before.
  std::vector<std::int32_t> encode(std::size_t sentence, std::span<const std::int32_t> starts,
                                   std::span<const std::int32_t> ends, std::span<const std::int32_t> columns,
                                   std::int32_t width) const;

  // The cells of a set of segments, which may overlap: those of each, ascending.
  std::vector<std::int32_t> encode_set(std::size_t sentence, std::span<const std::int32_t> starts,
                                       std::span<const std::int32_t> ends, std::span<const std::int32_t> columns,
                                       std::int32_t width) const;

  // What encode_set of every sentence came from, without columns below `first`: start, end, column, start, end, column
  // … in ascending order. Other cells are skipped. The cells of sentence s are cells[ptr[s] .. ptr[s + 1]), its triples
  // found_ptr[s] .. found_ptr[s + 1]. Throws std::invalid_argument unless the pointers fit.
  std::vector<std::int32_t> decode_sets(std::span<const std::int32_t> cells, std::span<const std::int64_t> ptr,
                                        std::int32_t width, std::int32_t first,
                                        std::vector<std::int64_t>& found_ptr) const;

  // Throws std::out_of_range.
  Lattice operator[](std::size_t sentence) const;
  // Throws std::invalid_argument unless there is such a sentence and it has this many rows.
  Lattice of(std::size_t sentence, std::size_t rows) const;

 private:
  void finish(std::int32_t tokens);
  void decode(std::size_t sentence, std::span<const std::int32_t> cells, std::int32_t width, std::int32_t first,
              std::vector<std::int32_t>& found) const;

  SegmentLayout layout_;
  std::vector<std::int64_t> token_ptr_{0};  // [sentences + 1]
  std::vector<std::int64_t> row_ptr_{0};    // [sentences + 1]
  // Per-token arrays have tokens + 1 entries a sentence: sentence s begins at token_ptr_[s] + s.
  std::vector<std::int64_t> start_ptr_, end_ptr_;
  std::vector<std::int32_t> left_row_, right_row_;
  std::vector<std::int32_t> starts_, ends_, by_end_;  // by segment
};

}  // namespace spanloom
