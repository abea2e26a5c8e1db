#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/learning/objective.hpp"

namespace spanloom {

// The parameters of a block of sentences as they follow from those that all blocks share.
//
// Shared parameters are rows of `width` numbers. The objective of a block has rows of its own, each made of one or more
// shared rows: own[own_row[i]] = the sum of factor[i] * shared[row[i]] over those i. Behind the rows stand parameters
// that are the same on both sides.
struct SharedRows {
  std::span<const std::uint32_t> row;      // [rows of the block]: numbers of shared rows
  std::span<const std::uint32_t> own_row;  // [rows of the block]: rows of the objective
  std::span<const double> factor;          // [rows of the block]
  std::size_t width = 0;

  // Returns the objective at the shared parameters x: rows, then `behind` further ones. Adds the derivatives to
  // gradient, which is as long as x; rows that the block has not stay as they are. Throws std::invalid_argument where
  // sizes do not fit.
  double evaluate(Objective& objective, std::span<const float> x, std::size_t behind, std::span<float> gradient) const;
};

// Some rows of numbers, the numbers of the rows ascending, and further numbers behind them.
struct SomeRows {
  std::vector<std::uint32_t> row;
  std::vector<float> values;
};

// The sum: rows that only one of them has are as they are. Throws std::invalid_argument where sizes do not fit.
SomeRows add(std::span<const std::uint32_t> row, std::span<const float> values,
             std::span<const std::uint32_t> other_row, std::span<const float> other_values, std::size_t width);

}  // namespace spanloom
