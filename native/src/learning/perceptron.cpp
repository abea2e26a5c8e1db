#include "spanloom/learning/perceptron.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace spanloom {

Perceptron::Perceptron(SparseRows rows, std::shared_ptr<const Structure> structure, Supervision supervision,
                       std::uint64_t seed)
    : rows_(std::move(rows)),
      structure_(std::move(structure)),
      gold_(std::move(supervision.structures)),
      random_(seed),
      columns_(structure_->columns()),
      stride_(structure_->stride()),
      weights_(rows_.width * stride_, 0.0F),
      weighted_(rows_.width * stride_, 0.0),
      global_(structure_->global_cells(), 0.0),
      global_weighted_(structure_->global_cells(), 0.0) {
  if (!supervision.values.empty() || !supervision.masks.empty() || !supervision.weights.empty()) {
    throw std::invalid_argument(
        "[Perceptron] takes one structure a sentence, no masks, target values or weights; use a likelihood for those");
  }
  rows_.check();
  gold_.check(rows_.group_ptr, *structure_);
}

void Perceptron::update(std::size_t group, std::int32_t cell, double by) {
  const auto first = static_cast<std::size_t>(rows_.group_ptr[group]);
  const std::size_t sites = static_cast<std::size_t>(rows_.group_ptr[group + 1]) - first;
  const auto c = static_cast<std::size_t>(cell);
  if (c >= sites * columns_) {
    global_[c - sites * columns_] += by;
    global_weighted_[c - sites * columns_] += by * seen_;
    return;
  }
  const std::size_t row = first + c / columns_;
  const std::size_t column = c % columns_;
  for (std::int64_t e = rows_.row_ptr[row]; e < rows_.row_ptr[row + 1]; ++e) {
    const double change = rows_.values.empty() ? by : by * static_cast<double>(rows_.values[e]);
    const std::size_t at = rows_.ids[e] * stride_ + column;
    weights_[at] += static_cast<float>(change);
    weighted_[at] += change * seen_;
  }
}

std::size_t Perceptron::epoch() {
  std::vector<std::size_t> order(rows_.groups());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);

  std::size_t wrong = 0;
  std::vector<double> scores;
  std::vector<std::int32_t> found;
  const float* values = rows_.values.empty() ? nullptr : rows_.values.data();
  auto solver = structure_->solver(global_);
  for (const std::size_t g : order) {
    const auto first = static_cast<std::size_t>(rows_.group_ptr[g]);
    const auto last = static_cast<std::size_t>(rows_.group_ptr[g + 1]);
    scores.resize((last - first) * stride_);
    kernels::gather_rows(weights_.data(), stride_, rows_.row_ptr.data(), rows_.ids, values, first, last, scores.data());
    const double score = solver->best({last - first, g}, scores.data(), found, true);
    if (!std::isfinite(score)) {
      throw std::domain_error("[Perceptron] sentence " + std::to_string(g) + " has no legal structure");
    }
    std::vector<std::int32_t> gold(gold_.cells.begin() + gold_.ptr[g], gold_.cells.begin() + gold_.ptr[g + 1]);
    std::sort(gold.begin(), gold.end());
    std::sort(found.begin(), found.end());
    if (gold != found) {
      ++wrong;
      for (const std::int32_t cell : gold) update(g, cell, 1.0);
      for (const std::int32_t cell : found) update(g, cell, -1.0);
      solver = structure_->solver(global_);
    }
    ++seen_;
  }
  return wrong;
}

// The mean over time of a weight is its last value minus what each change did not yet give before it was made.
std::vector<float> Perceptron::weights() const {
  std::vector<float> out(rows_.width * columns_);
  for (std::size_t f = 0; f < rows_.width; ++f) {
    for (std::size_t k = 0; k < columns_; ++k) {
      const std::size_t at = f * stride_ + k;
      out[f * columns_ + k] = static_cast<float>(static_cast<double>(weights_[at]) - weighted_[at] / seen_);
    }
  }
  return out;
}

std::vector<double> Perceptron::global_weights() const {
  std::vector<double> out(global_.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = global_[i] - global_weighted_[i] / seen_;
  return out;
}

}  // namespace spanloom
