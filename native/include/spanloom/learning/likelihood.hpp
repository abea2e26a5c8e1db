#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/base/memory.hpp"
#include "spanloom/inference/structure.hpp"
#include "spanloom/inference/structures.hpp"
#include "spanloom/learning/compressed.hpp"
#include "spanloom/learning/layout.hpp"
#include "spanloom/learning/objective.hpp"

namespace spanloom {

// The negative log-likelihood of annotated structures:
//
//   f = sum over sentences of log Z(scores) - score(gold),   scores[site, k] = sum over active f of W[f, k]
//
// Parameters: the weights of merged features (see CompressedRows and Layout), then the global ones. The gradient is
// X^T (expected - gold).
class Likelihood final : public Objective {
 public:
  // Objectives over the same features share `x`.
  // observed: only (feature, column) pairs that the gold has get a weight, as CRFsuite does by default; x must have no
  // bundles then, or std::invalid_argument is thrown.
  Likelihood(std::shared_ptr<const CompressedRows> x, std::shared_ptr<const Structure> structure, Structures gold,
             Tying site_tying, Tying global_tying, bool observed, int threads);

  std::size_t size() const override { return layout_.size() + global_params_; }
  double evaluate(std::span<const double> x, std::span<double> gradient) override;

  // The weights that parameters x stand for: [features, columns] for every feature of the original matrix.
  std::vector<float> weights(std::span<const double> x) const;
  std::vector<double> global_weights(std::span<const double> x) const;

  std::size_t classes() const { return x_.classes(); }
  std::size_t features() const { return x_.class_of.size(); }
  std::size_t sparse_classes() const { return layout_.sparse_classes(); }

 private:
  struct Shard {
    std::size_t first = 0;  // sentences
    std::size_t last = 0;
  };

  void make_shards();
  double run_sentences(std::span<const double> x, std::span<double> gradient);

  std::shared_ptr<const CompressedRows> shared_;
  const CompressedRows& x_;  // *shared_
  std::shared_ptr<const Structure> structure_;
  Structures gold_;
  Tying global_tying_;
  int threads_;
  std::size_t columns_;
  std::size_t stride_;
  std::size_t global_params_;
  Layout layout_;
  std::vector<Shard> shards_;
  LargeVector<float> difference_;  // [sites, then bundles; stride]: expected - gold
};

}  // namespace spanloom
