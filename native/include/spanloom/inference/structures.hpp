#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/inference/structure.hpp"

namespace spanloom {

// The cells of one structure a sentence, numbered as in Solver: annotated or found.
struct Structures {
  std::vector<std::int64_t> ptr{0};  // [sentences + 1]
  std::vector<std::int32_t> cells;

  // Throws std::invalid_argument, with the values, unless they are cells of sentences with the sites
  // [site_ptr[g], site_ptr[g + 1]).
  void check(std::span<const std::int64_t> site_ptr, const Structure& structure) const;
};

}  // namespace spanloom
