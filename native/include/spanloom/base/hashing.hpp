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
    for (std::size_t at = place(tag);; at = next(at)) {
      const Slot& slot = slots_[at];
      if (slot.id == kNone) return kNone;
      if (slot.holds(tag) && same(slot.id)) return slot.id;
    }
  }

  // Asks for the memory that find(tag, …) will read, so that several lookups can wait for memory at the same time.
  SPANLOOM_INLINE void prefetch(std::uint64_t tag) const {
    if (!slots_.empty()) spanloom::prefetch(&slots_[place(tag)]);
  }

  // The caller has made sure that the key is not there yet.
  void insert(std::uint64_t tag, std::uint32_t id) {
    if (room(used_ + 1) > slots_.size()) grow(slots_.empty() ? 16 : 2 * slots_.size());
    put(tag, id);
    ++used_;
  }

  // Makes room for n keys and no more, so that inserting them does not move the slots again.
  void reserve(std::size_t n) {
    if (room(n) > slots_.size()) grow(room(n));
  }

 private:
  struct Slot {
    std::uint32_t low = 0, high = 0;  // of the tag: as one number it would make a slot 16 bytes long
    std::uint32_t id = kNone;

    bool holds(std::uint64_t tag) const {
      return low == static_cast<std::uint32_t>(tag) && high == static_cast<std::uint32_t>(tag >> 32);
    }
  };

  // Slots for n keys: five of eight are used, so that what is not there is missed after three or four.
  static std::size_t room(std::size_t n) { return n + (3 * n + 4) / 5 + 1; }

  std::size_t place(std::uint64_t tag) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Wide>(mix(tag)) * slots_.size() >> 64);
  }
  std::size_t next(std::size_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }

  void put(std::uint64_t tag, std::uint32_t id) {
    std::size_t at = place(tag);
    while (slots_[at].id != kNone) at = next(at);
    slots_[at] = {static_cast<std::uint32_t>(tag), static_cast<std::uint32_t>(tag >> 32), id};
  }

  void grow(std::size_t size) {
    LargeVector<Slot> old(size);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id != kNone) put(static_cast<std::uint64_t>(slot.high) << 32 | slot.low, slot.id);
    }
  }

  LargeVector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace spanloom
