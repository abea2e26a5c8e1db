#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/base/random.hpp"
#include "spanloom/inference/attribute_tagger.hpp"
#include "spanloom/learning/chain_features.hpp"

namespace spanloom {

// First-order chains over ready attributes, learned one sequence after the other, with CRFsuite's rules. Let D be the
// features of the annotated labels minus those of the best ones, d the number of wrong labels, and
// err = score(best) - score(annotated). After a sequence with d > 0:
//
//   perceptron           w += D                     averaged over all sequences seen (Collins 2002)
//   passive-aggressive   w += tau D                 tau from (err + sqrt(d) or 1) / |D|^2 (Crammer et al. 2006)
//   AROW                 w += alpha S D             S the diagonal covariance (Mejer & Crammer 2010)
//
// and stochastic gradient descent on the regularised likelihood (Pegasos: Shalev-Shwartz et al. 2007) after each:
//   w = (1 - eta lambda) w - eta g,   eta = 1 / (lambda (t0 + t)).
class OnlineChain {
 public:
  struct Aggressive {
    int type = 1;                 // 0: no slack, 1: PA-I, 2: PA-II
    double c = 1;                 // the most that one sequence may do
    bool error_sensitive = true;  // err + sqrt(d), else err + 1
  };

  OnlineChain(AttributeSequences data, ChainFeatures features, std::uint64_t seed);

  std::size_t sequences() const { return data_.groups(); }
  std::size_t size() const { return features_.size(); }

  // All weights 0 (and variances `variance`), as if nothing had been seen. The order of sequences stays.
  void reset(double variance);
  // Draws a new order of the sequences.
  void shuffle();

  // Visit every sequence in the order of the last shuffle; return the sum of the losses as CRFsuite defines them.
  double perceptron();
  double passive_aggressive(const Aggressive& how);
  double arow(double gamma);
  // The same for the first `count` sequences; `seen` have been seen before. The loss has the penalty.
  double descend(std::size_t count, double lambda, double t0, double seen);
  // The loss of the first `count` sequences at w = 0 … whatever w is now, without the penalty.
  double loss(std::size_t count) const;

  const std::vector<double>& weights() const { return weights_; }
  std::vector<double> averaged() const;

 private:
  double score(std::span<const std::int32_t> labels, const std::vector<double>& table) const;
  void transitions(double scale, std::vector<double>& out) const;
  // Calls visit(feature, value) for the features of a sequence with these labels.
  template <class Visit>
  void each_feature(std::size_t group, std::span<const std::int32_t> labels, Visit visit) const;
  // Calls update(group, wrong, err) for each sequence whose best labels are wrong, with D in delta_ and active_.
  template <class Update>
  void correct(Update update);
  void collect(std::size_t group, std::span<const std::int32_t> labels, double by);
  std::span<const std::int32_t> annotated(std::size_t group) const;

  AttributeSequences data_;
  ChainFeatures features_;
  ChainStructure structure_;
  Random random_;
  std::vector<std::size_t> order_;
  double seen_ = 1;                  // sequences visited, plus one
  std::vector<double> weights_;      // [features]
  std::vector<double> weighted_;     // [features]: sum of change * time of change
  std::vector<double> variances_;    // [features]
  std::vector<double> delta_;        // [features]: D
  std::vector<std::uint8_t> used_;   // [features]: whether in active_
  std::vector<std::size_t> active_;  // where D may differ from 0
};

}  // namespace spanloom
