#include "spanloom/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "spanloom/memory.hpp"

// Clones are made on the definitions only; sanitizers cannot follow the dispatch, so they switch them off.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(SPANLOOM_NO_CLONES)
#define SPANLOOM_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define SPANLOOM_CLONES
#endif
#if defined(__GNUC__)
#define SPANLOOM_INLINE inline __attribute__((always_inline))
#else
#define SPANLOOM_INLINE inline
#endif

namespace spanloom::kernels {
namespace {

// Four doubles in one or two registers. Loops over columns are written with them, as compilers often fail to see that a
// small array of sums is a few vectors.
using Vector = double __attribute__((vector_size(32)));
using Mask = std::int64_t __attribute__((vector_size(32)));
constexpr std::size_t kVector = 4;

SPANLOOM_INLINE void load(const double* from, Vector& to) { std::memcpy(&to, from, sizeof to); }
SPANLOOM_INLINE void load(const float* from, Vector& to) {  // one instruction, which a vector of floats is not
  to = Vector{static_cast<double>(from[0]), static_cast<double>(from[1]), static_cast<double>(from[2]),
              static_cast<double>(from[3])};
}
SPANLOOM_INLINE void store(const Vector& from, double* to) { std::memcpy(to, &from, sizeof from); }

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
  Vector sum[Width / kVector] = {};
  const std::size_t safe = readable > kAhead ? std::min(n, readable - kAhead) : 0;
  std::size_t i = 0;
  const auto add = [&](std::size_t e) __attribute__((always_inline)) {
    const float* row = table + ids[e] * stride;
    for (std::size_t j = 0; j < Width / kVector; ++j) {
      Vector values_of;
      load(row + j * kVector, values_of);
      sum[j] += kValued ? static_cast<double>(values[e]) * values_of : values_of;
    }
  };
  for (; i < safe; ++i) {
    const float* ahead = table + ids[i + kAhead] * stride;
    prefetch(ahead);
    if constexpr (Width > 16) prefetch(ahead + 16);
    add(i);
  }
  for (; i < n; ++i) add(i);
  for (std::size_t j = 0; j < Width / kVector; ++j) store(sum[j], out + j * kVector);
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

// out[0 .. Width) = sum over x of vector[x] * matrix[x, 0 .. Width), held in registers: two sums side by side, since
// each waits for its last addition.
template <std::size_t Width>
SPANLOOM_INLINE void vector_matrix_block(const double* vector, const double* matrix, std::size_t rows,
                                         std::size_t stride, double* out) {
  constexpr std::size_t kVectors = Width / kVector;
  Vector even[kVectors] = {};
  Vector odd[kVectors] = {};
  const auto add = [&](std::size_t x, Vector(&sum)[kVectors]) __attribute__((always_inline)) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      Vector row;
      load(matrix + x * stride + j * kVector, row);
      sum[j] += vector[x] * row;
    }
  };
  std::size_t x = 0;
  for (; x + 2 <= rows; x += 2) {
    add(x, even);
    add(x + 1, odd);
  }
  if (x < rows) add(x, even);
  for (std::size_t j = 0; j < kVectors; ++j) store(even[j] + odd[j], out + j * kVector);
}

// matrix[x, 0 .. Width) += sum over i of left[i, x] * right[i, 0 .. Width), held in registers.
template <std::size_t Width>
SPANLOOM_INLINE void outers_block(const double* left, const double* right, std::size_t n, std::size_t rows,
                                  std::size_t stride, double* matrix) {
  for (std::size_t x = 0; x < rows; ++x) {
    Vector sum[Width / kVector];
    for (std::size_t j = 0; j < Width / kVector; ++j) load(matrix + x * stride + j * kVector, sum[j]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < Width / kVector; ++j) {
        Vector value;
        load(right + i * stride + j * kVector, value);
        sum[j] += left[i * stride + x] * value;
      }
    }
    for (std::size_t j = 0; j < Width / kVector; ++j) store(sum[j], matrix + x * stride + j * kVector);
  }
}

template <std::size_t Width>
SPANLOOM_INLINE void max_block(const double* previous, const double* matrix, const double* scores, std::size_t rows,
                               std::size_t stride, double* best, std::int32_t* back) {
  constexpr std::size_t kVectors = Width / kVector;
  Vector top[kVectors];
  Mask from[kVectors] = {};
  for (std::size_t j = 0; j < kVectors; ++j) top[j] = Vector{} - std::numeric_limits<double>::infinity();
  for (std::size_t x = 0; x < rows; ++x) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      Vector candidate;
      load(matrix + x * stride + j * kVector, candidate);
      candidate += previous[x];
      const Mask better = candidate > top[j];
      from[j] = better ? Mask{} + static_cast<std::int64_t>(x) : from[j];
      top[j] = better ? candidate : top[j];
    }
  }
  for (std::size_t j = 0; j < kVectors; ++j) {
    Vector score;
    load(scores + j * kVector, score);
    store(top[j] + score, best + j * kVector);
    for (std::size_t k = 0; k < kVector; ++k) back[j * kVector + k] = static_cast<std::int32_t>(from[j][k]);
  }
}

SPANLOOM_INLINE double sum_of(const Vector& v) { return (v[0] + v[2]) + (v[1] + v[3]); }

template <class A, class B>
SPANLOOM_INLINE double dot_any(const A* a, const B* b, std::size_t n) {
  constexpr std::size_t kSums = 4;
  Vector sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums * kVector <= n; i += kSums * kVector) {
    for (std::size_t j = 0; j < kSums; ++j) {
      Vector x, y;
      load(a + i + j * kVector, x);
      load(b + i + j * kVector, y);
      sums[j] += x * y;
    }
  }
  double total = sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < n; ++i) total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
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
  for (std::size_t y = 0; y < stride; y += kVector) {
    Vector scaled;
    load(right + y, scaled);
    scaled *= factor;
    for (std::size_t x = 0; x < rows; ++x) {
      Vector sum;
      load(matrix + x * stride + y, sum);
      store(sum + left[x] * scaled, matrix + x * stride + y);
    }
  }
}

SPANLOOM_CLONES void add_outers(const double* left, const double* right, std::size_t n, std::size_t rows,
                                std::size_t stride, double* matrix) {
  std::size_t column = 0;
  for (; column + 16 <= stride; column += 16) {
    outers_block<16>(left, right + column, n, rows, stride, matrix + column);
  }
  if (column + kLane <= stride) {
    outers_block<kLane>(left, right + column, n, rows, stride, matrix + column);
  } else if (column < stride) {
    outers_block<kLane / 2>(left, right + column, n, rows, stride, matrix + column);
  }
}

SPANLOOM_CLONES double sum(const double* x, std::size_t n) {
  Vector total = {};
  for (std::size_t i = 0; i < n; i += kVector) {
    Vector next;
    load(x + i, next);
    total += next;
  }
  return sum_of(total);
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

SPANLOOM_CLONES void add_dots(const float* a, const float* b, const float* c, const double* d, std::size_t n,
                              double* sums) {
  Vector with_b = {}, with_c = {}, with_d = {};
  std::size_t i = 0;
  for (; i + kVector <= n; i += kVector) {
    Vector x, y;
    load(a + i, x);
    load(b + i, y);
    with_b += x * y;
    load(c + i, y);
    with_c += x * y;
    load(d + i, y);
    with_d += x * y;
  }
  sums[0] += sum_of(with_b);
  sums[1] += sum_of(with_c);
  sums[2] += sum_of(with_d);
  for (; i < n; ++i) {
    const auto x = static_cast<double>(a[i]);
    sums[0] += x * static_cast<double>(b[i]);
    sums[1] += x * static_cast<double>(c[i]);
    sums[2] += x * d[i];
  }
}

SPANLOOM_CLONES void adagrad_step(const float* d, float value, float decay, float rate, std::size_t n, float* w,
                                  float* squares) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = value * d[i] + decay * w[i];
    squares[i] += g * g;
    w[i] -= rate * g / __builtin_sqrtf(squares[i]);
  }
}

SPANLOOM_CLONES void add_scaled(double factor, const float* x, std::size_t n, double* y) {
  std::size_t i = 0;
  for (; i + kVector <= n; i += kVector) {
    Vector value, sum;
    load(x + i, value);
    load(y + i, sum);
    store(sum + factor * value, y + i);
  }
  for (; i < n; ++i) y[i] += factor * static_cast<double>(x[i]);
}

}  // namespace spanloom::kernels
