#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace spanloom {

// Memory that begins with a cache line, for tables that are read by whole vectors: elsewhere every other vector of four
// doubles lies across two lines, and takes two reads.
template <class T>
struct Aligned {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  Aligned() = default;
  template <class U>
  Aligned(const Aligned<U>&) noexcept {}  // NOLINT(google-explicit-constructor): allocators convert

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(n * sizeof(T), kLine));
  }
  void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory, kLine); }

  template <class U>
  bool operator==(const Aligned<U>&) const noexcept {
    return true;
  }
};

template <class T>
using AlignedVector = std::vector<T, Aligned<T>>;

}  // namespace spanloom
