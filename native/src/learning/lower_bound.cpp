#include "spanloom/learning/lower_bound.hpp"

#include <algorithm>
#include <cstddef>

namespace spanloom {
namespace {

constexpr int kSteps = 200;

}  // namespace

double lower_bound(std::span<const double> values, const std::vector<std::vector<double>>& products,
                   std::span<const double> to_gradient, double square, double mu) {
  const std::size_t pairs = values.size() - 1;
  const std::size_t points = values.size();
  // Sums over p >= j (and q >= k) of the products of s_p, y_p and u_p = y_p - mu s_p; b_j = g_P - sum of u_p.
  std::vector<double> a(points);
  std::vector<double> u_gradient(points, 0.0);
  std::vector<std::vector<double>> u(points, std::vector<double>(points, 0.0));
  for (std::size_t j = pairs; j-- > 0;) {
    u_gradient[j] = u_gradient[j + 1] + to_gradient[2 * j + 1] - mu * to_gradient[2 * j];
    for (std::size_t k = pairs; k-- > 0;) {
      const double own = products[2 * j + 1][2 * k + 1] - mu * products[2 * j + 1][2 * k] -
                         mu * products[2 * j][2 * k + 1] + mu * mu * products[2 * j][2 * k];
      u[j][k] = own + u[j + 1][k] + u[j][k + 1] - u[j + 1][k + 1];
    }
  }
  for (std::size_t j = 0; j < points; ++j) {
    double step_gradient = 0;  // S_j . g_P
    double step_change = 0;    // S_j . (g_P - g_j)
    double step_square = 0;    // |S_j|^2
    for (std::size_t p = j; p < pairs; ++p) {
      step_gradient += to_gradient[2 * p];
      for (std::size_t q = j; q < pairs; ++q) {
        step_change += products[2 * p][2 * q + 1];
        step_square += products[2 * p][2 * q];
      }
    }
    a[j] = values[j] + step_gradient - step_change + 0.5 * mu * step_square;
  }
  const auto product = [&](std::size_t j, std::size_t k) { return square - u_gradient[j] - u_gradient[k] + u[j][k]; };

  std::vector<double> c(points, 0.0);
  std::vector<double> slope(points);  // d bound / d c_j = a_j - (b_j . sum_k c_k b_k) / mu
  c[pairs] = 1;
  for (std::size_t j = 0; j < points; ++j) slope[j] = a[j] - product(j, pairs) / mu;
  double bound = a[pairs] - product(pairs, pairs) / (2 * mu);
  for (int step = 0; step < kSteps; ++step) {
    std::size_t up = 0;
    std::size_t down = points;
    for (std::size_t j = 0; j < points; ++j) {
      if (slope[j] > slope[up]) up = j;
      if (c[j] > 0 && (down == points || slope[j] < slope[down])) down = j;
    }
    const double gain = slope[up] - slope[down];
    const double curve = (product(up, up) - 2 * product(up, down) + product(down, down)) / mu;
    if (!(gain > 0) || !(curve > 0)) break;
    const double t = std::min(c[down], gain / curve);
    c[up] += t;
    c[down] -= t;
    bound += t * gain - 0.5 * t * t * curve;
    for (std::size_t j = 0; j < points; ++j) slope[j] -= t * (product(j, up) - product(j, down)) / mu;
  }
  return bound;
}

}  // namespace spanloom
