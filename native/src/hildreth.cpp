#include "spanloom/hildreth.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace spanloom {

std::vector<double> hildreth(std::span<const double> gram, std::span<const double> b, double upper, double tolerance,
                             std::size_t max_sweeps) {
  const std::size_t m = b.size();
  if (gram.size() != m * m) {
    throw std::invalid_argument("[hildreth] a Gram matrix of " + std::to_string(gram.size()) + " numbers for " +
                                std::to_string(m) + " constraints");
  }
  std::vector<double> alpha(m, 0.0);
  std::vector<double> missing(b.begin(), b.end());  // missing[i] = b_i - a_i . d
  for (std::size_t sweep = 0; sweep < max_sweeps; ++sweep) {
    double moved = 0;
    for (std::size_t i = 0; i < m; ++i) {
      const double norm = gram[i * m + i];
      if (norm <= 0) continue;
      const double next = std::clamp(alpha[i] + missing[i] / norm, 0.0, upper);
      const double change = next - alpha[i];
      if (change == 0) continue;
      alpha[i] = next;
      for (std::size_t j = 0; j < m; ++j) missing[j] -= change * gram[i * m + j];
      moved = std::max(moved, std::abs(change) * norm);
    }
    if (moved <= tolerance) break;
  }
  return alpha;
}

}  // namespace spanloom
