#pragma once
#include <cstdint>
#include <vector>

#include "spanloom/inference/structure.hpp"

namespace spanloom {

// The dense linear chain: one label per site, a score for every label at every site and for every pair of neighbours.
//
//   score(y) = sum_t scores[t, y_t] + sum_t global[y_{t-1} * L + y_t]
//
// A label sequence is legal if its first label may start, its last label may end, and every pair is allowed.
// O(n L^2). The kernel works with scaled probabilities instead of logarithms; a sentence whose scores span more than
// doubles can hold that way is given to the general engine, so that results are always the engine's.
class ChainStructure final : public Structure {
 public:
  // allowed: [L, L], from * L + to; start, end: [L]; nonzero means legal.
  ChainStructure(std::size_t labels, std::vector<std::uint8_t> allowed, std::vector<std::uint8_t> start,
                 std::vector<std::uint8_t> end);

  std::size_t columns() const override { return labels_; }
  std::size_t global_cells() const override { return labels_ * labels_; }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  using Structure::graph;
  std::shared_ptr<const Graph> graph(Unit unit) const override;

  bool allowed(std::size_t from, std::size_t to) const { return allowed_[from * labels_ + to] != 0; }
  bool may_start(std::size_t label) const { return start_[label] != 0; }
  bool may_end(std::size_t label) const { return end_[label] != 0; }

 private:
  std::size_t labels_;
  std::vector<std::uint8_t> allowed_;
  std::vector<std::uint8_t> start_;
  std::vector<std::uint8_t> end_;
};

}  // namespace spanloom
