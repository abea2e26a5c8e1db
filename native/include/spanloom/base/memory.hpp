#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#define SPANLOOM_INLINE inline __attribute__((always_inline))

namespace spanloom {

// Asks for memory that is read soon; any address will do. It and what calls it for nothing else must be inlined: gcc
// takes a function that only fetches for one without effect, and drops the calls.
SPANLOOM_INLINE void prefetch(const void* address) { __builtin_prefetch(address); }

// Memory for big arrays that are read in random order: on Linux it asks for pages of 2 MiB, as with small pages the
// processor spends more time on finding the page than on reading the number. Everywhere else it is ordinary memory.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{1} << 21;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) noexcept {}  // NOLINT(google-explicit-constructor): allocators convert

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = n * sizeof(T);
    const bool large = bytes >= kPage;
    // aligned_alloc wants a multiple of the alignment.
    void* memory = large ? std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage) : std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
    if (large) madvise(memory, bytes, MADV_HUGEPAGE);  // only a hint: it may fail
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }

  template <class U>
  bool operator==(const LargePages<U>&) const noexcept {
    return true;
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace spanloom
