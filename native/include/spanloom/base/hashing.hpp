#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "spanloom/base/memory.hpp"

namespace spanloom {

// "No such value or feature."
inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// Folds the 128-bit product of a and b: every bit of the result depends on every bit of both.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t mix(std::uint64_t x) { return fold(x ^ 0x9E3779B97F4A7C15u, 0xD1B54A32D192ED03u); }

inline std::uint64_t hash_bytes(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t h = 0x8CB92BA72F3D8DD7u ^ left;
  std::uint64_t word = 0;
  for (; left >= 8; at += 8, left -= 8) {
    std::memcpy(&word, at, 8);
    h = fold(h ^ word, 0x9FB21C651E98DF25u);
  }
  if (left > 0) {
    word = 0;
    std::memcpy(&word, at, left);
    h = fold(h ^ word, 0xE7037ED1A0B428DBu);
  }
  return mix(h);
}

// An open-addressing map from 64-bit tags to ids. A tag is either a whole key (then equal tags are equal keys) or a
// hash of one; `same(id)` tells whether the key behind an id is the one sought, so that lookups are exact either way.
class HashSlots {
 public:
  template <class Same>
  std::uint32_t find(std::uint64_t tag, Same same) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = mix(tag) & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.id == kNone) return kNone;
      if (slot.tag == tag && same(slot.id)) return slot.id;
    }
  }

  // Asks for the memory that find(tag, …) will read, so that several lookups can wait for memory at the same time.
  SPANLOOM_INLINE void prefetch(std::uint64_t tag) const {
    if (!slots_.empty()) spanloom::prefetch(&slots_[mix(tag) & mask_]);
  }

  // The caller has made sure that the key is not there yet.
  void insert(std::uint64_t tag, std::uint32_t id) {
    if (2 * (used_ + 1) > slots_.size()) grow(slots_.empty() ? 16 : 2 * slots_.size());
    place(tag, id);
    ++used_;
  }

  // Makes room for n keys, so that inserting them does not move the slots again.
  void reserve(std::size_t n) {
    std::size_t size = 16;
    while (size < 2 * n) size *= 2;
    if (size > slots_.size()) grow(size);
  }

 private:
  struct Slot {
    std::uint64_t tag = 0;
    std::uint32_t id = kNone;
  };

  void place(std::uint64_t tag, std::uint32_t id) {
    std::size_t at = mix(tag) & mask_;
    while (slots_[at].id != kNone) at = (at + 1) & mask_;
    slots_[at] = {tag, id};
  }

  void grow(std::size_t size) {
    LargeVector<Slot> old(size);
    old.swap(slots_);
    mask_ = size - 1;
    for (const Slot& slot : old) {
      if (slot.id != kNone) place(slot.tag, slot.id);
    }
  }

  LargeVector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t used_ = 0;
};

}  // namespace spanloom
