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

  // Where the cells of a sentence are: site cells in a table of `stride` numbers a site, of which `columns` are used.
  struct Place {
    std::size_t sites, columns, stride;
  };
  // Subtracts the structure of sentence g from its expectations; returns the score of the structure.
  double subtract(std::size_t g, Place place, const double* scores, const double* global, double* expected,
                  double* global_expected) const;
};

}  // namespace spanloom
