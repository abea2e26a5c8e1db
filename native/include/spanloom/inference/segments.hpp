#pragma once
#include <memory>

#include "spanloom/inference/lattice.hpp"
#include "spanloom/inference/structure.hpp"

namespace spanloom {

// Segmentations: a sentence is cut into candidate segments, each with a column; column 0 is for single words only.
//
//   score(segments) = sum over segments (i, j, y) of the scores[r, y] of all rows r that (i, j) reads (see
//   SegmentLayout)
//                   + sum over neighbours of global[x * C + y]
//
// Nodes are a boundary with the column of the segment that ends there. As pairs of columns do not see the segments,
// pairs are summed once per boundary: O(n C^2 + segments C) instead of O(segments C^2). The kernel works with
// probabilities that are scaled per boundary; pairs whose scores span too much for it go to the general engine.
class SegmentStructure final : public Structure {
 public:
  // Sentence `number` of a Unit is the one of this number in `lattices`.
  SegmentStructure(std::size_t columns, std::shared_ptr<const Lattices> lattices);

  std::size_t columns() const override { return columns_; }
  std::size_t global_cells() const override { return columns_ * columns_; }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  std::shared_ptr<const Graph> graph(Unit unit) const override { return graph(unit, nullptr); }
  std::shared_ptr<const Graph> graph(Unit unit, const std::uint8_t* mask) const override;
  // Masks speak of candidate segments, since the cells of a segment are shared with others.
  std::size_t choices(Unit unit) const override;

  const Lattices& lattices() const { return *lattices_; }

 private:
  std::size_t columns_;
  std::shared_ptr<const Lattices> lattices_;
};

}  // namespace spanloom
