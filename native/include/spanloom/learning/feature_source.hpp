#pragma once
#include <memory>
#include <span>
#include <vector>

#include "spanloom/base/memory.hpp"
#include "spanloom/learning/compressed.hpp"
#include "spanloom/learning/layout.hpp"

namespace spanloom {

// Scores from sparse features, and back:
//
//   scores[site, k] = sum over active f of W[f, k],   gradient by W = X^T (gradient by scores)
//
// Parameters: the weights of merged features (see CompressedRows and Layout), then the global ones.
class FeatureSource {
 public:
  // support: null, or which (class, column) pairs have a weight.
  FeatureSource(std::shared_ptr<const CompressedRows> x, std::size_t columns, std::size_t stride,
                std::size_t global_cells, Tying site_tying, Tying global_tying, const Layout::Support* support,
                int threads);

  FeatureSource(const FeatureSource&) = delete;
  FeatureSource& operator=(const FeatureSource&) = delete;

  std::size_t size() const { return layout_.size() + global_params_; }
  const std::vector<std::int64_t>& site_ptr() const { return x_.rows.group_ptr; }

  // Makes scores() and global() those of these parameters.
  void load(std::span<const double> params);
  // The same for shared parameters: rows of classes, then the global ones.
  void load(const SharedRows& shared, std::span<const float> params);
  void scores(std::size_t first, std::size_t last, double* out) const { layout_.scores(first, last, out); }
  const std::vector<double>& global() const { return global_; }

  // Takes the derivatives by the scores of sites [first, last), rows padded to the stride.
  void take(std::size_t first, std::size_t last, const double* gradient);
  // Sets the gradient by parameters, once all sites were taken.
  void backward(std::span<const double> global_gradient, std::span<double> gradient);
  // Adds it to the gradient by shared parameters.
  void backward(std::span<const double> global_gradient, const SharedRows& shared, std::span<float> gradient);

  // The weights that parameters stand for: [features, columns] for every feature of the original matrix.
  std::vector<float> weights(std::span<const double> params) const;
  std::vector<double> global_weights(std::span<const double> params) const;
  // With a support, untied: the weights of its pairs, feature after feature, those of a feature by ascending column.
  std::vector<double> pair_weights(std::span<const double> params) const;

  // The parameters that stand for weights [features, parameter columns] and global parameters, or come nearest to
  // them: features of one class have one weight, their mean.
  std::vector<double> parameters(std::span<const float> weights, std::span<const double> global) const;

  std::size_t width() const { return layout_.width(); }  // parameters of a class, without a support
  std::size_t global_parameters() const { return global_params_; }
  std::size_t classes() const { return x_.classes(); }
  std::size_t features() const { return x_.class_of.size(); }
  std::size_t sparse_classes() const { return layout_.sparse_classes(); }

 private:
  std::shared_ptr<const CompressedRows> shared_;
  const CompressedRows& x_;  // *shared_
  Tying global_tying_;
  std::size_t columns_;
  std::size_t stride_;
  std::size_t global_params_;
  Layout layout_;
  std::vector<double> global_;
  LargeVector<float> difference_;  // [sites, then bundles; stride]: derivatives by scores
};

}  // namespace spanloom
