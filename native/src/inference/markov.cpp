#include "spanloom/inference/markov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"
#include "spanloom/base/parallel.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

// A sum of products below this has lost terms to underflow, and is taken in logarithms instead.
constexpr double kTooSmall = 1e-200;

// How many states go on at each site where a first sequence is looked for.
constexpr std::size_t kGuess = 4;

constexpr std::size_t kShardSentences = 16;

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
    for (std::size_t y = 0; y < labels; ++y) largest_ = std::max(largest_, std::abs(row[y]));
  }
  exp_step_ = step_;
  for (std::size_t h = 0; h < rows; ++h) {
    for (std::size_t y = 0; y < stride_; ++y) exp_step_[h * stride_ + y] -= high_[h];
  }
  kernels::exp_all(exp_step_.data(), exp_step_.size());
}

// What a search needs room for; kept from sentence to sentence.
struct MarkovSearch::Room {
  std::vector<Step> kept;          // of all sites, one after the other
  std::vector<std::size_t> first;  // [sites + 1]: where those of a site begin
  std::vector<Way> now, next;
  std::vector<double> local, exp_local;  // [stride]
  std::vector<std::int32_t> place;       // [states]: of a state in `next`, -1 if it is not there
  std::vector<std::int32_t> labels;      // [stride]
};

// log sum over y of exp(local[y] + step[state, y]): a product of vectors, as the sum falls into factors.
double MarkovSearch::log_sum(const double* exp_local, const double* local, double top, std::size_t state) const {
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
  Room room;
  return best(local, beam, out, room);
}

double MarkovSearch::best(std::span<const double> local, std::size_t beam, std::span<std::int32_t> out,
                          Room& room) const {
  if (beam > 0 || last_.size() <= kGuess) return search(local, beam, kMinusInfinity, out, room);
  const double guess = search(local, kGuess, kMinusInfinity, out, room);
  // Far more than what rounding can add to a sum of steps, each of them no more than 0.
  double largest = largest_;
  for (const double score : local) largest = std::isfinite(score) ? std::max(largest, std::abs(score)) : largest;
  const double sites = static_cast<double>(local.size() / labels_);
  const double rounding = 64 * std::numeric_limits<double>::epsilon() * sites * (sites + largest + 1);
  return search(local, 0, guess - rounding, out, room);
}

// The best sequence of at least this log-probability, if there is one; `beam` is 0 for none.
double MarkovSearch::search(std::span<const double> local, std::size_t beam, double least, std::span<std::int32_t> out,
                            Room& room) const {
  const std::size_t sites = local.size() / labels_;
  const std::size_t states = last_.size();
  auto& [kept, first, now, next, row, exp_local, place, labels] = room;
  kept.clear();
  first.assign(1, 0);
  now.assign(1, {{static_cast<std::int32_t>(states), -1}, 0.0});
  row.assign(stride_, kMinusInfinity);
  exp_local.resize(stride_);
  place.assign(states, -1);
  labels.resize(stride_);
  for (std::size_t t = 0; t < sites; ++t) {
    std::copy_n(&local[t * labels_], labels_, row.begin());
    const double top = *std::max_element(row.begin(), row.end());
    if (!std::isfinite(top)) return kMinusInfinity;
    for (std::size_t y = 0; y < stride_; ++y) exp_local[y] = row[y] - top;
    kernels::exp_all(exp_local.data(), stride_);
    next.clear();
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto state = static_cast<std::size_t>(now[i].step.state);
      const double* step = &step_[state * stride_];
      const std::int32_t* goes = &goes_[state * labels_];
      const double base = now[i].score - log_sum(exp_local.data(), row.data(), top, state);
      const std::size_t count = kernels::places_above(row.data(), step, least - base, stride_, labels.data());
      for (std::size_t k = 0; k < count; ++k) {
        const auto y = static_cast<std::size_t>(labels[k]);
        const double score = base + row[y] + step[y];
        if (y >= labels_ || goes[y] < 0 || score == kMinusInfinity) continue;
        const Way way{{goes[y], static_cast<std::int32_t>(i)}, score};
        std::int32_t& at = place[static_cast<std::size_t>(goes[y])];
        if (at < 0) {
          at = static_cast<std::int32_t>(next.size());
          next.push_back(way);
          continue;
        }
        Way& known = next[static_cast<std::size_t>(at)];
        const std::int32_t other = now[static_cast<std::size_t>(known.step.before)].step.state;
        if (score > known.score || (score == known.score && now[i].step.state < other)) known = way;
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
    for (const Way& way : next) kept.push_back(way.step);
    first.push_back(kept.size());
    std::swap(now, next);
  }
  if (sites == 0) return 0.0;
  Way top{{-1, -1}, kMinusInfinity};
  std::size_t at = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto& [step, score] = now[i];
    if (!may_end_[static_cast<std::size_t>(step.state)]) continue;
    if (score > top.score || (score == top.score && step.state < top.step.state)) {
      top = now[i];
      at = i;
    }
  }
  if (top.score == kMinusInfinity) return top.score;
  for (std::size_t t = sites; t-- > 0;) {
    const Step step = kept[first[t] + at];
    out[t] = last_[static_cast<std::size_t>(step.state)];
    at = static_cast<std::size_t>(step.before);
  }
  return top.score;
}

void MarkovSearch::check(std::span<const double> local, std::span<const std::int64_t> first) const {
  const auto sites = static_cast<std::int64_t>(local.size() / labels_);
  if (local.size() % labels_ != 0 || first.empty() || first.front() != 0 || first.back() != sites ||
      !std::is_sorted(first.begin(), first.end())) {
    throw std::invalid_argument("[MarkovSearch] " + std::to_string(local.size()) + " scores of " +
                                std::to_string(labels_) + " labels do not fit the bounds of " +
                                std::to_string(first.empty() ? 0 : first.size() - 1) + " sentences");
  }
}

std::vector<double> MarkovSearch::best_of_all(std::span<const double> local, std::span<const std::int64_t> first,
                                              std::size_t beam, int threads, std::span<std::int32_t> out) const {
  check(local, first);
  if (out.size() != local.size() / labels_) {
    throw std::invalid_argument("[MarkovSearch] room for " + std::to_string(out.size()) + " labels of " +
                                std::to_string(local.size() / labels_) + " sites");
  }
  std::fill(out.begin(), out.end(), -1);
  std::vector<double> found(first.size() - 1);
  parallel_for((found.size() + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    Room room;
    for (std::size_t s = shard * kShardSentences; s < std::min(found.size(), (shard + 1) * kShardSentences); ++s) {
      const auto from = static_cast<std::size_t>(first[s]);
      const std::size_t n = static_cast<std::size_t>(first[s + 1]) - from;
      found[s] = best(local.subspan(from * labels_, n * labels_), beam, out.subspan(from, n), room);
    }
  });
  return found;
}

}  // namespace spanloom
