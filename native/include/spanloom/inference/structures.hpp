#pragma once
#include <cstddef>
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

// Throws std::invalid_argument, with the name of what they belong to, unless `ptr` cuts `size` values into pieces for
// the sentences of `site_ptr`. Returns the number of sentences.
std::size_t check_pointers(const char* name, std::span<const std::int64_t> ptr, std::size_t size,
                           std::span<const std::int64_t> site_ptr);

}  // namespace spanloom
