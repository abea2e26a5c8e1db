#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/inference/lattice_structure.hpp"

namespace spanloom {

// Entity trees (Finkel & Manning 2009): sets of candidate segments with columns, of which no two segments cross.
//
//   score(tree) = sum over mentions (i, j, y) of the scores[r, y] of all rows r that (i, j) reads (see SegmentLayout)
//               + sum over mentions of global[c * C + y], c the context in which the mention stands
//
// A context is what a mention sees of the mentions around it: 0 where there is none, next[c * C + y] right within a
// mention y that itself stands in c. Several columns on one segment stand within each other, the lowest outside. So
// every set has exactly one tree, and Z sums over sets.
//
// A mask may also say 2: this segment must be in the set, with this column.
//
// Words and mentions that have the same mention right above them are read from left to right; with contexts c and
// segments [i, j)
//
//   within(i, k, c)    siblings in c that cover [i, k), whatever follows them
//   mention(i, j, c)   the mention [i, j) whose inside is c: its score times what is in it, which are siblings, or one
//                      mention of the same segment with a higher column
//   child(i, j, c)     the sum over columns y of exp(global[c, y]) * mention(i, j, next[c, y])
//
// Nothing in a mention is longer than the longest segment L, and what stands at the top is one more pass over the
// sentence: O(n L^2) sums of as many numbers as there are contexts, and O(n L) numbers a context in memory.
class TreeStructure final : public LatticeStructure {
 public:
  // next: [contexts * columns]. Throws std::invalid_argument unless every context but 0 is entered, by one column only.
  TreeStructure(std::size_t columns, std::shared_ptr<const Lattices> lattices, std::vector<std::int32_t> next);

  std::size_t global_cells() const override { return next_.size(); }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  using LatticeStructure::graph;
  std::shared_ptr<const Graph> graph(Unit unit, const std::uint8_t* mask) const override;
  // A mention is started by the row that is its own.
  std::size_t first_start(Unit unit) const override {
    return static_cast<std::size_t>(lattices_->of(unit.number, unit.sites).span(0));
  }

  std::int32_t contexts() const { return static_cast<std::int32_t>(next_.size() / columns_); }
  std::int32_t next(std::int32_t context, std::int32_t column) const {
    return next_[static_cast<std::size_t>(context) * columns_ + static_cast<std::size_t>(column)];
  }
  // The column of the mention that a context is the inside of; -1 for 0.
  std::int32_t last(std::int32_t context) const { return last_[static_cast<std::size_t>(context)]; }
  // The contexts but 0, by their last column, the lowest first.
  std::span<const std::int32_t> by_last() const { return by_last_; }

 private:
  std::vector<std::int32_t> next_, last_, by_last_;
};

// What a mask leaves of the trees of one sentence.
//
// Where mention (p, q, y) must be, no other crosses it, and no sequence of siblings has a boundary within it unless
// they are all in it. Of the columns of its segment none is skipped that must be there.
class TreeLimits {
 public:
  // Without a mask everything is free.
  void set(const Lattice& lattice, const std::uint8_t* mask, std::int32_t columns);

  // Whether no siblings that begin at i (-1: all of the sentence) may have a boundary at k, nor a mention be [i, k).
  bool blocked(std::int32_t i, std::int32_t k) const {
    return any_ && (i < floor_[static_cast<std::size_t>(k)] || (i >= 0 && k > reach_[static_cast<std::size_t>(i)]));
  }
  // Whether token t may be one of the siblings that begin at i < t: not if it must be a mention.
  bool word(std::int32_t t) const { return !any_ || !single_[static_cast<std::size_t>(t)]; }
  bool out(std::int32_t segment, std::int32_t y) const { return mask_ != nullptr && value(segment, y) == 0; }
  bool must(std::int32_t segment) const { return any_ && lowest(segment, 0) < columns_; }
  // Whether y may be the outermost column of a segment, z > y stand right within it, y be the innermost one.
  bool begins(std::int32_t segment, std::int32_t y) const { return !any_ || lowest(segment, 0) >= y; }
  bool follows(std::int32_t segment, std::int32_t y, std::int32_t z) const {
    return !any_ || lowest(segment, y + 1) >= z;
  }
  bool closes(std::int32_t segment, std::int32_t y) const { return !any_ || lowest(segment, y + 1) == columns_; }
  bool any() const { return any_; }

 private:
  std::uint8_t value(std::int32_t segment, std::int32_t y) const {
    return mask_[static_cast<std::size_t>(segment) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(y)];
  }
  // The lowest column from y on that must be there, or the number of columns.
  std::int32_t lowest(std::int32_t segment, std::int32_t y) const {
    while (y < columns_ && value(segment, y) != 2) ++y;
    return y;
  }

  const std::uint8_t* mask_ = nullptr;
  std::int32_t columns_ = 0;
  bool any_ = false;                  // whether something must be
  std::vector<std::int32_t> floor_;   // [tokens + 1]: the last start of a mention that must go over this boundary
  std::vector<std::int32_t> reach_;   // [tokens + 1]: the first end of one that does
  std::vector<std::uint8_t> single_;  // [tokens]: the token itself must be a mention
};

}  // namespace spanloom
