#include "spanloom/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "spanloom/memory.hpp"

// Every kernel is a template over the vectors that it computes with. It is compiled for vectors of two doubles, and on
// x86-64 once more for those of four, with AVX2 and FMA; the processor decides which of them runs.
#define SPANLOOM_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define SPANLOOM_KERNEL(Result, name, parameters, arguments)                                              \
  namespace {                                                                                             \
  __attribute__((target("avx2,fma"))) Result name##_wide parameters { return name##_of<Wide> arguments; } \
  }                                                                                                       \
  Result name parameters { return kWide ? name##_wide arguments : name##_of<Narrow> arguments; }
#else
#define SPANLOOM_KERNEL(Result, name, parameters, arguments) \
  Result name parameters { return name##_of<Narrow> arguments; }
#endif

namespace spanloom::kernels {
namespace {

// Loops over columns are written with vectors, as compilers often fail to see that a small array of sums is a few of
// them. Wider ones than the processor has would live in memory.
struct Narrow {
  using Vector = double __attribute__((vector_size(16)));
  using Mask = std::int64_t __attribute__((vector_size(16)));
};

#if defined(__x86_64__)
struct Wide {
  using Vector = double __attribute__((vector_size(32)));
  using Mask = std::int64_t __attribute__((vector_size(32)));
};

// SPANLOOM_NARROW, if it is set, makes this processor do what one without AVX2 does.
const bool kWide = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && std::getenv("SPANLOOM_NARROW") == nullptr;
}();
#endif

template <class V>
constexpr std::size_t kSize = sizeof(V) / sizeof(double);

constexpr std::size_t kAhead = 32;  // entries between the prefetch of a weight row and its use

template <class V>
SPANLOOM_INLINE void load(const double* from, V& to) {
  std::memcpy(&to, from, sizeof to);
}
template <class V>
SPANLOOM_INLINE void load(const float* from, V& to) {  // one instruction, which a vector of floats is not
  if constexpr (kSize<V> == 2) {
    to = V{static_cast<double>(from[0]), static_cast<double>(from[1])};
  } else {
    to = V{static_cast<double>(from[0]), static_cast<double>(from[1]), static_cast<double>(from[2]),
           static_cast<double>(from[3])};
  }
}
template <class V>
SPANLOOM_INLINE void store(const V& from, double* to) {
  std::memcpy(to, &from, sizeof from);
}
template <class V>
SPANLOOM_INLINE double across(const V& v) {
  if constexpr (kSize<V> == 2) {
    return v[0] + v[1];
  } else {
    return (v[0] + v[2]) + (v[1] + v[3]);
  }
}

// A few vectors side by side: Width columns of a row, in registers.
template <class W, std::size_t Width>
struct Columns {
  using Vector = typename W::Vector;
  static constexpr std::size_t kVectors = Width / kSize<Vector>;
  Vector vectors[kVectors] = {};

  template <class T>
  SPANLOOM_INLINE void read(const T* from) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kVectors; ++j) load(from + j * kSize<Vector>, vectors[j]);
  }
  SPANLOOM_INLINE void write(double* to) const {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kVectors; ++j) store(vectors[j], to + j * kSize<Vector>);
  }
  template <class T>
  SPANLOOM_INLINE void add(const T* row) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kVectors; ++j) {
      Vector value;
      load(row + j * kSize<Vector>, value);
      vectors[j] += value;
    }
  }
  template <class T>
  SPANLOOM_INLINE void add(double factor, const T* row) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kVectors; ++j) {
      Vector value;
      load(row + j * kSize<Vector>, value);
      vectors[j] += factor * value;
    }
  }
};

// Calls body(width, first column) for blocks of columns that cover a stride; width is a constant.
template <std::size_t Most, class Body>
SPANLOOM_INLINE void each_block(std::size_t stride, const Body& body) {
  std::size_t column = 0;
  if constexpr (Most >= 32) {
    for (; column + 32 <= stride; column += 32) body(std::integral_constant<std::size_t, 32>{}, column);
  }
  for (; column + 16 <= stride; column += 16) body(std::integral_constant<std::size_t, 16>{}, column);
  if (column + kLane <= stride) {
    body(std::integral_constant<std::size_t, kLane>{}, column);
    column += kLane;
  }
  if (column < stride) body(std::integral_constant<std::size_t, kLane / 2>{}, column);
}

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

template <class W>
SPANLOOM_INLINE void exp_all_of(double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = exp_one(x[i]);
}

// Sums rows of a table into registers: out[0 .. Width) of the given block of columns. The sum takes the first n of
// `readable` ids; the others come next, so that their rows are fetched ahead: most sums are short.
template <class W, std::size_t Width, bool kValued>
SPANLOOM_INLINE void gather_block(const float* table, std::size_t stride, const std::uint32_t* ids, const float* values,
                                  std::size_t n, std::size_t readable, double* out) {
  Columns<W, Width> sum;
  const std::size_t safe = readable > kAhead ? std::min(n, readable - kAhead) : 0;
  std::size_t i = 0;
  const auto add = [&](std::size_t e) __attribute__((always_inline)) {
    if constexpr (kValued) {
      sum.add(static_cast<double>(values[e]), table + ids[e] * stride);
    } else {
      sum.add(table + ids[e] * stride);
    }
  };
  for (; i < safe; ++i) {
    const float* ahead = table + ids[i + kAhead] * stride;
    prefetch(ahead);
    if constexpr (Width > 16) prefetch(ahead + 16);
    add(i);
  }
  for (; i < n; ++i) add(i);
  sum.write(out);
}

template <class W, bool kValued>
SPANLOOM_INLINE void gather_any(const float* table, std::size_t stride, const std::uint32_t* ids, const float* values,
                                std::size_t n, std::size_t readable, double* out) {
  each_block<32>(
      stride, [&](auto width, std::size_t column) __attribute__((always_inline)) {
        gather_block<W, width(), kValued>(table + column, stride, ids, values, n, readable, out + column);
      });
}

template <class W>
SPANLOOM_INLINE void gather_rows_of(const float* weights, std::size_t stride, const std::int64_t* row_ptr,
                                    std::span<const std::uint32_t> ids, const float* values, std::size_t first,
                                    std::size_t last, double* out) {
  for (std::size_t r = first; r < last; ++r, out += stride) {
    const std::int64_t begin = row_ptr[r];
    const auto n = static_cast<std::size_t>(row_ptr[r + 1] - begin);
    const std::size_t readable = ids.size() - static_cast<std::size_t>(begin);
    if (values) {
      gather_any<W, true>(weights, stride, ids.data() + begin, values + begin, n, readable, out);
    } else {
      gather_any<W, false>(weights, stride, ids.data() + begin, nullptr, n, readable, out);
    }
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
#pragma GCC unroll 16
        for (std::size_t j = 0; j < even.kVectors; ++j) even.vectors[j] += odd.vectors[j];
        even.write(out + column);
      });
}

template <class W>
SPANLOOM_INLINE void add_outers_of(const double* left, const double* right, std::size_t n, std::size_t rows,
                                   std::size_t stride, double* matrix) {
  each_block<16>(
      stride, [&](auto width, std::size_t column) __attribute__((always_inline)) {
        for (std::size_t x = 0; x < rows; ++x) {
          Columns<W, width()> row;
          double* place = matrix + x * stride + column;
          row.read(place);
          for (std::size_t i = 0; i < n; ++i) row.add(left[i * stride + x], right + i * stride + column);
          row.write(place);
        }
      });
}

template <class W>
SPANLOOM_INLINE double sum_of(const double* x, std::size_t n) {
  typename W::Vector total = {};
  for (std::size_t i = 0; i < n; i += kSize<typename W::Vector>) {
    typename W::Vector next;
    load(x + i, next);
    total += next;
  }
  return across(total);
}

template <class W>
SPANLOOM_INLINE double multiply_sum_of(const double* a, const double* b, std::size_t n, double* out) {
  using Vector = typename W::Vector;
  Vector total = {};
  for (std::size_t i = 0; i < n; i += kSize<Vector>) {
    Vector product, other;
    load(a + i, product);
    load(b + i, other);
    product *= other;
    store(product, out + i);
    total += product;
  }
  return across(total);
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

template <class W, class A>
SPANLOOM_INLINE double dot_of(const A* a, const double* b, std::size_t n) {
  using Vector = typename W::Vector;
  constexpr std::size_t kSums = 4;
  Vector sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums * kSize<Vector> <= n; i += kSums * kSize<Vector>) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kSums; ++j) {
      Vector x, y;
      load(a + i + j * kSize<Vector>, x);
      load(b + i + j * kSize<Vector>, y);
      sums[j] += x * y;
    }
  }
  double total = across<Vector>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < n; ++i) total += static_cast<double>(a[i]) * b[i];
  return total;
}

template <class W>
SPANLOOM_INLINE void add_dots_of(const float* a, const float* b, const float* c, const double* d, std::size_t n,
                                 double* sums) {
  using Vector = typename W::Vector;
  Vector with_b = {}, with_c = {}, with_d = {};
  std::size_t i = 0;
  for (; i + kSize<Vector> <= n; i += kSize<Vector>) {
    Vector x, y;
    load(a + i, x);
    load(b + i, y);
    with_b += x * y;
    load(c + i, y);
    with_c += x * y;
    load(d + i, y);
    with_d += x * y;
  }
  sums[0] += across(with_b);
  sums[1] += across(with_c);
  sums[2] += across(with_d);
  for (; i < n; ++i) {
    const auto x = static_cast<double>(a[i]);
    sums[0] += x * static_cast<double>(b[i]);
    sums[1] += x * static_cast<double>(c[i]);
    sums[2] += x * d[i];
  }
}

template <class W>
SPANLOOM_INLINE void adagrad_step_of(const float* d, float value, float decay, float rate, std::size_t n, float* w,
                                     float* squares) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = value * d[i] + decay * w[i];
    squares[i] += g * g;
    w[i] -= rate * g / __builtin_sqrtf(squares[i]);
  }
}

template <class W>
SPANLOOM_INLINE void add_scaled_of(double factor, const float* x, std::size_t n, double* y) {
  using Vector = typename W::Vector;
  std::size_t i = 0;
  for (; i + kSize<Vector> <= n; i += kSize<Vector>) {
    Vector value, sum;
    load(x + i, value);
    load(y + i, sum);
    store<Vector>(sum + factor * value, y + i);
  }
  for (; i < n; ++i) y[i] += factor * static_cast<double>(x[i]);
}

}  // namespace

SPANLOOM_KERNEL(void, exp_all, (double* x, std::size_t n), (x, n))
SPANLOOM_KERNEL(void, gather_rows,
                (const float* weights, std::size_t stride, const std::int64_t* row_ptr,
                 std::span<const std::uint32_t> ids, const float* values, std::size_t first, std::size_t last,
                 double* out),
                (weights, stride, row_ptr, ids, values, first, last, out))
SPANLOOM_KERNEL(void, vector_matrix,
                (const double* vector, const double* matrix, std::size_t rows, std::size_t stride, double* out),
                (vector, matrix, rows, stride, out))
SPANLOOM_KERNEL(void, add_outers,
                (const double* left, const double* right, std::size_t n, std::size_t rows, std::size_t stride,
                 double* matrix),
                (left, right, n, rows, stride, matrix))
SPANLOOM_KERNEL(double, sum, (const double* x, std::size_t n), (x, n))
SPANLOOM_KERNEL(double, multiply_sum, (const double* a, const double* b, std::size_t n, double* out), (a, b, n, out))
SPANLOOM_KERNEL(void, max_step,
                (const double* previous, const double* matrix, const double* scores, std::size_t rows,
                 std::size_t stride, double* best, std::int32_t* back),
                (previous, matrix, scores, rows, stride, best, back))
SPANLOOM_KERNEL(double, dot, (const double* a, const double* b, std::size_t n), (a, b, n))
SPANLOOM_KERNEL(double, dot, (const float* a, const double* b, std::size_t n), (a, b, n))
SPANLOOM_KERNEL(void, add_dots,
                (const float* a, const float* b, const float* c, const double* d, std::size_t n, double* sums),
                (a, b, c, d, n, sums))
SPANLOOM_KERNEL(void, adagrad_step,
                (const float* d, float value, float decay, float rate, std::size_t n, float* w, float* squares),
                (d, value, decay, rate, n, w, squares))
SPANLOOM_KERNEL(void, add_scaled, (double factor, const float* x, std::size_t n, double* y), (factor, x, n, y))

}  // namespace spanloom::kernels
