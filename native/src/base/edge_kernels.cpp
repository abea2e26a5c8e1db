#include <cmath>

#include "spanloom/base/sequence_kernels.hpp"
#include "vectors.hpp"

namespace spanloom::kernels {
namespace {

constexpr std::size_t kX = 0, kS = 1, kE = 2, kFirstInside = 3;

// The sums of paths that are in O and in I, divided when they leave a range, which is seldom.
struct Paths {
  static constexpr double kLow = 1e-30, kHigh = 1e30;
  double o, i;
  double log_scale = 0;

  SPANLOOM_INLINE void step(double into_o, double into_i) {
    o = into_o;
    i = into_i;
    const double sum = o + i;
    if (!(sum > kLow && sum < kHigh)) [[unlikely]] {
      o /= sum;
      i /= sum;
      log_scale += std::log(sum);
    }
  }
};

template <class W>
SPANLOOM_INLINE double edge_sums_of(const double* exps, std::size_t sites, double* inside, double* from, double* to) {
  for (std::size_t g = 0; g < sites; ++g) {
    const double* row = exps + g * kEdgeColumns;
    inside[g] = ((row[3] + row[4]) + (row[5] + row[6])) + row[7];
  }
  Paths here{1, 0}, back{1, 0};
  for (std::size_t g = 0; g < sites; ++g) {
    const double* row = exps + g * kEdgeColumns;
    here.step(here.o * row[kX] + here.i * row[kE], here.o * row[kS] + here.i * inside[g]);
    from[2 * g] = here.o;
    from[2 * g + 1] = here.i;
    const std::size_t h = sites - 1 - g;
    row = exps + h * kEdgeColumns;
    to[2 * h] = back.o;
    to[2 * h + 1] = back.i;
    back.step(row[kX] * back.o + row[kS] * back.i, row[kE] * back.o + inside[h] * back.i);
  }
  return here.log_scale;
}

template <class W>
SPANLOOM_INLINE bool edge_marginals_of(const EdgeSums& sums, std::size_t sites, double limit, double* out) {
  bool above = true;
  double before_o = 1, before_i = 0;
  for (std::size_t g = 0; g < sites; ++g) {
    const double* row = sums.exps + g * kEdgeColumns;
    double* place = out + g * kEdgeColumns;
    const double after_o = sums.to[2 * g], after_i = sums.to[2 * g + 1];
    const double stay = before_o * after_o, enter = before_o * after_i;
    const double leave = before_i * after_o, both = before_i * after_i;
    const double norm = (stay * row[kX] + enter * row[kS]) + (leave * row[kE] + both * sums.inside[g]);
    above &= norm > limit;
    const double inverse = 1.0 / norm;
    place[kX] = row[kX] * (stay * inverse);
    place[kS] = row[kS] * (enter * inverse);
    place[kE] = row[kE] * (leave * inverse);
    for (std::size_t k = kFirstInside; k < kEdgeColumns; ++k) place[k] = row[k] * (both * inverse);
    before_o = sums.from[2 * g];
    before_i = sums.from[2 * g + 1];
  }
  return above;
}

}  // namespace

SPANLOOM_KERNEL(double, edge_sums, (const double* exps, std::size_t sites, double* inside, double* from, double* to),
                (exps, sites, inside, from, to))
SPANLOOM_KERNEL(bool, edge_marginals, (const EdgeSums& sums, std::size_t sites, double limit, double* out),
                (sums, sites, limit, out))

}  // namespace spanloom::kernels
