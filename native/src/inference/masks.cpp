#include "spanloom/inference/masks.hpp"

#include <stdexcept>
#include <string>

#include "spanloom/inference/structures.hpp"

namespace spanloom {

void Masks::check(std::span<const std::int64_t> site_ptr, const Structure& structure) const {
  if (ptr.empty() && values.empty()) return;
  const std::size_t groups = check_pointers("Masks", ptr, values.size(), site_ptr);
  for (std::size_t g = 0; g < groups; ++g) {
    const auto size = static_cast<std::size_t>(ptr[g + 1] - ptr[g]);
    if (size > 0) check_mask(structure, {static_cast<std::size_t>(site_ptr[g + 1] - site_ptr[g]), g}, size);
  }
}

void check_mask(const Structure& structure, Unit unit, std::size_t size) {
  const std::size_t rows = structure.choices(unit);
  if (size != rows * structure.columns()) {
    throw std::invalid_argument("[Structure] a mask of " + std::to_string(size) + " choices for sentence " +
                                std::to_string(unit.number) + ", which has " + std::to_string(rows) + " times " +
                                std::to_string(structure.columns()));
  }
}

}  // namespace spanloom
