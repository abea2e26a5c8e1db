#pragma once
#include "spanloom/inference/structure.hpp"

namespace spanloom {

// One column at every site, each chosen for itself:
//
//   p(y) = product over t of exp(scores[t, y_t]) / sum over y of exp(scores[t, y])
//
// Multinomial logistic regression. O(n L), no global cells.
class ChoiceStructure final : public Structure {
 public:
  explicit ChoiceStructure(std::size_t columns);

  std::size_t columns() const override { return columns_; }
  std::size_t global_cells() const override { return 0; }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  using Structure::graph;
  std::shared_ptr<const Graph> graph(Unit unit) const override;

 private:
  std::size_t columns_;
};

}  // namespace spanloom
