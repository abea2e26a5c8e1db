#include "spanloom/inference/lattice.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace spanloom {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("[Lattices] " + what); }

}  // namespace

std::vector<Segment> valid_spans(std::span<const std::int32_t> heads, std::size_t longest, bool single) {
  const auto n = static_cast<std::int32_t>(heads.size());
  const auto neighbour = [&](std::int32_t t) { return heads[t] > 0 && heads[t] - 1 != t; };
  // lower[lower_ptr[j] .. lower_ptr[j + 1]): neighbours i < j
  std::vector<std::int32_t> lower_ptr(heads.size() + 2, 0);
  for (std::int32_t t = 0; t < n; ++t) {
    const std::int32_t h = heads[t];
    if (h < 0 || h > n) {
      throw std::invalid_argument("[valid_spans] token " + std::to_string(t) + " has the head " + std::to_string(h) +
                                  "; heads are 1 .. " + std::to_string(n) + ", or 0 for a root");
    }
    if (neighbour(t)) ++lower_ptr[std::max(t, h - 1) + 2];
  }
  std::partial_sum(lower_ptr.begin(), lower_ptr.end(), lower_ptr.begin());
  std::vector<std::int32_t> lower(static_cast<std::size_t>(lower_ptr.back()));
  for (std::int32_t t = 0; t < n; ++t) {
    const std::int32_t h = heads[t];
    if (neighbour(t)) lower[lower_ptr[std::max(t, h - 1) + 1]++] = std::min(t, h - 1);
  }
  const auto limit = static_cast<std::int32_t>(std::min<std::size_t>(longest, heads.size()));
  if (limit == 0) return {};
  // starts[ptr[j] .. ptr[j + 1]): the starts of the spans whose last token is j. A chain that ends in j came from a
  // neighbour before it.
  std::vector<std::int32_t> starts, own;
  std::vector<std::size_t> ptr{0}, count(heads.size() + 1, 0);
  for (std::int32_t j = 0; j < n; ++j) {
    own.assign(1, j);
    for (std::int32_t k = lower_ptr[j]; k < lower_ptr[j + 1]; ++k) {
      const std::int32_t i = lower[k];
      if (single) {
        own.push_back(i);
      } else {
        own.insert(own.end(), starts.begin() + static_cast<std::ptrdiff_t>(ptr[i]),
                   starts.begin() + static_cast<std::ptrdiff_t>(ptr[i + 1]));
      }
    }
    std::erase_if(own, [&](std::int32_t i) { return j - i + 1 > limit; });
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (const std::int32_t i : own) ++count[i + 1];
    starts.insert(starts.end(), own.begin(), own.end());
    ptr.push_back(starts.size());
  }
  std::partial_sum(count.begin(), count.end(), count.begin());
  std::vector<Segment> spans(starts.size());
  for (std::int32_t j = 0; j < n; ++j) {
    for (std::size_t k = ptr[j]; k < ptr[j + 1]; ++k) spans[count[starts[k]]++] = {starts[k], j + 1};
  }
  return spans;
}

std::int32_t Lattice::find(Segment segment) const {
  if (segment.start < 0 || segment.start >= tokens) return -1;
  const std::int32_t* begin = ends + start_ptr[segment.start];
  const std::int32_t* end = ends + start_ptr[segment.start + 1];
  const std::int32_t* at = std::lower_bound(begin, end, segment.end);
  return at != end && *at == segment.end ? static_cast<std::int32_t>(at - ends - start_ptr[0]) : -1;
}

void Lattices::add(std::size_t tokens, std::span<const Segment> segments) {
  const auto n = static_cast<std::int32_t>(tokens);
  std::size_t at = 0;
  start_ptr_.push_back(static_cast<std::int64_t>(ends_.size()));
  for (std::int32_t i = 0; i < n; ++i) {
    if (at == segments.size() || !(segments[at] == Segment{i, i + 1})) {
      fail("sentence " + std::to_string(size()) + " of " + std::to_string(tokens) + " tokens lacks the single word " +
           std::to_string(i) + ", or its segments are not sorted");
    }
    std::int32_t before = i;
    for (; at < segments.size() && segments[at].start == i; ++at) {
      if (segments[at].end <= before || segments[at].end > n) {
        fail("segment (" + std::to_string(i) + ", " + std::to_string(segments[at].end) + ") of sentence " +
             std::to_string(size()) + " is not in order or not within " + std::to_string(tokens) + " tokens");
      }
      before = segments[at].end;
      ends_.push_back(before);
    }
    start_ptr_.push_back(static_cast<std::int64_t>(ends_.size()));
  }
  if (at != segments.size()) fail("sentence " + std::to_string(size()) + " has segments after its last token");
  finish(n);
}

void Lattices::add_all(std::size_t tokens, std::size_t longest) {
  if (longest == 0) fail("segments need at least one token, but the longest may have 0");
  const auto n = static_cast<std::int32_t>(tokens);
  const auto limit = static_cast<std::int32_t>(std::min<std::size_t>(longest, tokens));
  start_ptr_.push_back(static_cast<std::int64_t>(ends_.size()));
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = i + 1; j <= std::min(n, i + limit); ++j) ends_.push_back(j);
    start_ptr_.push_back(static_cast<std::int64_t>(ends_.size()));
  }
  finish(n);
}

// The last sentence's start_ptr_ and ends_ are there; makes the rest from them.
void Lattices::finish(std::int32_t tokens) {
  const auto n = static_cast<std::size_t>(tokens);
  const std::size_t base = start_ptr_.size() - n - 1;
  const std::int64_t first_segment = start_ptr_[base];
  std::vector<std::int64_t> count(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::int64_t s = start_ptr_[base + i]; s < start_ptr_[base + i + 1]; ++s) {
      ++count[ends_[s]];
      starts_.push_back(static_cast<std::int32_t>(i));
    }
  }
  std::int64_t place = first_segment;
  for (std::size_t t = 0; t <= n; ++t) end_ptr_.push_back(place += count[t]);
  by_end_.resize(ends_.size());
  std::vector<std::int64_t> next(end_ptr_.begin() + base, end_ptr_.end());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::int64_t s = start_ptr_[base + i]; s < start_ptr_[base + i + 1]; ++s) {
      by_end_[next[ends_[s] - 1]++] = static_cast<std::int32_t>(s - first_segment);
    }
  }
  // How many rows there are for m segments of these lengths, see SegmentLayout.
  const auto shared = [](std::uint32_t indexed, std::int64_t m, const auto& length) {
    std::int64_t q = 0;
    while (q + 1 < m && (q == 0 || length(q - 1) < static_cast<std::int32_t>(indexed))) ++q;
    return q;
  };
  std::int64_t row = (layout_.gaps ? tokens + 1 : 0) + (layout_.inside ? tokens : 0);
  for (std::size_t i = 0; i < n; ++i) {
    left_row_.push_back(static_cast<std::int32_t>(row));
    const std::int64_t from = start_ptr_[base + i];
    row += shared(layout_.left, start_ptr_[base + i + 1] - from,
                  [&](std::int64_t q) { return ends_[from + q] - static_cast<std::int32_t>(i); });
  }
  left_row_.push_back(static_cast<std::int32_t>(row));
  for (std::size_t t = 0; t < n; ++t) {
    right_row_.push_back(static_cast<std::int32_t>(row));
    const std::int64_t to = end_ptr_[base + t + 1];
    row += shared(layout_.right, to - end_ptr_[base + t], [&](std::int64_t q) {
      return static_cast<std::int32_t>(t) + 1 - starts_[first_segment + by_end_[to - 1 - q]];
    });
  }
  right_row_.push_back(static_cast<std::int32_t>(row));
  row += static_cast<std::int64_t>(ends_.size()) - first_segment;
  if (row > std::numeric_limits<std::int32_t>::max()) {
    fail("a sentence of " + std::to_string(tokens) + " tokens has more segments than 32 bits can number");
  }
  row_ptr_.push_back(row_ptr_.back() + row);
  token_ptr_.push_back(token_ptr_.back() + tokens);
}

std::vector<std::int32_t> Lattices::encode(std::size_t sentence, std::span<const std::int32_t> starts,
                                           std::span<const std::int32_t> ends, std::span<const std::int32_t> columns,
                                           std::int32_t width) const {
  const Lattice lattice = (*this)[sentence];
  if (starts.size() != ends.size() || starts.size() != columns.size())
    fail("starts, ends and columns differ in number");
  std::vector<std::int32_t> cells, pairs;
  std::int32_t at = 0, before = -1;
  const auto visit = [&](std::int32_t start, std::int32_t end, std::int32_t column) {
    const std::int32_t segment = lattice.find({start, end});
    if (segment < 0 || start < at || column < 0 || column >= width) {
      fail("segment (" + std::to_string(start) + ", " + std::to_string(end) + ") with column " +
           std::to_string(column) + " is no candidate of sentence " + std::to_string(sentence) +
           ", or overlaps the one before it");
    }
    lattice.each_row(segment, start, [&](std::int32_t row) { cells.push_back(row * width + column); });
    if (before >= 0) pairs.push_back((lattice.rows() + before) * width + column);
    before = column;
    at = end;
  };
  for (std::size_t m = 0; m < starts.size(); ++m) {
    while (at < starts[m]) visit(at, at + 1, 0);
    visit(starts[m], ends[m], columns[m]);
  }
  while (at < lattice.tokens) visit(at, at + 1, 0);
  std::sort(cells.begin(), cells.end());
  cells.insert(cells.end(), pairs.begin(), pairs.end());
  return cells;
}

std::vector<std::int32_t> Lattices::encode_set(std::size_t sentence, std::span<const std::int32_t> starts,
                                               std::span<const std::int32_t> ends,
                                               std::span<const std::int32_t> columns, std::int32_t width) const {
  const Lattice lattice = (*this)[sentence];
  if (starts.size() != ends.size() || starts.size() != columns.size())
    fail("starts, ends and columns differ in number");
  std::vector<std::int32_t> cells;
  for (std::size_t m = 0; m < starts.size(); ++m) {
    const std::int32_t segment = lattice.find({starts[m], ends[m]});
    if (segment < 0 || columns[m] < 0 || columns[m] >= width) {
      fail("segment (" + std::to_string(starts[m]) + ", " + std::to_string(ends[m]) + ") with column " +
           std::to_string(columns[m]) + " is no candidate of sentence " + std::to_string(sentence));
    }
    lattice.each_row(segment, starts[m], [&](std::int32_t row) { cells.push_back(row * width + columns[m]); });
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

std::vector<std::int32_t> Lattices::decode_sets(std::span<const std::int32_t> cells, std::span<const std::int64_t> ptr,
                                                std::int32_t width, std::int32_t first,
                                                std::vector<std::int64_t>& found_ptr) const {
  if (ptr.size() != size() + 1 || ptr.front() != 0 || ptr.back() != static_cast<std::int64_t>(cells.size()) ||
      !std::is_sorted(ptr.begin(), ptr.end())) {
    fail(std::to_string(ptr.size()) + " pointers to " + std::to_string(cells.size()) + " cells do not fit " +
         std::to_string(size()) + " sentences");
  }
  std::vector<std::int32_t> found;
  found_ptr.assign(1, 0);
  for (std::size_t s = 0; s < size(); ++s) {
    const auto from = static_cast<std::size_t>(ptr[s]);
    decode(s, cells.subspan(from, static_cast<std::size_t>(ptr[s + 1]) - from), width, first, found);
    found_ptr.push_back(static_cast<std::int64_t>(found.size() / 3));
  }
  return found;
}

void Lattices::decode(std::size_t sentence, std::span<const std::int32_t> cells, std::int32_t width, std::int32_t first,
                      std::vector<std::int32_t>& found) const {
  const Lattice lattice = (*this)[sentence];
  if (width < 1) fail("there must be a column");
  std::int32_t i = 0;
  for (const std::int32_t cell : cells) {
    const std::int32_t segment = cell / width - lattice.span(0);
    if (segment < 0 || segment >= lattice.segments() || cell % width < first) continue;
    while (segment >= lattice.first_segment(i + 1)) ++i;
    found.insert(found.end(), {i, lattice.end_of(segment), cell % width});
  }
}

Lattice Lattices::of(std::size_t sentence, std::size_t rows) const {
  if (sentence >= size()) fail("sentence " + std::to_string(sentence) + " of " + std::to_string(size()));
  const Lattice one = (*this)[sentence];
  if (static_cast<std::size_t>(one.rows()) != rows) {
    fail("sentence " + std::to_string(sentence) + " has " + std::to_string(rows) +
         " rows of features, but its segments read " + std::to_string(one.rows()));
  }
  return one;
}

Lattice Lattices::operator[](std::size_t sentence) const {
  if (sentence >= size()) {
    throw std::out_of_range("[Lattices] sentence " + std::to_string(sentence) + " of " + std::to_string(size()));
  }
  const auto base = static_cast<std::size_t>(token_ptr_[sentence]) + sentence;
  Lattice one;
  one.tokens = static_cast<std::int32_t>(token_ptr_[sentence + 1] - token_ptr_[sentence]);
  one.layout = layout_;
  one.start_ptr = &start_ptr_[base];
  one.starts = starts_.data();
  one.ends = ends_.data();
  one.end_ptr = &end_ptr_[base];
  one.by_end = by_end_.data();
  one.left_row = &left_row_[base];
  one.right_row = &right_row_[base];
  return one;
}

}  // namespace spanloom
