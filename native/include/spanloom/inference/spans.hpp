#pragma once
#include "spanloom/inference/lattice_structure.hpp"

namespace spanloom {

// Sets of segments: every candidate is in or out with every column, each decision for itself.
//
//   score(set) = sum over (i, j, y) in the set of the scores[r, y] of all rows r that (i, j) reads (see SegmentLayout)
//
// A mask may also say 2: this segment must be in the set, with this column.
// So log Z = sum of log(1 + exp(score)), and the probability of a segment is 1 / (1 + exp(-score)). Anything may
// overlap.
class SpanStructure final : public LatticeStructure {
 public:
  SpanStructure(std::size_t columns, std::shared_ptr<const Lattices> lattices)
      : LatticeStructure(columns, std::move(lattices)) {}

  std::size_t global_cells() const override { return 0; }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  using LatticeStructure::graph;
  std::shared_ptr<const Graph> graph(Unit unit, const std::uint8_t* mask) const override;
};

}  // namespace spanloom
