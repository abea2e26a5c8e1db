#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "spanloom/base/kernels.hpp"
#include "spanloom/base/memory.hpp"

// Every kernel is a template over the vectors that it computes with. It is compiled for vectors of two doubles, and on
// x86-64 once more for those of four, with AVX2 and FMA; the processor decides which of them runs.
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
inline const bool kWide = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && std::getenv("SPANLOOM_NARROW") == nullptr;
}();
#endif

template <class V>
inline constexpr std::size_t kSize = sizeof(V) / sizeof(double);

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

}  // namespace spanloom::kernels
