#pragma once
#include <memory>
#include <span>
#include <vector>

#include "spanloom/learning/feature_source.hpp"
#include "spanloom/learning/objective.hpp"
#include "spanloom/learning/structured_loss.hpp"

namespace spanloom {

// The negative log-likelihood of what is known of sentences, by the weights of features: a FeatureSource gives the
// scores, a StructuredLoss the loss and its derivatives by score.
class Likelihood final : public Objective {
 public:
  // Objectives over the same features share `x`.
  // observed: only (feature, column) pairs that the annotated structures have get a weight, as CRFsuite does by
  // default; x must have no bundles then, and the supervision no masks, or std::invalid_argument is thrown.
  Likelihood(std::shared_ptr<const CompressedRows> x, std::shared_ptr<const Structure> structure,
             Supervision supervision, Tying site_tying, Tying global_tying, bool observed, int threads);

  // Only these (feature, column) pairs get a weight: columns[ptr[f] .. ptr[f + 1]) for feature f. Features that were
  // merged must have the same ones, or std::invalid_argument is thrown.
  Likelihood(std::shared_ptr<const CompressedRows> x, std::shared_ptr<const Structure> structure,
             Supervision supervision, const Layout::Support& pairs, Tying global_tying, int threads);

  std::size_t size() const override { return source_.size(); }
  double evaluate(std::span<const double> x, std::span<double> gradient) override;
  // The same by parameters that blocks of sentences share, rows of classes and then the global ones; derivatives are
  // added to the gradient. Throws std::invalid_argument where sizes do not fit.
  double evaluate(const SharedRows& shared, std::span<const float> x, std::span<float> gradient);

  // See FeatureSource.
  std::vector<float> weights(std::span<const double> x) const;
  std::vector<double> global_weights(std::span<const double> x) const;
  std::vector<double> parameters(std::span<const float> weights, std::span<const double> global) const {
    return source_.parameters(weights, global);
  }
  bool convex() const { return loss_.supervision().masks.empty(); }
  std::vector<double> pair_weights(std::span<const double> x) const;
  std::size_t classes() const { return source_.classes(); }
  std::size_t features() const { return source_.features(); }
  std::size_t sparse_classes() const { return source_.sparse_classes(); }

 private:
  void check(std::size_t parameters) const;
  double loss(std::vector<double>& global_gradient);  // at the parameters that were loaded

  StructuredLoss loss_;
  FeatureSource source_;
};

}  // namespace spanloom
