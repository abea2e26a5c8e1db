#include <limits>

#include "exp.hpp"
#include "spanloom/base/kernels.hpp"
#include "vectors.hpp"

namespace spanloom::kernels {
namespace {

template <class W>
SPANLOOM_INLINE void exp_all_of(double* x, std::size_t n) {
  using Vector = typename W::Vector;
  const Vector highest = Vector{} + 709.0;
  std::size_t i = 0;
  for (; i + kSize<Vector> <= n; i += kSize<Vector>) {
    Vector value;
    load(x + i, value);
    value = value > highest ? highest : value;
    exp_in_place<typename W::Bits>(value);
    store(value, x + i);
  }
  for (; i < n; ++i) {
    x[i] = x[i] > highest[0] ? highest[0] : x[i];
    exp_in_place<std::uint64_t>(x[i]);
  }
}

template <class W>
SPANLOOM_INLINE void vector_matrix_of(const double* vector, const double* matrix, std::size_t rows, std::size_t stride,
                                      double* out) {
  each_block<16>(
      stride, [&](auto width, std::size_t column) __attribute__((always_inline)) {
        Columns<W, width()> even, odd;  // each sum waits for its last addition
        const double* row = matrix + column;
        std::size_t x = 0;
        for (; x + 2 <= rows; x += 2, row += 2 * stride) {
          even.add(vector[x], row);
          odd.add(vector[x + 1], row + stride);
        }
        if (x < rows) even.add(vector[x], row);
        even.add(odd);
        even.write(out + column);
      });
}

// Rows x columns of the matrix that stay in registers while all n are added up.
template <class W, std::size_t Rows, std::size_t Width>
SPANLOOM_INLINE void add_outer_tile(const double* left, const double* right, std::size_t n, std::size_t stride,
                                    double* matrix) {
  Columns<W, Width> tile[Rows];
#pragma GCC unroll 8
  for (std::size_t x = 0; x < Rows; ++x) tile[x].read(matrix + x * stride);
  for (std::size_t i = 0; i < n; ++i, left += stride, right += stride) {
#pragma GCC unroll 8
    for (std::size_t x = 0; x < Rows; ++x) tile[x].add(left[x], right);
  }
#pragma GCC unroll 8
  for (std::size_t x = 0; x < Rows; ++x) tile[x].write(matrix + x * stride);
}

template <class W>
SPANLOOM_INLINE void add_outers_of(const double* left, const double* right, std::size_t n, std::size_t rows,
                                   std::size_t stride, double* matrix) {
  each_block<kLane>(
      stride, [&](auto width, std::size_t column) __attribute__((always_inline)) {
        std::size_t x = 0;
        for (; x + 4 <= rows; x += 4) {
          add_outer_tile<W, 4, width()>(left + x, right + column, n, stride, matrix + x * stride + column);
        }
        for (; x < rows; ++x) {
          add_outer_tile<W, 1, width()>(left + x, right + column, n, stride, matrix + x * stride + column);
        }
      });
}

template <class W>
SPANLOOM_INLINE double sum_of(const double* x, std::size_t n) {
  Four<W> total;
  for (std::size_t i = 0; i < n; i += 4) total.add(x + i);
  return total.sum();
}

template <class W>
SPANLOOM_INLINE double multiply_sum_of(const double* a, const double* b, std::size_t n, double* out) {
  Four<W> total;
  for (std::size_t i = 0; i < n; i += 4) {
    Four<W> product, other;
    product.read(a + i);
    other.read(b + i);
#pragma GCC unroll 2
    for (std::size_t j = 0; j < product.kVectors; ++j) product.vectors[j] *= other.vectors[j];
    product.write(out + i);
    total.add(product);
  }
  return total.sum();
}

template <class W>
SPANLOOM_INLINE bool all_above_of(const double* a, const double* b, std::size_t n) {
  using Vector = typename W::Vector;
  typename W::Mask above = ~typename W::Mask{};
  for (std::size_t i = 0; i < n; i += kSize<Vector>) {
    Vector x, y;
    load(a + i, x);
    load(b + i, y);
    above &= x > y;
  }
  std::int64_t all = -1;
  for (std::size_t i = 0; i < kSize<Vector>; ++i) all &= above[i];
  return all != 0;
}

template <class W>
SPANLOOM_INLINE std::size_t places_above_of(const double* a, const double* b, double limit, std::size_t n,
                                            std::int32_t* places) {
  using Vector = typename W::Vector;
  using Mask = typename W::Mask;
  constexpr std::size_t kBlock = kLane / 2;
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; i += kBlock) {
    Mask above[kBlock / kSize<Vector>];
    Mask any = {};
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kBlock / kSize<Vector>; ++j) {
      Vector x, y;
      load(a + i + j * kSize<Vector>, x);
      load(b + i + j * kSize<Vector>, y);
      above[j] = x + y >= limit;
      any |= above[j];
    }
    std::int64_t one = 0;
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kSize<Vector>; ++k) one |= any[k];
    if (one == 0) continue;
    for (std::size_t k = 0; k < kBlock; ++k) {
      if (above[k / kSize<Vector>][k % kSize<Vector>] != 0) places[found++] = static_cast<std::int32_t>(i + k);
    }
  }
  return found;
}

template <class W>
SPANLOOM_INLINE void max_step_of(const double* previous, const double* matrix, const double* scores, std::size_t rows,
                                 std::size_t stride, double* best, std::int32_t* back) {
  using Vector = typename W::Vector;
  using Mask = typename W::Mask;
  each_block<16>(
      stride, [&](auto width, std::size_t column) __attribute__((always_inline)) {
        constexpr std::size_t kVectors = Columns<W, width()>::kVectors;
        Vector top[kVectors];
        Mask from[kVectors] = {};
#pragma GCC unroll 16
        for (std::size_t j = 0; j < kVectors; ++j) top[j] = Vector{} - std::numeric_limits<double>::infinity();
        for (std::size_t x = 0; x < rows; ++x) {
          Columns<W, width()> row;
          row.read(matrix + x * stride + column);
#pragma GCC unroll 16
          for (std::size_t j = 0; j < kVectors; ++j) {
            const Vector candidate = row.vectors[j] + previous[x];
            const Mask better = candidate > top[j];
            from[j] = (better & static_cast<std::int64_t>(x)) | (~better & from[j]);
            top[j] = better ? candidate : top[j];
          }
        }
#pragma GCC unroll 16
        for (std::size_t j = 0; j < kVectors; ++j) {
          const std::size_t at = column + j * kSize<Vector>;
          Vector score;
          load(scores + at, score);
          store(top[j] + score, best + at);
          for (std::size_t k = 0; k < kSize<Vector>; ++k) back[at + k] = static_cast<std::int32_t>(from[j][k]);
        }
      });
}

}  // namespace

SPANLOOM_KERNEL(void, exp_all, (double* x, std::size_t n), (x, n))
SPANLOOM_KERNEL(void, vector_matrix,
                (const double* vector, const double* matrix, std::size_t rows, std::size_t stride, double* out),
                (vector, matrix, rows, stride, out))
SPANLOOM_KERNEL(void, add_outers,
                (const double* left, const double* right, std::size_t n, std::size_t rows, std::size_t stride,
                 double* matrix),
                (left, right, n, rows, stride, matrix))
SPANLOOM_KERNEL(double, sum, (const double* x, std::size_t n), (x, n))
SPANLOOM_KERNEL(double, multiply_sum, (const double* a, const double* b, std::size_t n, double* out), (a, b, n, out))
SPANLOOM_KERNEL(bool, all_above, (const double* a, const double* b, std::size_t n), (a, b, n))
SPANLOOM_KERNEL(std::size_t, places_above,
                (const double* a, const double* b, double limit, std::size_t n, std::int32_t* places),
                (a, b, limit, n, places))
SPANLOOM_KERNEL(void, max_step,
                (const double* previous, const double* matrix, const double* scores, std::size_t rows,
                 std::size_t stride, double* best, std::int32_t* back),
                (previous, matrix, scores, rows, stride, best, back))

}  // namespace spanloom::kernels
