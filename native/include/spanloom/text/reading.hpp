#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace spanloom::text {

// A mention of one part: a label and a half-open range of tokens.
struct Span {
  std::uint32_t label = 0;
  std::uint32_t start = 0, end = 0;
};

// How the site cells of a structure are read as mentions; one cell a site.
class Reading {
 public:
  // One label a token, mentions by their borders. labels[k]: the label of column k, or -1 outside; borders[k, l]
  // (row by row): whether a mention or what is outside ends between neighbours k and l. Throws std::invalid_argument if
  // the sizes do not fit.
  static Reading segments(std::vector<std::int32_t> labels, std::vector<std::uint8_t> borders);
  // One separator a gap, all mentions with one label, read as nested (Muis & Lu 2017): E without C closes every open
  // mention; E with C the one that was opened last, or if only one is open, it is closed and goes on as well; S opens
  // one. In the order in which they end.
  static Reading separators(std::uint32_t label);

  std::size_t columns() const { return columns_; }
  std::uint32_t labels() const;  // one more than the largest label

  // Appends the mentions of one sentence, given its cells in ascending order; tokens count from `shift`. Throws
  // std::invalid_argument unless there is one cell for each of the sites.
  void read(std::span<const std::int32_t> cells, std::uint32_t shift, std::vector<Span>& out) const;

 private:
  void read_segments(std::span<const std::int32_t> cells, std::uint32_t shift, std::vector<Span>& out) const;
  void read_separators(std::span<const std::int32_t> cells, std::uint32_t shift, std::vector<Span>& out) const;

  std::size_t columns_ = 0;
  std::vector<std::int32_t> labels_;   // of columns; of separators the only label
  std::vector<std::uint8_t> borders_;  // empty for separators
};

}  // namespace spanloom::text
