#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spanloom/base/sparse.hpp"

namespace spanloom {

// X X^T within each short sentence: how much each pair of its sites shares. With it |X^T change|^2 is known without
// walking over the features.
class SiteProducts {
 public:
  // A feature f of sites t and u adds weight[f] * value * value.
  SiteProducts(const SparseRows& rows, const std::vector<float>& weight);

  // Whether the sentence is short: at most 256 sites, and at least one.
  bool has(std::size_t g) const { return ptr_[g] < ptr_[g + 1]; }

  // |X^T change|^2 of a short sentence, for change [sites, stride] of which no row counts that is everywhere below
  // least.
  double square(std::size_t g, const std::vector<float>& change, std::size_t stride, float least);

 private:
  template <std::size_t Stride>
  double sum(std::size_t g, const std::vector<float>& change, std::size_t given, float least);

  std::vector<std::int64_t> ptr_{0};  // [sentences + 1]
  std::vector<float> products_;       // of each short sentence: sites * sites numbers
  std::vector<std::size_t> changed_;  // sites of the sentence at hand
};

}  // namespace spanloom
