#include "spanloom/learning/feature_source.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/base/row_kernels.hpp"

namespace spanloom {

FeatureSource::FeatureSource(std::shared_ptr<const CompressedRows> x, std::size_t columns, std::size_t stride,
                             std::size_t global_cells, Tying site_tying, Tying global_tying,
                             const Layout::Support* support, int threads)
    : shared_(std::move(x)),
      x_(*shared_),
      global_tying_(std::move(global_tying)),
      columns_(columns),
      stride_(stride),
      global_params_(global_tying_.identity() ? global_cells : global_tying_.width),
      layout_(x_, columns, std::move(site_tying), support, threads),
      global_(global_cells, 0.0) {
  global_tying_.check(global_cells, "the global tying");
  difference_.assign((x_.rows.rows() + x_.bundles()) * stride_, 0.0F);
}

void FeatureSource::load(std::span<const double> params) {
  layout_.load(params.first(layout_.size()));
  global_tying_.apply(params.data() + layout_.size(), global_.size(), global_.data());
}

void FeatureSource::load(const SharedRows& shared, std::span<const float> params) {
  layout_.load(shared, params.data());
  const auto behind = params.last(global_params_);
  const std::vector<double> own(behind.begin(), behind.end());
  global_tying_.apply(own.data(), global_.size(), global_.data());
}

void FeatureSource::take(std::size_t first, std::size_t last, const double* gradient) {
  kernels::narrow_rows(gradient, nullptr, 1, (last - first) * stride_, 0, difference_.data() + first * stride_);
}

void FeatureSource::backward(std::span<const double> global_gradient, std::span<double> gradient) {
  global_tying_.apply_transposed(global_gradient.data(), global_.size(), 1.0, gradient.data() + layout_.size());
  layout_.gradient(difference_.data(), gradient.first(layout_.size()));
}

void FeatureSource::backward(std::span<const double> global_gradient, const SharedRows& shared,
                             std::span<float> gradient) {
  std::vector<double> own(global_params_);
  global_tying_.apply_transposed(global_gradient.data(), global_.size(), 1.0, own.data());
  const auto behind = gradient.last(global_params_);
  for (std::size_t k = 0; k < own.size(); ++k) behind[k] += static_cast<float>(own[k]);
  layout_.gradient(difference_.data(), shared, gradient.data());
}

std::vector<float> FeatureSource::weights(std::span<const double> params) const {
  std::vector<float> out(features() * columns_);
  std::vector<double> row(columns_);
  for (std::size_t f = 0; f < features(); ++f) {
    const std::size_t c = x_.class_of[f];
    layout_.row(params, c, row.data());
    for (std::size_t k = 0; k < columns_; ++k) out[f * columns_ + k] = static_cast<float>(row[k] / x_.scale[c]);
  }
  return out;
}

std::vector<double> FeatureSource::parameters(std::span<const float> weights, std::span<const double> global) const {
  const std::size_t width = layout_.width();
  if (weights.size() != features() * width || global.size() != global_params_) {
    throw std::invalid_argument("[FeatureSource] expected " + std::to_string(features()) + " x " +
                                std::to_string(width) + " weights and " + std::to_string(global_params_) +
                                " global ones but received " + std::to_string(weights.size()) + " and " +
                                std::to_string(global.size()));
  }
  std::vector<double> sums(classes() * width, 0.0);
  for (std::size_t f = 0; f < features(); ++f) {
    for (std::size_t k = 0; k < width; ++k) {
      sums[x_.class_of[f] * width + k] += static_cast<double>(weights[f * width + k]);
    }
  }
  std::vector<double> out(size());
  for (std::size_t c = 0; c < classes(); ++c) {
    for (std::size_t k = 0; k < width; ++k) sums[c * width + k] /= x_.scale[c];  // v = sqrt(m) w, w = sum / m
    layout_.put(c, &sums[c * width], std::span(out).first(layout_.size()));
  }
  std::copy(global.begin(), global.end(), out.begin() + static_cast<std::ptrdiff_t>(layout_.size()));
  return out;
}

std::vector<double> FeatureSource::pair_weights(std::span<const double> params) const {
  layout_.check_restricted();
  std::vector<double> out;
  for (const std::uint32_t c : x_.class_of) {
    for (const double v : layout_.owned(params, c)) out.push_back(v / x_.scale[c]);
  }
  return out;
}

std::vector<double> FeatureSource::global_weights(std::span<const double> params) const {
  std::vector<double> out(global_.size());
  global_tying_.apply(params.data() + layout_.size(), out.size(), out.data());
  return out;
}

}  // namespace spanloom
