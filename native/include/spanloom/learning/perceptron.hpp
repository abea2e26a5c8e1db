#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "spanloom/base/random.hpp"
#include "spanloom/base/sparse.hpp"
#include "spanloom/inference/structure.hpp"
#include "spanloom/learning/supervision.hpp"

namespace spanloom {

// The averaged structured perceptron: after each sentence whose best structure is wrong, the features of the gold
// structure gain 1 and those of the found one lose 1. The result is the mean of the weights after every sentence.
class Perceptron {
 public:
  // Throws std::invalid_argument unless every sentence is supervised by one structure of weight 1.
  Perceptron(SparseRows rows, std::shared_ptr<const Structure> structure, Supervision supervision, std::uint64_t seed);

  // Visits every sentence once, in random order; returns the number of wrong ones.
  std::size_t epoch();

  // Averages so far: [features, columns] and [global cells].
  std::vector<float> weights() const;
  std::vector<double> global_weights() const;

 private:
  void update(std::size_t group, std::int32_t cell, double by);

  SparseRows rows_;
  std::shared_ptr<const Structure> structure_;
  Structures gold_;
  Random random_;
  std::size_t columns_;
  std::size_t stride_;
  double seen_ = 1;               // sentences visited, plus one
  std::vector<float> weights_;    // [features, stride]
  std::vector<double> weighted_;  // [features, stride]: sum of change * time of change
  std::vector<double> global_;
  std::vector<double> global_weighted_;
};

}  // namespace spanloom
