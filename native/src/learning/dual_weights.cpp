// The weights of DualAscent, from its expected uses of cells.
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"
#include "spanloom/learning/dual_ascent.hpp"

namespace spanloom {

// w = w(mu), without the roundings of many small steps.
void DualAscent::refresh() {
  square_ = 0;
  for (std::size_t t = 0; t < problems_.size(); ++t) refresh(t);
  if (!(share_ > 0)) return;
  double common = 0;
  for (std::size_t i = 0; i < cells_; ++i) {
    double sum = 0;
    for (std::size_t t = 0; t < problems_.size(); ++t) sum += global_[t * cells_ + i];
    common += sum * sum;
  }
  for (std::size_t c = 0; c < x_->classes(); ++c) {
    for (std::size_t k = 0; k < columns_; ++k) {
      double sum = 0;
      for (std::size_t t = 0; t < problems_.size(); ++t) {
        sum += static_cast<double>(weights_[(t * x_->classes() + c) * stride_ + k]);
      }
      common_[c * stride_ + k] = static_cast<float>(sum);
      common += sum / x_->scale[c] * (sum / x_->scale[c]);
    }
  }
  square_ += share_ * common;
}

void DualAscent::refresh(std::size_t problem) {
  const SparseRows& rows = x_->rows;
  const Supervision& supervision = problems_[problem].supervision;
  std::vector<float> difference(rows.rows() * stride_);
  double* global = global_.data() + problem * cells_;
  std::fill(global, global + cells_, 0.0);
  const Structures& targets = supervision.structures;
  for (std::size_t g = 0; g < rows.groups(); ++g) {
    const Place at = place(problem, g);
    const double weighed = weight(at);
    float* own_difference = difference.data() + at.first * stride_;
    for (std::size_t i = 0; i < at.sites * stride_; ++i) {
      own_difference[i] = static_cast<float>(-weighed * static_cast<double>(mu_[at.cells + i]));
    }
    for (std::size_t i = 0; i < cells_; ++i) global[i] -= weighed * static_cast<double>(global_mu_[at.globals + i]);
    for (std::int64_t i = targets.ptr[g]; i < targets.ptr[g + 1]; ++i) {
      const auto cell = static_cast<std::size_t>(targets.cells[i]);
      const double value =
          weighed * (supervision.values.empty() ? 1.0 : supervision.values[static_cast<std::size_t>(i)]);
      if (cell < at.sites * columns_) {
        const std::size_t to = cell / columns_ * stride_ + cell % columns_;
        own_difference[to] = static_cast<float>(value + static_cast<double>(own_difference[to]));
      } else {
        global[cell - at.sites * columns_] += value;
      }
    }
  }
  const double* shift = shift_.empty() ? nullptr : shift_.data();
  const std::size_t features = x_->classes() * columns_;
  for (std::size_t i = 0; i < cells_; ++i) {
    square_ += global[i] * global[i] / (4 * l2_ * l2_);
    global[i] = global[i] / (2 * pulled_) + (shift == nullptr ? 0.0 : shift[features + i]);
  }
  std::vector<double> sum(stride_);
  const float* values = x_->site_values.empty() ? nullptr : x_->site_values.data();
  float* weights = weights_.data() + problem * x_->classes() * stride_;
  for (std::size_t c = 0; c < x_->classes(); ++c) {
    kernels::gather_rows(difference.data(), stride_, x_->class_ptr.data(), x_->sites, values, c, c + 1, sum.data());
    const double scale = x_->scale[c];
    for (std::size_t k = 0; k < columns_; ++k) {
      const double v = scale * sum[k];
      square_ += v * v / (4 * l2_ * l2_);
      const double w = v / (2 * pulled_) + (shift == nullptr ? 0.0 : shift[c * columns_ + k]);
      weights[c * stride_ + k] = static_cast<float>(scale * w);
    }
  }
}

void DualAscent::pull(double strength, std::span<const double> towards) {
  if (!(strength >= 0) || share_ > 0 || problems_.size() > 1) {
    throw std::invalid_argument("[DualAscent] one problem is pulled, by a strength of at least 0; received " +
                                std::to_string(strength));
  }
  if (towards.size() != x_->classes() * columns_ + cells_) {
    throw std::invalid_argument("[DualAscent] expected " + std::to_string(x_->classes() * columns_ + cells_) +
                                " parameters but received " + std::to_string(towards.size()));
  }
  pulled_ = l2_ + strength;
  shift_.resize(towards.size(), 0.0);
  for (std::size_t i = 0; i < towards.size(); ++i) shift_[i] = strength / pulled_ * towards[i];
  if (begun_) refresh();
}

std::vector<double> DualAscent::x(std::size_t problem) const {
  std::vector<double> out(x_->classes() * columns_ + cells_);
  for (std::size_t c = 0; c < x_->classes(); ++c) {
    for (std::size_t k = 0; k < columns_; ++k) {
      double w = static_cast<double>(weights_.at((problem * x_->classes() + c) * stride_ + k));
      if (share_ > 0) w += share_ * static_cast<double>(common_[c * stride_ + k]);
      out[c * columns_ + k] = w / x_->scale[c];
    }
  }
  for (std::size_t i = 0; i < cells_; ++i) {
    double& w = out[out.size() - cells_ + i];
    w = global_.at(problem * cells_ + i);
    if (!(share_ > 0)) continue;
    for (std::size_t t = 0; t < problems_.size(); ++t) w += share_ * global_[t * cells_ + i];
  }
  return out;
}

}  // namespace spanloom
