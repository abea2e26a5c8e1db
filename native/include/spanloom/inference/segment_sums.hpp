#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "spanloom/inference/lattice.hpp"

namespace spanloom {

// Scores of rows to scores of segments, and probabilities of segments back to those of rows. What segments share is
// added up once: O(rows + segments) vectors, however long the segments are.
class SegmentSums {
 public:
  explicit SegmentSums(std::size_t stride) : stride_(stride), running_(stride) {}

  // values of segment s with every column, padded to the stride
  double* operator[](std::int32_t segment) { return &values_[at(segment)]; }
  const double* operator[](std::int32_t segment) const { return &values_[at(segment)]; }

  // Sets the values of all segments to the sums of their rows; scores: [rows, stride].
  void add_up(const Lattice& lattice, const double* scores);

  // The transpose: sets expected[row] to the sum of the values of the segments that read it.
  void spread(const Lattice& lattice, double* expected);

 private:
  std::size_t at(std::int32_t row) const { return static_cast<std::size_t>(row) * stride_; }
  void add(const double* from, double* to) const {
    for (std::size_t y = 0; y < stride_; ++y) to[y] += from[y];
  }

  std::size_t stride_;
  std::vector<double> values_, running_;
};

}  // namespace spanloom
