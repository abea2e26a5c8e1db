#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/inference/structure.hpp"

namespace spanloom {

// The masks of many sentences, see Solver. A sentence without numbers has none: everything is allowed.
struct Masks {
  std::vector<std::int64_t> ptr;  // [sentences + 1], or empty: no sentence has a mask
  std::vector<std::uint8_t> values;

  bool empty() const { return values.empty(); }
  // The mask of a sentence, or null.
  const std::uint8_t* of(std::size_t g) const {
    return ptr.empty() || ptr[g] == ptr[g + 1] ? nullptr : values.data() + ptr[g];
  }

  // Throws std::invalid_argument, with the values, unless they fit sentences with the sites
  // [site_ptr[g], site_ptr[g + 1]).
  void check(std::span<const std::int64_t> site_ptr, const Structure& structure) const;
};

// Throws std::invalid_argument unless a mask of `size` numbers fits the sentence.
void check_mask(const Structure& structure, Unit unit, std::size_t size);

}  // namespace spanloom
