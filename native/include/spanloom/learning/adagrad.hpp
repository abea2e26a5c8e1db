#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "spanloom/base/random.hpp"
#include "spanloom/base/sparse.hpp"
#include "spanloom/inference/structure.hpp"
#include "spanloom/learning/supervision.hpp"

namespace spanloom {

// Stochastic maximum likelihood with a step for every weight (Duchi, Hazan & Singer 2011): after each sentence,
//
//   G += g^2 (from G = damping),  w -= rate * g / sqrt(G),   g = d/dw (loss of the sentence) + (2 l2 / n) w
//
// for the weights of its features, n being how often a feature occurs: over all sentences, the penalty is l2 |w|^2.
// Sentences of weight 0 are not visited.
class Adagrad {
 public:
  Adagrad(SparseRows rows, std::shared_ptr<const Structure> structure, Supervision supervision, double l2, double rate,
          double damping, std::uint64_t seed);

  // Visits every sentence of weight above 0 once, in random order; returns the sum of their losses, each before its
  // step.
  double epoch();

  // [features, columns] and [global cells].
  std::vector<float> weights() const;
  const std::vector<double>& global_weights() const { return global_; }

 private:
  SparseRows rows_;
  std::shared_ptr<const Structure> structure_;
  Supervision supervision_;
  Random random_;
  std::size_t columns_;
  std::size_t stride_;
  float rate_;
  double global_decay_;         // 2 l2 / sentences
  std::vector<float> decay_;    // [features]: 2 l2 / n
  std::vector<float> weights_;  // [features, stride]
  std::vector<float> squares_;  // [features, stride]: G
  std::vector<double> global_;
  std::vector<double> global_squares_;
};

}  // namespace spanloom
