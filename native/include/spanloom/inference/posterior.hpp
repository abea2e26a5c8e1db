#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/inference/chain.hpp"

namespace spanloom {

// What a chain believes of one sentence, in dense rows: the kernel of Trellis for the probabilities of mentions.
//
//   alpha[t, y]  scaled sum of the paths that end in y at t; every row sums to 1
//   local[t, y]  exp(scores[t, y]), scaled such that alpha[t] = (alpha[t - 1] · potential) ∘ local[t]
//   beta[t, y]   sum of what follows y at t, scaled such that P(y_t = y) = alpha[t, y] · beta[t, y]
//
// A mention is followed as mass on columns, in the scale of alpha: m ∘ beta[t] is a probability at every site. It has
// buffers: one for each thread. Absolute errors stay below 1e-15; what doubles cannot hold this way is refused.
class ChainPosterior {
 public:
  // transitions: [columns * columns], from * columns + to.
  ChainPosterior(const ChainStructure& structure, std::span<const double> transitions);

  // Takes the scores of a sentence: `sites` rows, `stride` apart. False if scaled doubles do not hold them: ask a
  // Trellis then.
  bool read(const double* scores, std::size_t sites, std::size_t stride);

  std::size_t columns() const { return columns_; }
  std::size_t stride() const { return stride_; }
  std::size_t sites() const { return sites_; }
  const double* alpha(std::size_t t) const { return &alpha_[t * stride_]; }
  const double* beta(std::size_t t) const { return &beta_[t * stride_]; }
  const double* local(std::size_t t) const { return &local_[t * stride_]; }
  const std::vector<double>& potential() const { return potential_; }  // [columns, stride]

 private:
  std::size_t columns_, stride_;
  std::size_t sites_ = 0;
  std::vector<double> potential_, reversed_;  // [columns, stride]: exp(transition - highest), and its transpose
  std::vector<double> start_, end_;           // [stride]
  std::vector<double> alpha_, beta_, local_;  // [sites, stride]
  std::vector<double> step_;
};

}  // namespace spanloom
