#include <algorithm>
#include <limits>
#include <vector>

#include "exp.hpp"
#include "spanloom/base/sequence_kernels.hpp"
#include "vectors.hpp"

namespace spanloom::kernels {
namespace {

template <class W>
SPANLOOM_INLINE void exp_rows_of(const double* scores, const double* padding, std::size_t sites, std::size_t stride,
                                 double* out, double* tops) {
  using Vector = typename W::Vector;
  for (std::size_t t = 0; t < sites; ++t, scores += stride, out += stride) {
    Vector best = Vector{} - std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < stride; i += kSize<Vector>) {
      Vector score, pad;
      load(scores + i, score);
      load(padding + i, pad);
      score += pad;
      best = score > best ? score : best;
    }
    spread_top(best);
    tops[t] = best[0];
    for (std::size_t i = 0; i < stride; i += kSize<Vector>) {
      Vector score, pad;
      load(scores + i, score);
      load(padding + i, pad);
      score = (score + pad) - best;
      exp_in_place<typename W::Bits>(score);
      store(score, out + i);
    }
  }
}

// A row that stays in registers.
template <class W, std::size_t Width>
struct Row : Columns<W, Width> {
  using Vector = typename W::Vector;
  using Columns<W, Width>::kVectors;
  using Columns<W, Width>::vectors;

  // The product of a vector and a matrix of `rows` rows.
  SPANLOOM_INLINE void product(const double* vector, const double* matrix, std::size_t rows) {
    *this = {};
    std::size_t x = 0;
    if constexpr (Width <= 24) {  // each sum waits for its last addition, so two where wide registers suffice
      Columns<W, Width> odd;
      for (; x + 2 <= rows; x += 2, matrix += 2 * Width) {
        this->add(vector[x], matrix);
        odd.add(vector[x + 1], matrix + Width);
      }
      Columns<W, Width>::add(odd);
    }
    for (; x < rows; ++x, matrix += Width) this->add(vector[x], matrix);
  }
  SPANLOOM_INLINE Row times(const double* other) const {
    Row out;
    out.Columns<W, Width>::read(other);
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kVectors; ++j) out.vectors[j] *= vectors[j];
    return out;
  }
  SPANLOOM_INLINE Row times(double factor) const {
    Row out;
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kVectors; ++j) out.vectors[j] = vectors[j] * factor;
    return out;
  }
};

// Whether all that was seen is above its limits.
template <class W, std::size_t Width>
struct Above {
  typename W::Mask so_far = ~typename W::Mask{};

  SPANLOOM_INLINE void see(const Row<W, Width>& row, const double* limits) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < row.kVectors; ++j) {
      typename W::Vector limit;
      load(limits + j * kSize<typename W::Vector>, limit);
      so_far &= row.vectors[j] > limit;
    }
  }
  SPANLOOM_INLINE bool all() const {
    std::int64_t all = -1;
    for (std::size_t i = 0; i < kSize<typename W::Vector>; ++i) all &= so_far[i];
    return all != 0;
  }
};

// The row that is handed on is divided by the sum of the row before it: divisions are not waited for.
template <class W, std::size_t Width>
SPANLOOM_INLINE bool sums_of_width(const ChainRows& g, const ChainLimits& limits, double* from, double* sums,
                                   double* to) {
  Above<W, Width> above;
  double inverse_from = 1.0, inverse_to = 1.0;
  double next[Width];
  Row<W, Width> behind;
  behind.read(g.end);
  for (std::size_t t = 0; t < g.sites; ++t) {
    Row<W, Width> row;
    if (t == 0) {
      row.read(g.start);
    } else {
      row.product(from + (t - 1) * Width, g.matrix, g.labels);
    }
    row = row.times(g.exps + t * Width).times(inverse_from);
    row.write(from + t * Width);
    sums[t] = row.sum();
    inverse_from = 1.0 / sums[t];
    above.see(row, limits.from + std::min(t, limits.from_rows - 1) * Width);

    const std::size_t u = g.sites - 1 - t;
    behind.write(to + u * Width);
    above.see(behind, limits.to + std::min(t, limits.to_rows - 1) * Width);
    inverse_to = 1.0 / behind.sum();
    behind.times(g.exps + u * Width).write(next);
    behind.product(next, g.turned, g.labels);
    behind = behind.times(inverse_to);
  }
  return above.all();
}

// Rows that are too long for registers.
bool sums_of_any_width(const ChainRows& g, const ChainLimits& limits, double* from, double* sums, double* to) {
  const std::size_t stride = g.stride;
  bool above = true;
  std::copy_n(g.start, stride, from);
  for (std::size_t t = 0; t < g.sites; ++t) {
    double* row = from + t * stride;
    if (t > 0) vector_matrix(row - stride, g.matrix, g.labels, stride, row);
    const double factor = t > 0 ? 1.0 / sums[t - 1] : 1.0;
    sums[t] = factor * multiply_sum(row, g.exps + t * stride, stride, row);
    for (std::size_t y = 0; y < stride; ++y) row[y] *= factor;
    above &= all_above(row, limits.from + std::min(t, limits.from_rows - 1) * stride, stride);
  }
  std::vector<double> next(stride);
  std::copy_n(g.end, stride, to + (g.sites - 1) * stride);
  for (std::size_t t = g.sites; t-- > 0;) {
    double* row = to + t * stride;
    above &= all_above(row, limits.to + std::min(g.sites - 1 - t, limits.to_rows - 1) * stride, stride);
    if (t == 0) break;
    const double factor = 1.0 / sum(row, stride);
    multiply_sum(row, g.exps + t * stride, stride, next.data());
    double* before = row - stride;
    vector_matrix(next.data(), g.turned, g.labels, stride, before);
    for (std::size_t y = 0; y < stride; ++y) before[y] *= factor;
  }
  return above;
}

template <class W>
SPANLOOM_INLINE bool chain_sums_of(const ChainRows& rows, const ChainLimits& limits, double* from, double* sums,
                                   double* to) {
  switch (rows.stride) {
    case 4:
      return sums_of_width<W, 4>(rows, limits, from, sums, to);
    case 8:
      return sums_of_width<W, 8>(rows, limits, from, sums, to);
    case 16:
      return sums_of_width<W, 16>(rows, limits, from, sums, to);
    case 24:
      return sums_of_width<W, 24>(rows, limits, from, sums, to);
    case 32:
      return sums_of_width<W, 32>(rows, limits, from, sums, to);
    default:
      return sums_of_any_width(rows, limits, from, sums, to);
  }
}

template <class W>
SPANLOOM_INLINE bool chain_marginals_of(const ChainRows& g, double limit, const double* from, const double* sums,
                                        double* to, double* out) {
  using Vector = typename W::Vector;
  bool above = true;
  for (std::size_t t = 0; t < g.sites; ++t, from += g.stride, to += g.stride, out += g.stride) {
    Four<W> total;
    for (std::size_t i = 0; i < g.stride; i += 4) {
      Four<W> left, right;
      left.read(from + i);
      right.read(to + i);
      total.add_product(left, right);
    }
    const double norm = total.sum();
    const double pair_norm = t > 0 ? norm * sums[t - 1] : norm;  // each alone may be large enough
    above &= norm > limit && pair_norm > limit;
    const double inverse = 1.0 / norm;
    const double pair = t > 0 ? 1.0 / pair_norm : 0.0;
    const double* exps = g.exps + t * g.stride;
    for (std::size_t i = 0; i < g.stride; i += kSize<Vector>) {
      Vector left, right, value;
      load(from + i, left);
      load(to + i, right);
      load(exps + i, value);
      store<Vector>(left * right * inverse, out + i);
      store<Vector>(value * right * pair, to + i);
    }
  }
  return above;
}

}  // namespace

SPANLOOM_KERNEL(void, exp_rows,
                (const double* scores, const double* padding, std::size_t sites, std::size_t stride, double* out,
                 double* tops),
                (scores, padding, sites, stride, out, tops))
SPANLOOM_KERNEL(bool, chain_sums,
                (const ChainRows& rows, const ChainLimits& limits, double* from, double* sums, double* to),
                (rows, limits, from, sums, to))
SPANLOOM_KERNEL(bool, chain_marginals,
                (const ChainRows& rows, double limit, const double* from, const double* sums, double* to, double* out),
                (rows, limit, from, sums, to, out))

}  // namespace spanloom::kernels
