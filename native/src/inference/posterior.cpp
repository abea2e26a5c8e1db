#include "spanloom/inference/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

// What underflow loses is below 1e-308 in alpha, potential or local. With these bounds it is below 1e-150 in any
// probability.
constexpr double kSmallestSum = 1e-50;
constexpr double kLargestBeta = 1e100;

}  // namespace

ChainPosterior::ChainPosterior(const ChainStructure& structure, std::span<const double> transitions)
    : columns_(structure.columns()),
      stride_(structure.stride()),
      potential_(columns_ * stride_, 0.0),
      reversed_(columns_ * stride_, 0.0),
      start_(stride_, 0.0),
      end_(stride_, 0.0),
      step_(stride_) {
  if (transitions.size() != columns_ * columns_) {
    throw std::invalid_argument("[ChainPosterior] " + std::to_string(transitions.size()) + " transition scores for " +
                                std::to_string(columns_) + " columns");
  }
  double top = kMinusInfinity;
  for (std::size_t x = 0; x < columns_; ++x) {
    start_[x] = structure.may_start(x) ? 1.0 : 0.0;
    end_[x] = structure.may_end(x) ? 1.0 : 0.0;
    for (std::size_t y = 0; y < columns_; ++y) {
      if (structure.allowed(x, y)) top = std::max(top, transitions[x * columns_ + y]);
    }
  }
  for (std::size_t x = 0; x < columns_; ++x) {
    for (std::size_t y = 0; y < columns_; ++y) {
      if (!structure.allowed(x, y) || top == kMinusInfinity) continue;
      potential_[x * stride_ + y] = reversed_[y * stride_ + x] = std::exp(transitions[x * columns_ + y] - top);
    }
  }
}

bool ChainPosterior::read(const double* scores, std::size_t sites, std::size_t stride) {
  sites_ = sites;
  if (sites == 0) return false;
  alpha_.resize(sites * stride_);
  beta_.resize(sites * stride_);
  local_.resize(sites * stride_);
  for (std::size_t t = 0; t < sites; ++t) {
    const double* row = scores + t * stride;
    const double top = *std::max_element(row, row + columns_);
    if (!std::isfinite(top)) return false;
    double* out = &local_[t * stride_];
    for (std::size_t y = 0; y < columns_; ++y) out[y] = row[y] - top;
    std::fill(out + columns_, out + stride_, kMinusInfinity);
  }
  kernels::exp_all(local_.data(), sites * stride_);
  for (std::size_t t = 0; t < sites; ++t) {
    double* now = &alpha_[t * stride_];
    double* own = &local_[t * stride_];
    if (t > 0) kernels::vector_matrix(now - stride_, potential_.data(), columns_, stride_, step_.data());
    const double sum = kernels::multiply_sum(t > 0 ? step_.data() : start_.data(), own, stride_, now);
    if (!(sum > kSmallestSum)) return false;
    const double inverse = 1.0 / sum;
    for (std::size_t y = 0; y < stride_; ++y) {
      now[y] *= inverse;
      own[y] *= inverse;
    }
  }
  const double total = kernels::multiply_sum(&alpha_[(sites - 1) * stride_], end_.data(), stride_, step_.data());
  if (!(total > kSmallestSum)) return false;
  for (std::size_t y = 0; y < stride_; ++y) beta_[(sites - 1) * stride_ + y] = end_[y] / total;
  for (std::size_t t = sites - 1; t > 0; --t) {
    kernels::multiply_sum(local(t), beta(t), stride_, step_.data());
    double* before = &beta_[(t - 1) * stride_];
    kernels::vector_matrix(step_.data(), reversed_.data(), columns_, stride_, before);
    if (!(*std::max_element(before, before + columns_) < kLargestBeta)) return false;
  }
  return true;
}

}  // namespace spanloom
