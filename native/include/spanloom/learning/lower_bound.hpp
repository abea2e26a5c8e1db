#pragma once
#include <span>
#include <vector>

namespace spanloom {

// A lower bound of a function f with f(v) >= f(w) + g(w) . (v - w) + mu/2 |v - w|^2 (mu-strongly convex; mu = 2 l2
// under a penalty l2 |w|^2), from points w_0 … w_P with w_{p+1} = w_p + s_p and gradients g_{p+1} = g_p + y_p.
//
// Each point gives a parabola below f. With d = v - w_P, S_j = w_P - w_j they are
//
//   a_j + b_j . d + mu/2 |d|^2,   a_j = f_j + g_j . S_j + mu/2 |S_j|^2,   b_j = g_j + mu S_j,
//
// and so is every mixture c of them, whose minimum is  sum_j c_j a_j - |sum_j c_j b_j|^2 / (2 mu). The c that makes it
// highest is found among the mixtures by coordinate steps; any c gives a bound. The last point alone gives the
// well-known f_P - |g_P|^2 / (2 mu), which is also the duality gap.
//
// values: f_0 … f_P. products[i][j]: of s_0, y_0, s_1, y_1 … with each other; to_gradient[i]: with g_P; square:
// |g_P|^2.
double lower_bound(std::span<const double> values, const std::vector<std::vector<double>>& products,
                   std::span<const double> to_gradient, double square, double mu);

}  // namespace spanloom
