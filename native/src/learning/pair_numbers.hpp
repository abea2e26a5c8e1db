#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "spanloom/base/memory.hpp"

// Two symbols side by side, and tables that count them.
namespace spanloom::bundling {

constexpr std::uint32_t kFewestUses = 4;  // of a pair: with fewer, writing its sum costs what it saves
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

using Pair = std::uint64_t;
inline Pair pair_of(const std::uint32_t* ids) { return std::uint64_t{ids[0]} << 32 | ids[1]; }
inline std::array<std::uint32_t, 2> symbols_of(Pair pair) {
  return {static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair)};
}
inline std::uint64_t hash(Pair pair) { return pair * 0x9e3779b97f4a7c15ULL; }

// Counts how often pairs are seen, or more where two share a counter: what is rare here is rare. Threads may count at
// the same time if the top bits of their hashes differ.
class PairFilter {
 public:
  explicit PairFilter(std::size_t pairs)
      : shift_(64 - std::clamp(static_cast<int>(std::bit_width(pairs)), 10, 28)),
        counters_(std::size_t{1} << (64 - shift_), 0) {}

  void count(Pair pair) {
    std::uint8_t& counter = counters_[hash(pair) >> shift_];
    counter = static_cast<std::uint8_t>(counter + (counter < kFewestUses));
  }
  SPANLOOM_INLINE void fetch(Pair pair) const { prefetch(&counters_[hash(pair) >> shift_]); }
  bool often(Pair pair) const { return counters_[hash(pair) >> shift_] >= kFewestUses; }

 private:
  int shift_;
  LargeVector<std::uint8_t> counters_;
};

// Numbers pairs in the order in which they are first seen, and counts them.
class PairNumbers {
 public:
  struct Place {
    Pair pair;
    std::uint64_t first;  // the entry where it was first seen
    std::uint32_t number;
    std::uint32_t count;
  };

  PairNumbers() : table_(std::size_t{1} << bits_) {}

  std::uint32_t size() const { return size_; }

  SPANLOOM_INLINE void fetch(Pair pair) const { prefetch(&table_[slot(pair)]); }

  // Counts a pair that is seen at an entry, and returns its number.
  std::uint32_t add(Pair pair, std::uint64_t entry) {
    Place* place = find(pair);
    if (place->count == 0) {
      if (2 * (std::size_t{size_} + 1) > table_.size()) {
        grow();
        place = find(pair);
      }
      *place = {pair, entry, size_++, 0};
    }
    place->count += place->count < kNone;
    return place->number;
  }

  // Calls body(place) for all pairs, in no order.
  template <class Body>
  void each(const Body& body) const {
    for (const Place& place : table_) {
      if (place.count > 0) body(place);
    }
  }

 private:
  // Not by the top bits of the hash, which tell threads apart.
  std::size_t slot(Pair pair) const { return (hash(pair) << 8) >> (64 - bits_); }

  // Where the pair is, or the empty place where it belongs.
  Place* find(Pair pair) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = slot(pair);
    while (table_[at].count > 0 && table_[at].pair != pair) at = (at + 1) & mask;
    return &table_[at];
  }

  void grow() {
    LargeVector<Place> old(std::size_t{1} << ++bits_);
    old.swap(table_);
    for (const Place& place : old) {
      if (place.count > 0) *find(place.pair) = place;
    }
  }

  int bits_ = 12;
  std::uint32_t size_ = 0;
  LargeVector<Place> table_;
};

}  // namespace spanloom::bundling
