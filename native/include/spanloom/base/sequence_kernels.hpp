#pragma once
#include <cstddef>

#include "spanloom/base/kernels.hpp"

// Whole sentences at a time: the sums over all paths of a chain and of EDGE, in both directions at once, as each step
// waits for the one before. Sums are scaled; nothing waits for a division or a logarithm. What is exactly 0 stays 0.

namespace spanloom::kernels {

// tops[t] = the largest score of row t; out[t, y] = exp(scores[t, y] + padding[y] - tops[t]), where padding is 0 for
// columns and -inf for what follows them. Rows whose top is not finite hold anything.
void exp_rows(const double* scores, const double* padding, std::size_t sites, std::size_t stride, double* out,
              double* tops);

struct ChainRows {
  const double* exps;             // [sites, stride]
  const double *start, *end;      // [stride]
  const double *matrix, *turned;  // [labels, stride]: potentials of pairs, from * stride + to, and their transpose
  std::size_t sites, labels, stride;
};
// What every row must be above, the last row of limits for all that follow; `to` counts from the end.
struct ChainLimits {
  const double *from, *to;  // [rows, stride]
  std::size_t from_rows, to_rows;
};
// from[0] = start * exps[0], from[t] = (from[t - 1] matrix) * exps[t] / sums[t - 1], where sums[t] is the sum of
// from[t]; to[last] = end, to[t - 1] = (exps[t] * to[t]) turned / sum of to[t]. Returns whether all are above their
// limits.
bool chain_sums(const ChainRows& rows, const ChainLimits& limits, double* from, double* sums, double* to);

// out[t] = from[t] * to[t], divided by its sum, and to[t] = exps[t] * to[t] for t > 0, such that the probability of
// a pair of neighbours is from[t - 1, x] * matrix[x, y] * to[t, y]. Returns whether all sums that were divided by are
// above a limit.
bool chain_marginals(const ChainRows& rows, double limit, const double* from, const double* sums, double* to,
                     double* out);

// EDGE: a gap has the separators X, S, E, and five that lead from I to I. exps: [sites, kEdgeColumns], 0 where a
// separator cannot stand.
inline constexpr std::size_t kEdgeColumns = 8;

// inside[g] = the sum of the five; from[g] = sums of the paths that are in O, in I, after gap g; to[g] = those of the
// paths from there to the end. Returns the logarithm of the scale of the last from[g].
double edge_sums(const double* exps, std::size_t sites, double* inside, double* from, double* to);

struct EdgeSums {
  const double *exps, *inside, *from, *to;
};
// out[g, k] = the probability of separator k at gap g. Returns as chain_marginals does.
bool edge_marginals(const EdgeSums& sums, std::size_t sites, double limit, double* out);

}  // namespace spanloom::kernels
