#pragma once
#include "spanloom/inference/lattice_structure.hpp"

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
class SegmentStructure final : public LatticeStructure {
 public:
  SegmentStructure(std::size_t columns, std::shared_ptr<const Lattices> lattices)
      : LatticeStructure(columns, std::move(lattices)) {}

  std::size_t global_cells() const override { return columns_ * columns_; }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  std::unique_ptr<SegmentBeliefs> beliefs(std::span<const double> global) const override;
  using LatticeStructure::graph;
  std::shared_ptr<const Graph> graph(Unit unit, const std::uint8_t* mask) const override;
};

}  // namespace spanloom
