#include "spanloom/learning/hildreth.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace spanloom {
namespace {

void check_gram(std::span<const double> gram, std::size_t m) {
  if (gram.size() != m * m) {
    throw std::invalid_argument("[hildreth] a Gram matrix of " + std::to_string(gram.size()) + " numbers for " +
                                std::to_string(m) + " constraints");
  }
}

// One alpha after the other, over and over: best(alpha_i, missing_i, norm) is the best alpha_i while the others stay.
template <class Best>
std::vector<double> sweep(std::span<const double> gram, std::span<const double> b, double tolerance,
                          std::size_t max_sweeps, const Best& best) {
  const std::size_t m = b.size();
  check_gram(gram, m);
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

std::vector<double> ranking_hildreth(std::span<const double> gram, std::span<const double> scores, std::size_t right,
                                     double upper, double tolerance, std::size_t max_sweeps) {
  const std::size_t m = scores.size();
  check_gram(gram, m);
  if (right > m) {
    throw std::invalid_argument("[hildreth] " + std::to_string(right) + " right ones of " + std::to_string(m));
  }
  std::vector<double> alpha(right * (m - right), 0.0), beta(m, 0.0);
  std::vector<double> now(scores.begin(), scores.end());  // now[i] = s_i + a_i . d
  for (std::size_t round = 0; round < max_sweeps; ++round) {
    double moved = 0;
    for (std::size_t i = 0; i < right; ++i) {
      for (std::size_t j = right; j < m; ++j) {
        const double norm = gram[i * m + i] + gram[j * m + j] - 2 * gram[i * m + j];
        if (norm <= 0) continue;
        double& mine = alpha[i * (m - right) + j - right];
        const double change = std::clamp(mine + (1 - now[i] + now[j]) / norm, 0.0, upper) - mine;
        if (change == 0) continue;
        mine += change;
        beta[i] += change;
        beta[j] += change;
        for (std::size_t k = 0; k < m; ++k) now[k] += change * (gram[i * m + k] - gram[j * m + k]);
        moved = std::max(moved, std::abs(change) * norm);
      }
    }
    if (moved <= tolerance) break;
  }
  return beta;
}

}  // namespace spanloom
