#include <algorithm>

#include "spanloom/base/kernels.hpp"
#include "spanloom/base/memory.hpp"
#include "vectors.hpp"

namespace spanloom::kernels {
namespace {

constexpr std::size_t kAhead = 32;  // entries between the prefetch of a weight row and its use

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

template <class W, class A>
SPANLOOM_INLINE double dot_of(const A* a, const double* b, std::size_t n) {
  constexpr std::size_t kWidth = 16;
  Columns<W, kWidth> sums;
  std::size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    Columns<W, kWidth> x, y;
    x.read(a + i);
    y.read(b + i);
    sums.add_product(x, y);
  }
  double total = sums.sum();
  for (; i < n; ++i) total += static_cast<double>(a[i]) * b[i];
  return total;
}

template <class W>
SPANLOOM_INLINE void add_dots_of(const float* a, const float* b, const float* c, const double* d, std::size_t n,
                                 double* sums) {
  Four<W> with_b, with_c, with_d;
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    Four<W> x, y;
    x.read(a + i);
    y.read(b + i);
    with_b.add_product(x, y);
    y.read(c + i);
    with_c.add_product(x, y);
    y.read(d + i);
    with_d.add_product(x, y);
  }
  sums[0] += with_b.sum();
  sums[1] += with_c.sum();
  sums[2] += with_d.sum();
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

SPANLOOM_KERNEL(void, gather_rows,
                (const float* weights, std::size_t stride, const std::int64_t* row_ptr,
                 std::span<const std::uint32_t> ids, const float* values, std::size_t first, std::size_t last,
                 double* out),
                (weights, stride, row_ptr, ids, values, first, last, out))
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
