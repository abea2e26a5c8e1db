#pragma once
#include "spanloom/inference/structure.hpp"

namespace spanloom {

// Mention separators as edges of a multigraph (Muis & Lu 2017). Sites are the n + 1 gaps around n tokens, columns the
// eight separators S + 2 E + 4 C: a mention starts after the gap, ends before it, continues over it.
//
//   score(y) = sum over gaps g of scores[g, y_g]
//
// Every token has a node O (in no mention) and a node I. X joins O to O, S joins O to I, E joins I to O; ES, C, CS, EC
// and ECS are parallel edges from I to I. The first gap leaves O (the outside), the last one enters it. O(n).
// The kernel works with scaled probabilities; a sentence whose scores span more than doubles can hold that way is given
// to the general engine.
class EdgeStructure final : public Structure {
 public:
  static constexpr std::size_t kSeparators = 8;

  std::size_t columns() const override { return kSeparators; }
  std::size_t global_cells() const override { return 0; }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  using Structure::graph;
  std::shared_ptr<const Graph> graph(Unit unit) const override;
};

}  // namespace spanloom
