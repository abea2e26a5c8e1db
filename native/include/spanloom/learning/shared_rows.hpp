#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace spanloom {

// The parameters of a block of sentences as they follow from those that all blocks share.
//
// Shared parameters are rows of numbers, one row for each class of features. The block has rows of its own, each made
// of one or more shared ones: own[c] = the sum of factor[i] * shared[row[i]] over i in [ptr[c], ptr[c + 1]). By the
// chain rule, gradient row to[i] gets factor[i] times the derivative by own[c]; it is another number where the gradient
// has fewer rows than there are shared ones.
class SharedRows {
 public:
  // own_row, row, factor, to: as many numbers each, in any order; no number of `to` twice. own_rows: rows of the block.
  // Throws std::invalid_argument where sizes do not fit.
  SharedRows(std::size_t own_rows, std::span<const std::uint32_t> own_row, std::span<const std::uint32_t> row,
             std::span<const double> factor, std::span<const std::uint32_t> to);

  std::size_t own_rows() const { return ptr_.size() - 1; }

  // Throws std::invalid_argument unless x and gradient have all rows of `width` numbers that are named, and `behind`
  // numbers after their rows.
  void check(std::span<const float> x, std::span<const float> gradient, std::size_t width, std::size_t behind) const;

  // out = own[c], from shared rows of `width` numbers.
  void read(std::size_t c, const float* shared, std::size_t width, double* out) const;
  // Adds what the derivatives by own[c] give to the gradient.
  void add(std::size_t c, const double* own, std::size_t width, float* gradient) const;

 private:
  struct Entry {
    double factor;
    std::uint32_t row;
    std::uint32_t to;
  };
  std::vector<std::int64_t> ptr_;  // [own rows + 1]
  std::vector<Entry> entries_;
  std::size_t rows_ = 0;           // the highest number of `row`, and one
  std::size_t gradient_rows_ = 0;  // of `to`
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
