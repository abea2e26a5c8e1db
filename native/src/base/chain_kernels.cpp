#include <algorithm>
#include <limits>

#include "exp.hpp"
#include "spanloom/base/kernels.hpp"
#include "vectors.hpp"

namespace spanloom::kernels {
namespace {

template <class W>
SPANLOOM_INLINE void exp_rows_of(const double* scores, const double* padding, std::size_t sites, std::size_t stride,
                                 double* out, double* tops) {
  using Vector = typename W::Vector;
  for (std::size_t t = 0; t < sites; ++t) {
    const double* row = scores + t * stride;
    Vector best = Vector{} - std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < stride; i += kSize<Vector>) {
      Vector score, pad;
      load(row + i, score);
      load(padding + i, pad);
      score += pad;
      best = score > best ? score : best;
      store(score, out + t * stride + i);
    }
    double top = best[0];
    for (std::size_t i = 1; i < kSize<Vector>; ++i) top = best[i] > top ? best[i] : top;
    tops[t] = top;
    for (std::size_t i = 0; i < stride; i += kSize<Vector>) {
      Vector score;
      load(out + t * stride + i, score);
      store<Vector>(score - top, out + t * stride + i);
    }
  }
  for (std::size_t i = 0; i < sites * stride; ++i) out[i] = exp_one(out[i]);
}

// A row that stays in registers.
template <class W, std::size_t Width>
struct Row : Columns<W, Width> {
  using Vector = typename W::Vector;
  using Columns<W, Width>::kVectors;
  using Columns<W, Width>::vectors;

  // The product of a vector and a matrix of `rows` rows.
  SPANLOOM_INLINE void product(const double* vector, const double* matrix, std::size_t rows) {
    Columns<W, Width> even, odd;  // each sum waits for its last addition
    std::size_t x = 0;
    for (; x + 2 <= rows; x += 2, matrix += 2 * Width) {
      even.add(vector[x], matrix);
      odd.add(vector[x + 1], matrix + Width);
    }
    if (x < rows) even.add(vector[x], matrix);
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kVectors; ++j) vectors[j] = even.vectors[j] + odd.vectors[j];
  }
  SPANLOOM_INLINE Row times(const double* other) const {
    Row out;
    out.Columns<W, Width>::read(other);
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kVectors; ++j) out.vectors[j] *= vectors[j];
    return out;
  }
  SPANLOOM_INLINE Row times(double factor) const {
    Row out;
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kVectors; ++j) out.vectors[j] = vectors[j] * factor;
    return out;
  }
  SPANLOOM_INLINE double sum() const {
    Vector total = vectors[0];
#pragma GCC unroll 8
    for (std::size_t j = 1; j < kVectors; ++j) total += vectors[j];
    return across(total);
  }
};

// Whether all that was seen is above its limits.
template <class W, std::size_t Width>
struct Above {
  typename W::Mask so_far = ~typename W::Mask{};

  SPANLOOM_INLINE void see(const Row<W, Width>& row, const double* limits) {
#pragma GCC unroll 8
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

// Divisions are not waited for: the row that is handed on has the sum of the row before it, divided out one step later.
template <class W, std::size_t Width>
SPANLOOM_INLINE bool forward_width(const ForwardRows& g, double* alpha, double* sums) {
  Above<W, Width> above;
  double handed[Width];
  double inverse = 1.0;
  for (std::size_t t = 0; t < g.sites; ++t) {
    Row<W, Width> row;
    if (t == 0) {
      row.read(g.start);
    } else {
      row.product(handed, g.matrix, g.labels);
    }
    row = row.times(g.exps + t * Width).times(inverse);
    row.write(handed);
    sums[t] = row.sum();
    inverse = 1.0 / sums[t];
    row = row.times(inverse);
    row.write(alpha + t * Width);
    above.see(row, g.limits + std::min(t, g.limit_rows - 1) * Width);
  }
  return above.all();
}

template <class W, std::size_t Width>
SPANLOOM_INLINE bool backward_width(const BackwardRows& g, double* out, double* right) {
  Above<W, Width> above;
  Row<W, Width> row;  // beta[t], before it is divided by its sum with alpha[t]
  row.read(g.end);
  double inverse = 1.0 / row.times(g.alpha + (g.sites - 1) * Width).sum();
  for (std::size_t t = g.sites; t-- > 0;) {
    const Row<W, Width> beta = row.times(inverse);
    above.see(beta, g.limits + std::min(g.sites - 1 - t, g.limit_rows - 1) * Width);
    beta.times(g.alpha + t * Width).write(out + t * Width);
    if (t == 0) break;
    double* place = right + t * Width;
    const Row<W, Width> raw = row.times(g.exps + t * Width);
    raw.write(place);
    row.product(place, g.reversed, g.labels);
    row = row.times(inverse);
    const double before = inverse;
    inverse = 1.0 / row.times(g.alpha + (t - 1) * Width).sum();
    raw.times(before * inverse).write(place);
  }
  return above.all();
}

template <class W>
SPANLOOM_INLINE bool forward_rows_of(const ForwardRows& given, double* alpha, double* sums) {
  if (given.stride == 4) return forward_width<W, 4>(given, alpha, sums);
  if (given.stride == 8) return forward_width<W, 8>(given, alpha, sums);
  return forward_width<W, kShortRow>(given, alpha, sums);
}

template <class W>
SPANLOOM_INLINE bool backward_rows_of(const BackwardRows& given, double* out, double* right) {
  if (given.stride == 4) return backward_width<W, 4>(given, out, right);
  if (given.stride == 8) return backward_width<W, 8>(given, out, right);
  return backward_width<W, kShortRow>(given, out, right);
}

}  // namespace

SPANLOOM_KERNEL(void, exp_rows,
                (const double* scores, const double* padding, std::size_t sites, std::size_t stride, double* out,
                 double* tops),
                (scores, padding, sites, stride, out, tops))
SPANLOOM_KERNEL(bool, forward_rows, (const ForwardRows& given, double* alpha, double* sums), (given, alpha, sums))
SPANLOOM_KERNEL(bool, backward_rows, (const BackwardRows& given, double* out, double* right), (given, out, right))

}  // namespace spanloom::kernels
