#include "spanloom/kernels.hpp"

#include <algorithm>
#include <bit>
#include <limits>

// Clones are made on the definitions only; sanitizers cannot follow the dispatch, so they switch them off.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(SPANLOOM_NO_CLONES)
#define SPANLOOM_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define SPANLOOM_CLONES
#endif
#if defined(__GNUC__)
#define SPANLOOM_INLINE inline __attribute__((always_inline))
#define SPANLOOM_PREFETCH(address) __builtin_prefetch(address)
#else
#define SPANLOOM_INLINE inline
#define SPANLOOM_PREFETCH(address)
#endif

namespace spanloom::kernels {
namespace {

constexpr std::size_t kAhead = 12;  // entries between the prefetch of a weight row and its use

// exp by range reduction x = k ln 2 + r and a polynomial in r, |r| <= ln 2 / 2; branch-free, so that it vectorises.
SPANLOOM_INLINE double exp_one(double x) {
  constexpr double kLowest = -708.0;
  constexpr double kHighest = 709.0;
  constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer in the low bits
  const double c = x < kLowest ? kLowest : (x > kHighest ? kHighest : x);
  const double shifted = c * 0x1.71547652b82fep0 + kShift;
  const auto k = std::bit_cast<std::int64_t>(shifted);
  const double kd = shifted - kShift;
  const double r = (c - kd * 0x1.62e42fee00000p-1) - kd * 0x1.a39ef35793c76p-33;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const double scaled = std::bit_cast<double>(std::bit_cast<std::int64_t>(p) +
                                              static_cast<std::int64_t>(static_cast<std::uint64_t>(k) << 52));
  return x < kLowest ? 0.0 : scaled;
}

// Sums rows of a table into registers: out[0 .. Width) of the given block of columns. The sum takes the first n of
// `readable` ids; the others come next, so that their rows are fetched ahead: most sums are short.
template <std::size_t Width, bool kValued>
SPANLOOM_INLINE void gather_block(const float* table, std::size_t stride, const std::uint32_t* ids, const float* values,
                                  std::size_t n, std::size_t readable, double* out) {
  double sum[Width];
  for (std::size_t j = 0; j < Width; ++j) sum[j] = 0;
  const std::size_t safe = readable > kAhead ? std::min(n, readable - kAhead) : 0;
  std::size_t i = 0;
  const auto add = [&](std::size_t e) __attribute__((always_inline)) {
    const float* row = table + ids[e] * stride;
    for (std::size_t j = 0; j < Width; ++j) {
      sum[j] += kValued ? static_cast<double>(values[e]) * static_cast<double>(row[j]) : static_cast<double>(row[j]);
    }
  };
  for (; i < safe; ++i) {
    const float* ahead = table + ids[i + kAhead] * stride;
    SPANLOOM_PREFETCH(ahead);
    if constexpr (Width > 16) SPANLOOM_PREFETCH(ahead + 16);
    add(i);
  }
  for (; i < n; ++i) add(i);
  for (std::size_t j = 0; j < Width; ++j) out[j] = sum[j];
}

template <bool kValued>
SPANLOOM_INLINE void gather_any(const float* table, std::size_t stride, const std::uint32_t* ids, const float* values,
                                std::size_t n, std::size_t readable, double* out) {
  std::size_t column = 0;
  for (; column + 32 <= stride; column += 32) {
    gather_block<32, kValued>(table + column, stride, ids, values, n, readable, out + column);
  }
  for (; column + 16 <= stride; column += 16) {
    gather_block<16, kValued>(table + column, stride, ids, values, n, readable, out + column);
  }
  if (column + kLane <= stride) {
    gather_block<kLane, kValued>(table + column, stride, ids, values, n, readable, out + column);
    column += kLane;
  }
  if (column < stride) gather_block<kLane / 2, kValued>(table + column, stride, ids, values, n, readable, out + column);
}

// out[0 .. Width) = sum over x of vector[x] * matrix[x, 0 .. Width), held in registers.
template <std::size_t Width>
SPANLOOM_INLINE void vector_matrix_block(const double* vector, const double* matrix, std::size_t rows,
                                         std::size_t stride, double* out) {
  double sum[Width];
  for (std::size_t j = 0; j < Width; ++j) sum[j] = 0;
  for (std::size_t x = 0; x < rows; ++x) {
    const double factor = vector[x];
    const double* row = matrix + x * stride;
    for (std::size_t j = 0; j < Width; ++j) sum[j] += factor * row[j];
  }
  for (std::size_t j = 0; j < Width; ++j) out[j] = sum[j];
}

template <std::size_t Width>
SPANLOOM_INLINE void max_block(const double* previous, const double* matrix, const double* scores, std::size_t rows,
                               std::size_t stride, double* best, std::int32_t* back) {
  double top[Width];
  double from[Width];  // indices as doubles, so that value and index are chosen by the same mask
  for (std::size_t j = 0; j < Width; ++j) {
    top[j] = -std::numeric_limits<double>::infinity();
    from[j] = 0;
  }
  for (std::size_t x = 0; x < rows; ++x) {
    const double value = previous[x];
    const auto index = static_cast<double>(x);
    const double* row = matrix + x * stride;
    for (std::size_t j = 0; j < Width; ++j) {
      const double candidate = value + row[j];
      from[j] = candidate > top[j] ? index : from[j];
      top[j] = candidate > top[j] ? candidate : top[j];
    }
  }
  for (std::size_t j = 0; j < Width; ++j) {
    best[j] = top[j] + scores[j];
    back[j] = static_cast<std::int32_t>(from[j]);
  }
}

template <class A, class B>
SPANLOOM_INLINE double dot_any(const A* a, const B* b, std::size_t n) {
  double lanes[16] = {};
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (std::size_t j = 0; j < 16; ++j) lanes[j] += static_cast<double>(a[i + j]) * static_cast<double>(b[i + j]);
  }
  double total = 0;
  for (; i < n; ++i) total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (const double lane : lanes) total += lane;
  return total;
}

}  // namespace

SPANLOOM_CLONES void exp_all(double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = exp_one(x[i]);
}

SPANLOOM_CLONES void gather_rows(const float* weights, std::size_t stride, const std::int64_t* row_ptr,
                                 const std::uint32_t* ids, const float* values, std::size_t first, std::size_t last,
                                 double* out) {
  for (std::size_t r = first; r < last; ++r, out += stride) {
    const std::int64_t begin = row_ptr[r];
    const auto n = static_cast<std::size_t>(row_ptr[r + 1] - begin);
    const auto readable = static_cast<std::size_t>(row_ptr[last] - begin);
    if (values) {
      gather_any<true>(weights, stride, ids + begin, values + begin, n, readable, out);
    } else {
      gather_any<false>(weights, stride, ids + begin, nullptr, n, readable, out);
    }
  }
}

SPANLOOM_CLONES void gather_column(const float* rows, std::size_t stride, const std::uint32_t* ids, const float* values,
                                   std::size_t n, std::size_t readable, double* out) {
  if (values) {
    gather_any<true>(rows, stride, ids, values, n, readable, out);
  } else {
    gather_any<false>(rows, stride, ids, nullptr, n, readable, out);
  }
}

SPANLOOM_CLONES void vector_matrix(const double* vector, const double* matrix, std::size_t rows, std::size_t stride,
                                   double* out) {
  std::size_t column = 0;
  for (; column + 16 <= stride; column += 16) {
    vector_matrix_block<16>(vector, matrix + column, rows, stride, out + column);
  }
  if (column + kLane <= stride) {
    vector_matrix_block<kLane>(vector, matrix + column, rows, stride, out + column);
  } else if (column < stride) {
    vector_matrix_block<kLane / 2>(vector, matrix + column, rows, stride, out + column);
  }
}

SPANLOOM_CLONES void add_outer(double factor, const double* left, const double* right, std::size_t rows,
                               std::size_t stride, double* matrix) {
  for (std::size_t x = 0; x < rows; ++x) {
    const double scaled = factor * left[x];
    double* row = matrix + x * stride;
    for (std::size_t y = 0; y < stride; ++y) row[y] += scaled * right[y];
  }
}

SPANLOOM_CLONES double multiply_sum(const double* a, const double* b, std::size_t n, double* out) {
  double lanes[kLane] = {};
  std::size_t i = 0;
  const auto add = [&](std::size_t j) __attribute__((always_inline)) {
    const double product = a[i + j] * b[i + j];
    out[i + j] = product;
    lanes[j] += product;
  };
  for (; i + kLane <= n; i += kLane) {
    for (std::size_t j = 0; j < kLane; ++j) add(j);
  }
  if (i < n) {
    for (std::size_t j = 0; j < kLane / 2; ++j) add(j);
  }
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

SPANLOOM_CLONES void max_step(const double* previous, const double* matrix, const double* scores, std::size_t rows,
                              std::size_t stride, double* best, std::int32_t* back) {
  if (stride < kLane) {
    max_block<kLane / 2>(previous, matrix, scores, rows, stride, best, back);
    return;
  }
  for (std::size_t column = 0; column < stride; column += kLane) {
    max_block<kLane>(previous, matrix + column, scores + column, rows, stride, best + column, back + column);
  }
}

SPANLOOM_CLONES double dot(const double* a, const double* b, std::size_t n) { return dot_any(a, b, n); }

SPANLOOM_CLONES double dot(const float* a, const double* b, std::size_t n) { return dot_any(a, b, n); }

SPANLOOM_CLONES double dot(const float* a, const float* b, std::size_t n) { return dot_any(a, b, n); }

SPANLOOM_CLONES void adagrad_step(const float* d, float value, float decay, float rate, std::size_t n, float* w,
                                  float* squares) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = value * d[i] + decay * w[i];
    squares[i] += g * g;
    w[i] -= rate * g / __builtin_sqrtf(squares[i]);
  }
}

SPANLOOM_CLONES void add_scaled(double factor, const float* x, std::size_t n, double* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += factor * static_cast<double>(x[i]);
}

}  // namespace spanloom::kernels
