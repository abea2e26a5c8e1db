#include "spanloom/learning/hildreth.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace spanloom {
namespace {

// One alpha after the other, over and over: best(alpha_i, missing_i, norm) is the best alpha_i while the others stay.
template <class Best>
std::vector<double> sweep(std::span<const double> gram, std::span<const double> b, double tolerance,
                          std::size_t max_sweeps, const Best& best) {
  const std::size_t m = b.size();
  if (gram.size() != m * m) {
    throw std::invalid_argument("[hildreth] a Gram matrix of " + std::to_string(gram.size()) + " numbers for " +
                                std::to_string(m) + " constraints");
  }
  std::vector<double> alpha(m, 0.0);
  std::vector<double> missing(b.begin(), b.end());  // missing[i] = b_i - a_i . d
  for (std::size_t round = 0; round < max_sweeps; ++round) {
    double moved = 0;
    for (std::size_t i = 0; i < m; ++i) {
      const double norm = gram[i * m + i];
      if (norm <= 0) continue;
      const double change = best(alpha[i], missing[i], norm) - alpha[i];
      if (change == 0) continue;
      alpha[i] += change;
      for (std::size_t j = 0; j < m; ++j) missing[j] -= change * gram[i * m + j];
      moved = std::max(moved, std::abs(change) * norm);
    }
    if (moved <= tolerance) break;
  }
  return alpha;
}

}  // namespace

std::vector<double> hildreth(std::span<const double> gram, std::span<const double> b, double upper, double tolerance,
                             std::size_t max_sweeps) {
  return sweep(gram, b, tolerance, max_sweeps, [&](double alpha, double missing, double norm) {
    return std::clamp(alpha + missing / norm, 0.0, upper);
  });
}

std::vector<double> soft_hildreth(std::span<const double> gram, std::span<const double> b, double upper,
                                  double tolerance, std::size_t max_sweeps) {
  // alpha = upper * sigmoid(missing - norm * (alpha - alpha_now)): the left side rises with alpha, the right side
  // falls.
  return sweep(gram, b, tolerance, max_sweeps, [&](double now, double missing, double norm) {
    double low = 0, high = upper;
    for (int step = 0; step < 60 && high - low > 1e-3 * tolerance / norm; ++step) {
      const double alpha = (low + high) / 2;
      if (alpha < upper / (1 + std::exp(norm * (alpha - now) - missing)))
        low = alpha;
      else
        high = alpha;
    }
    return (low + high) / 2;
  });
}

}  // namespace spanloom
