#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "spanloom/base/kernels.hpp"
#include "spanloom/base/memory.hpp"

// Every kernel is a template over the vectors that it computes with. It is compiled for vectors of two doubles, and on
// x86-64 once more for those of four, with AVX2; the processor decides which of them runs. Both give the same bytes:
// sums are taken in the same order, and products are not fused with them (-ffp-contract=off in CMakeLists.txt).
#if defined(__x86_64__)
#define SPANLOOM_KERNEL(Result, name, parameters, arguments)                                          \
  namespace {                                                                                         \
  __attribute__((target("avx2"))) Result name##_wide parameters { return name##_of<Wide> arguments; } \
  }                                                                                                   \
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
  using Bits = std::uint64_t __attribute__((vector_size(16)));
  using Single = float __attribute__((vector_size(8)));
};

#if defined(__x86_64__)
struct Wide {
  using Vector = double __attribute__((vector_size(32)));
  using Mask = std::int64_t __attribute__((vector_size(32)));
  using Bits = std::uint64_t __attribute__((vector_size(32)));
  using Single = float __attribute__((vector_size(16)));
};

// SPANLOOM_NARROW, if it is set, makes this processor do what one without AVX2 does.
inline const bool kWide = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && std::getenv("SPANLOOM_NARROW") == nullptr;
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
// Puts the largest value of a vector into all its places.
template <class V>
SPANLOOM_INLINE void spread_top(V& v) {
  V other;
  if constexpr (kSize<V> == 4) {
    other = V{v[2], v[3], v[0], v[1]};
    v = v > other ? v : other;
    other = V{v[1], v[0], v[3], v[2]};
  } else {
    other = V{v[1], v[0]};
  }
  v = v > other ? v : other;
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
  SPANLOOM_INLINE void add(const Columns& other) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kVectors; ++j) vectors[j] += other.vectors[j];
  }
  SPANLOOM_INLINE void add_product(const Columns& a, const Columns& b) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kVectors; ++j) vectors[j] += a.vectors[j] * b.vectors[j];
  }
  // The sum of all columns, in the same order whatever the vectors: first of every fourth.
  SPANLOOM_INLINE double sum() const {
    constexpr std::size_t kParts = 4 / kSize<Vector>;
    Vector parts[kParts];
#pragma GCC unroll 2
    for (std::size_t j = 0; j < kParts; ++j) parts[j] = vectors[j];
#pragma GCC unroll 16
    for (std::size_t j = kParts; j < kVectors; ++j) parts[j % kParts] += vectors[j];
    if constexpr (kParts == 2) {
      const Vector both = parts[0] + parts[1];
      return both[0] + both[1];
    } else {
      return (parts[0][0] + parts[0][2]) + (parts[0][1] + parts[0][3]);
    }
  }
};

// Sums along a row, of every fourth number each.
template <class W>
using Four = Columns<W, 4>;

// Calls body(width, first column) for blocks of columns that cover a stride; width is a constant.
template <std::size_t Most, class Body>
SPANLOOM_INLINE void each_block(std::size_t stride, const Body& body) {
  std::size_t column = 0;
  if constexpr (Most >= 32) {
    for (; column + 32 <= stride; column += 32) body(std::integral_constant<std::size_t, 32>{}, column);
    if (column + 24 <= stride) {
      body(std::integral_constant<std::size_t, 24>{}, column);
      column += 24;
    }
  }
  if constexpr (Most >= 16) {
    for (; column + 16 <= stride; column += 16) body(std::integral_constant<std::size_t, 16>{}, column);
  }
  for (; column + kLane <= stride; column += kLane) body(std::integral_constant<std::size_t, kLane>{}, column);
  if (column < stride) body(std::integral_constant<std::size_t, kLane / 2>{}, column);
}

}  // namespace spanloom::kernels
