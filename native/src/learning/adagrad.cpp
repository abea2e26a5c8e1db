#include "spanloom/learning/adagrad.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/learning/structured_loss.hpp"

namespace spanloom {

Adagrad::Adagrad(SparseRows rows, std::shared_ptr<const Structure> structure, Supervision supervision, double l2,
                 double rate, double damping, std::uint64_t seed)
    : rows_(std::move(rows)),
      structure_(std::move(structure)),
      supervision_(std::move(supervision)),
      random_(seed),
      columns_(structure_->columns()),
      stride_(structure_->stride()),
      rate_(static_cast<float>(rate)),
      global_decay_(2 * l2 / static_cast<double>(std::max<std::size_t>(rows_.groups(), 1))),
      decay_(rows_.width, 0.0F),
      weights_(rows_.width * stride_, 0.0F),
      squares_(rows_.width * stride_, static_cast<float>(damping)),
      global_(structure_->global_cells(), 0.0),
      global_squares_(structure_->global_cells(), damping) {
  const bool finite = std::isfinite(l2) && std::isfinite(rate) && std::isfinite(damping);
  if (!finite || l2 < 0 || rate <= 0 || damping <= 0) {
    throw std::invalid_argument("[Adagrad] the penalty must be at least 0, rate and damping above 0; received " +
                                std::to_string(l2) + ", " + std::to_string(rate) + " and " + std::to_string(damping));
  }
  rows_.check();
  supervision_.check(rows_.group_ptr, *structure_);
  for (const std::uint32_t id : rows_.ids) decay_[id] += 1.0F;
  for (float& n : decay_) n = n > 0 ? static_cast<float>(2 * l2) / n : 0.0F;
}

double Adagrad::epoch() {
  std::vector<std::size_t> order(rows_.groups());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);

  double total = 0;
  std::vector<double> scores;
  std::vector<double> expected;
  std::vector<float> difference;
  std::vector<double> global_difference(global_.size());
  const float* values = rows_.values.empty() ? nullptr : rows_.values.data();
  auto losses = std::make_unique<SentenceLosses>(*structure_, supervision_, global_);
  for (const std::size_t g : order) {
    if (supervision_.weight(g) == 0) continue;
    const auto first = static_cast<std::size_t>(rows_.group_ptr[g]);
    const auto last = static_cast<std::size_t>(rows_.group_ptr[g + 1]);
    const std::size_t sites = last - first;
    scores.resize(sites * stride_);
    expected.resize(sites * stride_);
    kernels::gather_rows(weights_.data(), stride_, rows_.row_ptr.data(), rows_.ids, values, first, last, scores.data());
    total += losses->add_alone({sites, g}, scores.data(), expected.data());
    std::fill(global_difference.begin(), global_difference.end(), 0.0);
    losses->finish(global_difference);
    difference.assign(expected.begin(), expected.end());
    for (std::size_t row = first; row < last; ++row) {
      const float* d = &difference[(row - first) * stride_];
      for (std::int64_t e = rows_.row_ptr[row]; e < rows_.row_ptr[row + 1]; ++e) {
        const std::size_t at = rows_.ids[e] * stride_;
        kernels::adagrad_step(d, values == nullptr ? 1.0F : values[e], decay_[rows_.ids[e]], rate_, stride_,
                              &weights_[at], &squares_[at]);
      }
    }
    if (global_.empty()) continue;
    for (std::size_t i = 0; i < global_.size(); ++i) {
      const double gradient = global_difference[i] + global_decay_ * global_[i];
      if (gradient == 0) continue;
      global_squares_[i] += gradient * gradient;
      global_[i] -= static_cast<double>(rate_) * gradient / std::sqrt(global_squares_[i]);
    }
    losses = std::make_unique<SentenceLosses>(*structure_, supervision_, global_);
  }
  return total;
}

std::vector<float> Adagrad::weights() const {
  std::vector<float> out(rows_.width * columns_);
  for (std::size_t f = 0; f < rows_.width; ++f) std::copy_n(&weights_[f * stride_], columns_, &out[f * columns_]);
  return out;
}

}  // namespace spanloom
