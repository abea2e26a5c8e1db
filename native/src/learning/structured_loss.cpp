#include "spanloom/learning/structured_loss.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/aligned.hpp"
#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

// A fixed size, so that sums are grouped in the same way for any number of threads.
constexpr std::int64_t kShardSites = 2048;

// Runs of sentences [shards[s], shards[s + 1]) with about so many sites.
std::vector<std::size_t> make_shards(std::span<const std::int64_t> site_ptr) {
  std::vector<std::size_t> shards{0};
  const std::size_t groups = site_ptr.size() - 1;
  while (shards.back() < groups) {
    const std::size_t first = shards.back();
    std::size_t last = first + 1;
    while (last < groups && site_ptr[last] - site_ptr[first] < kShardSites) ++last;
    shards.push_back(last);
  }
  return shards;
}

double finite(double loss, std::size_t sentence) {
  if (!std::isfinite(loss)) {
    throw std::domain_error("[StructuredLoss] the loss of sentence " + std::to_string(sentence) +
                            " is not finite: its annotation is not a legal structure, or the scores overflow");
  }
  return loss;
}

}  // namespace

SentenceLosses::SentenceLosses(const Structure& structure, const Supervision& supervision,
                               std::span<const double> global)
    : structure_(structure),
      supervision_(supervision),
      global_(global.begin(), global.end()),
      global_gradient_(global.size(), 0.0) {}

Solver& SentenceLosses::made(std::unique_ptr<Solver>& solver) const {
  if (!solver) solver = structure_.solver(global_);
  return *solver;
}

double SentenceLosses::add(Unit unit, const double* scores, double* gradient) {
  if (supervision_.masks.of(unit.number) != nullptr || supervision_.weight(unit.number) != 1.0) {
    return add_alone(unit, scores, gradient);
  }
  double loss = made(together_).expectations(unit, scores, gradient);
  loss -= supervision_.subtract(unit.number, structure_, unit.sites, scores, global_.data(), gradient,
                                global_gradient_.data());
  return finite(loss, unit.number);
}

double SentenceLosses::add_alone(Unit unit, const double* scores, double* gradient) {
  const std::size_t size = unit.sites * structure_.stride();
  const double weight = supervision_.weight(unit.number);
  if (weight == 0) {
    std::fill_n(gradient, size, 0.0);
    return 0.0;
  }
  Solver& solver = made(alone_);
  global_alone_.assign(global_.size(), 0.0);
  double loss = solver.expectations(unit, scores, gradient);
  solver.add_global(global_alone_);
  if (const std::uint8_t* mask = supervision_.masks.of(unit.number); mask != nullptr) {
    allowed_.resize(size);
    global_allowed_.assign(global_.size(), 0.0);
    loss -= solver.expectations(unit, scores, allowed_.data(), mask);
    solver.add_global(global_allowed_);
    for (std::size_t i = 0; i < size; ++i) gradient[i] -= allowed_[i];
    for (std::size_t i = 0; i < global_.size(); ++i) global_alone_[i] -= global_allowed_[i];
  } else {
    loss -= supervision_.subtract(unit.number, structure_, unit.sites, scores, global_.data(), gradient,
                                  global_alone_.data());
  }
  if (weight != 1.0) {
    for (std::size_t i = 0; i < size; ++i) gradient[i] *= weight;
  }
  for (std::size_t i = 0; i < global_.size(); ++i) global_gradient_[i] += weight * global_alone_[i];
  return weight * finite(loss, unit.number);
}

void SentenceLosses::finish(std::span<double> out) {
  if (together_) together_->add_global(global_gradient_);
  for (std::size_t i = 0; i < global_.size(); ++i) out[i] += global_gradient_[i];
  std::fill(global_gradient_.begin(), global_gradient_.end(), 0.0);
}

StructuredLoss::StructuredLoss(std::shared_ptr<const Structure> structure, Supervision supervision, int threads)
    : structure_(std::move(structure)), supervision_(std::move(supervision)), threads_(thread_count(threads)) {}

double StructuredLoss::evaluate(std::span<const std::int64_t> site_ptr, std::span<const double> global,
                                const Scores& scores, const Gradient& gradient,
                                std::span<double> global_gradient) const {
  const std::vector<std::size_t> shards = make_shards(site_ptr);
  const std::size_t stride = structure_->stride();
  std::vector<double> losses(shards.size() - 1, 0.0);
  std::vector<std::vector<double>> global_gradients(shards.size() - 1);
  parallel_for(shards.size() - 1, threads_, [&](std::size_t s) {
    SentenceLosses sum(*structure_, supervision_, global);
    AlignedVector<double> table, derivatives;
    for (std::size_t g = shards[s]; g < shards[s + 1]; ++g) {
      const auto first = static_cast<std::size_t>(site_ptr[g]);
      const auto last = static_cast<std::size_t>(site_ptr[g + 1]);
      table.resize((last - first) * stride);
      derivatives.resize((last - first) * stride);
      scores(first, last, table.data());
      losses[s] += sum.add({last - first, g}, table.data(), derivatives.data());
      gradient(first, last, derivatives.data());
    }
    global_gradients[s].assign(global.size(), 0.0);
    sum.finish(global_gradients[s]);
  });
  double total = 0;
  std::fill(global_gradient.begin(), global_gradient.end(), 0.0);
  for (std::size_t s = 0; s < losses.size(); ++s) {
    total += losses[s];
    for (std::size_t i = 0; i < global.size(); ++i) global_gradient[i] += global_gradients[s][i];
  }
  return total;
}

double StructuredLoss::evaluate(std::span<const std::int64_t> site_ptr, std::span<const double> scores,
                                std::span<const double> global, std::span<double> gradient,
                                std::span<double> global_gradient) const {
  const std::size_t columns = structure_->columns();
  const std::size_t stride = structure_->stride();
  if (site_ptr.empty() || site_ptr.front() != 0 || !std::is_sorted(site_ptr.begin(), site_ptr.end())) {
    throw std::invalid_argument("[StructuredLoss] the pointers to sites must ascend from 0");
  }
  const std::size_t size = static_cast<std::size_t>(site_ptr.back()) * columns;
  if (scores.size() != size || gradient.size() != size || global.size() != structure_->global_cells() ||
      global_gradient.size() != global.size()) {
    throw std::invalid_argument("[StructuredLoss] " + std::to_string(site_ptr.back()) + " sites of " +
                                std::to_string(columns) + " columns need " + std::to_string(size) + " scores and " +
                                std::to_string(structure_->global_cells()) + " global ones; received " +
                                std::to_string(scores.size()) + " and " + std::to_string(global.size()));
  }
  supervision_.check(site_ptr, *structure_);
  const auto read = [&](std::size_t first, std::size_t last, double* out) {
    for (std::size_t t = first; t < last; ++t, out += stride) {
      std::copy_n(&scores[t * columns], columns, out);
      std::fill(out + columns, out + stride, 0.0);
    }
  };
  const auto take = [&](std::size_t first, std::size_t last, const double* given) {
    for (std::size_t t = first; t < last; ++t, given += stride) std::copy_n(given, columns, &gradient[t * columns]);
  };
  return evaluate(site_ptr, global, read, take, global_gradient);
}

}  // namespace spanloom
