#include "spanloom/base/row_kernels.hpp"

#include "vectors.hpp"

namespace spanloom::kernels {
namespace {

// Calls body(vector's place) for all whole vectors of a row, then rest(place) for what is left.
template <class W, class Body, class Rest>
SPANLOOM_INLINE void along(std::size_t columns, const Body& body, const Rest& rest) {
  std::size_t k = 0;
  for (; k + kSize<typename W::Vector> <= columns; k += kSize<typename W::Vector>) body(k);
  for (; k < columns; ++k) rest(k);
}

template <class W>
SPANLOOM_INLINE void narrow_rows_of(const double* from, const double* factor, std::size_t rows, std::size_t columns,
                                    std::size_t stride, float* to) {
  using Vector = typename W::Vector;
  using Single = typename W::Single;
  for (std::size_t r = 0; r < rows; ++r, from += columns, to += stride) {
    const double scale = factor != nullptr ? factor[r] : 1.0;
    along<W>(
        columns,
        [&](std::size_t k) __attribute__((always_inline)) {
          Vector value;
          load(from + k, value);
          const Single single = __builtin_convertvector(scale * value, Single);
          std::memcpy(to + k, &single, sizeof single);
        },
        [&](std::size_t k) __attribute__((always_inline)) { to[k] = static_cast<float>(scale * from[k]); });
  }
}

template <class W>
SPANLOOM_INLINE void scale_rows_of(const double* from, const double* factor, std::size_t rows, std::size_t columns,
                                   std::size_t stride, double* to) {
  using Vector = typename W::Vector;
  for (std::size_t r = 0; r < rows; ++r, from += stride, to += columns) {
    const double scale = factor[r];
    along<W>(
        columns,
        [&](std::size_t k) __attribute__((always_inline)) {
          Vector value;
          load(from + k, value);
          store<Vector>(scale * value, to + k);
        },
        [&](std::size_t k) __attribute__((always_inline)) { to[k] = scale * from[k]; });
  }
}

}  // namespace

SPANLOOM_KERNEL(void, narrow_rows,
                (const double* from, const double* factor, std::size_t rows, std::size_t columns, std::size_t stride,
                 float* to),
                (from, factor, rows, columns, stride, to))
SPANLOOM_KERNEL(void, scale_rows,
                (const double* from, const double* factor, std::size_t rows, std::size_t columns, std::size_t stride,
                 double* to),
                (from, factor, rows, columns, stride, to))

}  // namespace spanloom::kernels
