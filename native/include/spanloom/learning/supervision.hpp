#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/inference/masks.hpp"
#include "spanloom/inference/structure.hpp"
#include "spanloom/inference/structures.hpp"

namespace spanloom {

// What is known of each sentence, and the loss that follows from it:
//
//   one structure        log Z - score(structure)
//   soft targets q       log Z - sum over cells of q[cell] * score[cell]: expected uses that a teacher gives
//   a mask               log Z - log Z(allowed): some structure that the mask allows
//
// times the weight of the sentence. A structure is soft targets of 1.
struct Supervision {
  Structures structures;        // no cells for sentences with a mask
  std::vector<double> values;   // [cells]: q, or empty: 1 everywhere
  Masks masks;                  // by sentence, or none
  std::vector<double> weights;  // [sentences], at least 0, or empty: 1 everywhere

  std::size_t size() const { return structures.ptr.size() - 1; }
  double weight(std::size_t g) const { return weights.empty() ? 1.0 : weights[g]; }

  // Throws std::invalid_argument, with the values, unless all fits sentences with the sites
  // [site_ptr[g], site_ptr[g + 1]).
  void check(std::span<const std::int64_t> site_ptr, const Structure& structure) const;

  // Subtracts the targets of sentence g from its expectations; returns their score.
  double subtract(std::size_t g, const Structure& structure, std::size_t sites, const double* scores,
                  const double* global, double* expected, double* global_expected) const;
};

}  // namespace spanloom
