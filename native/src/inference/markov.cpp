#include "spanloom/inference/markov.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"
#include "spanloom/base/parallel.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

// A sum of products below this has lost terms to underflow, and is taken in logarithms instead.
constexpr double kTooSmall = 1e-200;

// A state that was reached, and the place of the one before it among those kept at the site before.
struct Step {
  std::int32_t state;
  std::int32_t before;
};
struct Way {
  Step step;
  double score;
};

}  // namespace

MarkovSearch::MarkovSearch(std::size_t labels, std::span<const double> step, std::vector<std::int32_t> goes,
                           std::vector<std::int32_t> last, std::vector<std::uint8_t> may_end)
    : labels_(labels),
      stride_(kernels::padded(labels)),
      goes_(std::move(goes)),
      last_(std::move(last)),
      may_end_(std::move(may_end)) {
  const std::size_t rows = last_.size() + 1;
  if (labels == 0 || step.size() != rows * labels || goes_.size() != rows * labels || may_end_.size() != last_.size()) {
    throw std::invalid_argument("[MarkovSearch] " + std::to_string(last_.size()) + " states and " +
                                std::to_string(labels) + " labels do not fit " + std::to_string(step.size()) +
                                " steps, " + std::to_string(goes_.size()) + " followers and " +
                                std::to_string(may_end_.size()) + " ends");
  }
  for (const std::int32_t state : goes_) {
    if (state < -1 || state >= static_cast<std::int32_t>(last_.size())) {
      throw std::invalid_argument("[MarkovSearch] there is no state " + std::to_string(state) + " among " +
                                  std::to_string(last_.size()));
    }
  }
  for (const std::int32_t label : last_) {
    if (label < 0 || label >= static_cast<std::int32_t>(labels)) {
      throw std::invalid_argument("[MarkovSearch] there is no label " + std::to_string(label) + " among " +
                                  std::to_string(labels));
    }
  }
  step_.assign(rows * stride_, kMinusInfinity);
  for (std::size_t h = 0; h < rows; ++h) {
    const double* row = &step[h * labels];
    if (!std::all_of(row, row + labels, [](double x) { return std::isfinite(x); })) {
      throw std::invalid_argument("[MarkovSearch] a step of state " + std::to_string(h) + " is not finite");
    }
    std::copy_n(row, labels, &step_[h * stride_]);
    high_.push_back(*std::max_element(row, row + labels));
  }
  exp_step_ = step_;
  for (std::size_t h = 0; h < rows; ++h) {
    for (std::size_t y = 0; y < stride_; ++y) exp_step_[h * stride_ + y] -= high_[h];
  }
  kernels::exp_all(exp_step_.data(), exp_step_.size());
}

// log sum over y of exp(local[y] + step[state, y]): a product of vectors, as the sum falls into factors.
double MarkovSearch::log_sum(const double* local, const double* exp_local, double top, std::size_t state) const {
  const double sum = kernels::dot(exp_local, &exp_step_[state * stride_], stride_);
  if (sum > kTooSmall) return std::log(sum) + top + high_[state];
  const double* step = &step_[state * stride_];
  double highest = kMinusInfinity;
  for (std::size_t y = 0; y < labels_; ++y) highest = std::max(highest, local[y] + step[y]);
  double total = 0;
  for (std::size_t y = 0; y < labels_; ++y) total += std::exp(local[y] + step[y] - highest);
  return highest + std::log(total);
}

double MarkovSearch::best(std::span<const double> local, std::size_t beam, std::span<std::int32_t> out) const {
  const std::size_t sites = local.size() / labels_;
  const std::size_t states = last_.size();
  std::vector<std::vector<Step>> kept(sites);
  std::vector<Way> now{{{static_cast<std::int32_t>(states), -1}, 0.0}};
  std::vector<Way> next;
  std::vector<double> exp_local(stride_);
  std::vector<std::int32_t> place(states, -1);  // of a state in `next`
  for (std::size_t t = 0; t < sites; ++t) {
    const double* row = &local[t * labels_];
    const double top = *std::max_element(row, row + labels_);
    if (!std::isfinite(top)) return kMinusInfinity;
    std::fill(exp_local.begin(), exp_local.end(), kMinusInfinity);
    for (std::size_t y = 0; y < labels_; ++y) exp_local[y] = row[y] - top;
    kernels::exp_all(exp_local.data(), stride_);
    next.clear();
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto state = static_cast<std::size_t>(now[i].step.state);
      const double* step = &step_[state * stride_];
      const std::int32_t* goes = &goes_[state * labels_];
      const double base = now[i].score - log_sum(row, exp_local.data(), top, state);
      for (std::size_t y = 0; y < labels_; ++y) {
        const double score = base + row[y] + step[y];
        if (goes[y] < 0 || score == kMinusInfinity) continue;
        const Way way{{goes[y], static_cast<std::int32_t>(i)}, score};
        std::int32_t& at = place[static_cast<std::size_t>(goes[y])];
        if (at < 0) {
          at = static_cast<std::int32_t>(next.size());
          next.push_back(way);
        } else if (score > next[static_cast<std::size_t>(at)].score) {
          next[static_cast<std::size_t>(at)] = way;
        }
      }
    }
    for (const Way& way : next) place[static_cast<std::size_t>(way.step.state)] = -1;
    if (beam > 0 && next.size() > beam) {
      const auto better = [](const Way& a, const Way& b) {
        return a.score != b.score ? a.score > b.score : a.step.state < b.step.state;
      };
      std::nth_element(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(beam), next.end(), better);
      next.resize(beam);
    }
    for (const Way& way : next) kept[t].push_back(way.step);
    std::swap(now, next);
  }
  if (sites == 0) return 0.0;
  double top = kMinusInfinity;
  std::size_t at = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (may_end_[static_cast<std::size_t>(now[i].step.state)] && now[i].score > top) {
      top = now[i].score;
      at = i;
    }
  }
  if (top == kMinusInfinity) return top;
  for (std::size_t t = sites; t-- > 0;) {
    const Step step = kept[t][at];
    out[t] = last_[static_cast<std::size_t>(step.state)];
    at = static_cast<std::size_t>(step.before);
  }
  return top;
}

std::vector<double> MarkovSearch::best_of_all(std::span<const double> local, std::span<const std::int64_t> first,
                                              std::size_t beam, int threads, std::span<std::int32_t> out) const {
  const auto sites = static_cast<std::int64_t>(local.size() / labels_);
  if (local.size() % labels_ != 0 || first.empty() || first.front() != 0 || first.back() != sites ||
      !std::is_sorted(first.begin(), first.end()) || out.size() != static_cast<std::size_t>(sites)) {
    throw std::invalid_argument("[MarkovSearch] " + std::to_string(local.size()) + " scores of " +
                                std::to_string(labels_) + " labels do not fit the bounds of " +
                                std::to_string(first.empty() ? 0 : first.size() - 1) + " sentences");
  }
  std::fill(out.begin(), out.end(), -1);
  std::vector<double> found(first.size() - 1);
  parallel_for(found.size(), threads, [&](std::size_t s) {
    const auto from = static_cast<std::size_t>(first[s]);
    const std::size_t n = static_cast<std::size_t>(first[s + 1]) - from;
    found[s] = best(local.subspan(from * labels_, n * labels_), beam, out.subspan(from, n));
  });
  return found;
}

}  // namespace spanloom
