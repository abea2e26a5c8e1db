#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace spanloom {

// Hildreth's method (Censor & Zenios 1997): the smallest change d of a vector such that a_i . d >= b_i for all i,
//
//   min 1/2 |d|^2 + upper * sum_i max(0, b_i - a_i . d),
//
// by its dual: d = sum_i alpha_i a_i with 0 <= alpha_i <= upper, one alpha at a time, over and over. gram[i, j] = a_i .
// a_j and b are all that it needs. With upper = inf every constraint must hold; if they contradict each other, it stops
// after max_sweeps. Otherwise it stops when no alpha moves a constraint by more than `tolerance`.
std::vector<double> hildreth(std::span<const double> gram, std::span<const double> b, double upper, double tolerance,
                             std::size_t max_sweeps);

// The same with a soft margin,
//
//   min 1/2 |d|^2 + upper * sum_i log(1 + exp(b_i - a_i . d)),
//
// where alpha_i = upper * sigmoid(b_i - a_i . d) at the optimum.
std::vector<double> soft_hildreth(std::span<const double> gram, std::span<const double> b, double upper,
                                  double tolerance, std::size_t max_sweeps);

// The same for a ranking: the smallest change after which each of the first `right` vectors scores at least 1 more than
// each of the others,
//
//   min 1/2 |d|^2 + upper * sum_{i < right <= j} max(0, 1 - (s_i + a_i . d) + (s_j + a_j . d)),
//
// from their scores s before it. There is an alpha for every pair; what is returned is their sum for each vector, so
// that d = sum_{i < right} beta_i a_i - sum_{j >= right} beta_j a_j. A pair costs as much as there are vectors.
std::vector<double> ranking_hildreth(std::span<const double> gram, std::span<const double> scores, std::size_t right,
                                     double upper, double tolerance, std::size_t max_sweeps);

}  // namespace spanloom
