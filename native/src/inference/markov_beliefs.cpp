#include "spanloom/inference/markov_beliefs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "markov_states.hpp"
#include "spanloom/base/kernels.hpp"
#include "spanloom/base/parallel.hpp"
#include "walks.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kShardSentences = 16;

// As in posterior.cpp: with these bounds, what underflow loses is below 1e-100 in any probability.
constexpr double kSmallestSum = 1e-50;
constexpr double kLargestBeta = 1e100;
// States with less than this share of the mass at a site are not followed, as long as what they could have to do with
// any probability is below 1e-12 (see MarkovFollower::read).
constexpr double kSmallShare = 1e-17;
constexpr double kNegligible = 1e-12;

// What is believed of one sentence after the other, and what follows one start; see walks.hpp.
//
//   alpha[t, h]    scaled sum of the ways to state h after site t; every row sums to 1
//   inverse[t, h]  1 / sum over y of exp(local[t, y] + step[h, y]), for the states h before site t
//   beta[t, h]     sum of what follows, scaled such that P(h after t) = alpha * beta
//
// Sums over states that go on alike are taken before labels are followed.
class MarkovFollower {
 public:
  MarkovFollower(const MarkovStates& states, const FlatReading& reading)
      : s_(states),
        reading_(reading),
        labels_(states.labels),
        states_(states.size()),
        stride_(states.stride),
        mass_(states_),
        row_(stride_),
        now_(states_),
        next_(states_),
        ended_(static_cast<std::size_t>(reading.types())) {}

  // Takes the scores of a sentence. False if scaled doubles do not hold them.
  bool read(std::span<const double> local) {
    sites_ = local.size() / labels_;
    if (sites_ == 0) return true;
    local_.resize(sites_ * stride_);
    inverse_.resize(sites_ * states_);
    alpha_.resize(sites_ * states_);
    beta_.resize(sites_ * states_);
    scale_.resize(sites_);
    for (std::size_t t = 0; t < sites_; ++t) {
      const double* row = &local[t * labels_];
      const double top = *std::max_element(row, row + labels_);
      if (!std::isfinite(top)) return false;
      double* out = &local_[t * stride_];
      for (std::size_t y = 0; y < labels_; ++y) out[y] = row[y] - top;
      std::fill(out + labels_, out + stride_, -1e300);
    }
    kernels::exp_all(local_.data(), local_.size());
    // No choice has a probability above 1, so that beta is at most the product of the later scales: what is left out at
    // a site is worth no more than its share times that.
    if (!forward(kSmallShare)) return false;
    double most = 1.0 / total(), lost = 0;
    for (std::size_t t = sites_; t-- > 0;) {
      lost += kSmallShare * static_cast<double>(states_) * most;
      most *= scale_[t];
    }
    if (!(lost < kNegligible) && !forward(0.0)) return false;
    return backward();
  }

  std::size_t sites() const { return sites_; }

  double at_most(std::size_t site) const {
    double inside = 0;
    for (std::size_t h = 0; h < states_; ++h) {
      if (type(h) >= 0) inside += alpha(site)[h] * beta(site)[h];
    }
    return inside;
  }

  void open(std::size_t site, std::int32_t only) {
    site_ = site;
    clear(now_, reached_);
    const auto begin = [&](std::size_t y, std::size_t to, double p) {
      const std::int32_t own = reading_.type(static_cast<std::int32_t>(y));
      if (p > 0 && own >= 0 && (only < 0 || own == only)) add(now_, reached_, to, p);
    };
    for (std::size_t w = 0; site == 0 && w < s_.begins.size(); ++w) {
      const auto [y, to] = s_.begins[w];
      begin(y, to, first_ * scale_[0] * s_.start[y] * local_[y]);
    }
    for (std::size_t h = 0; site > 0 && h < states_; ++h) {
      if (!(alpha(site - 1)[h] > 0)) continue;
      each_label(h, alpha(site - 1)[h], [&](std::size_t y, std::size_t to, double p) {
        if (border(h, y)) begin(y, to, p);
      });
    }
    weigh();
  }

  void advance() {
    std::fill(ended_.begin(), ended_.end(), 0.0);
    if (++site_ == sites_) {
      for (const std::size_t h : reached_) ended_[type(h)] += now_[h] * beta(site_ - 1)[h];
      left_ = 0;
      return;
    }
    clear(next_, onward_);
    for (const std::size_t h : reached_) {
      each_label(h, now_[h], [&](std::size_t y, std::size_t to, double p) {
        if (border(h, y)) {
          ended_[type(h)] += p * beta(site_)[to];
        } else {
          add(next_, onward_, to, p);
        }
      });
    }
    std::swap(now_, next_);
    std::swap(reached_, onward_);
    weigh();
  }

  double left() const { return left_; }
  double ended(std::int32_t type) const { return ended_[type]; }
  std::size_t site() const { return site_; }

 private:
  const double* alpha(std::size_t t) const { return &alpha_[t * states_]; }
  const double* beta(std::size_t t) const { return &beta_[t * states_]; }
  std::int32_t type(std::size_t state) const { return s_.last[state] < 0 ? -1 : reading_.type(s_.last[state]); }
  bool border(std::size_t state, std::size_t label) const {
    return reading_.border(s_.last[state], static_cast<std::int32_t>(label));
  }

  static bool any(const double* values, const MarkovStates::Kind& kind) {
    return std::any_of(values + kind.first, values + kind.first + kind.width, [](double x) { return x > 0; });
  }

  // Sets inverse[t, :]; false if the sum of a state with mass has lost terms to underflow.
  bool normalise(std::size_t t) {
    double* inverse = &inverse_[t * states_];
    kernels::vector_matrix(&local_[t * stride_], s_.by_label.data(), labels_, states_, inverse);
    const double* before = alpha(t - 1);
    bool held = true;
    for (std::size_t h = 0; h < states_; ++h) {
      held &= before[h] == 0 || inverse[h] > kSmallestSum;
      inverse[h] = inverse[h] > kSmallestSum ? 1.0 / inverse[h] : 0.0;
    }
    return held;
  }

  // States with a share of at most `least` have none.
  bool forward(double least) {
    std::fill(alpha_.begin(), alpha_.end(), 0.0);
    for (std::size_t t = 0; t < sites_; ++t) {
      double* now = &alpha_[t * states_];
      const double* own = &local_[t * stride_];
      if (t == 0) {
        const double sum = kernels::dot(own, s_.start, stride_);
        if (!(sum > kSmallestSum)) return false;
        first_ = 1.0 / sum;
        for (const auto [y, to] : s_.begins) now[to] += first_ * s_.start[y] * own[y];
      } else {
        if (!normalise(t)) return false;
        kernels::multiply_sum(alpha(t - 1), &inverse_[t * states_], states_, mass_.data());
        for (const MarkovStates::Kind& kind : s_.kinds) {
          if (!any(mass_.data(), kind)) continue;
          kernels::vector_matrix(&mass_[kind.first], kind.rows.data(), kind.width, kind.stride, row_.data());
          for (std::size_t w = 0; w < kind.ways.size(); ++w) now[kind.ways[w].to] += row_[w] * own[kind.ways[w].label];
        }
      }
      const double sum = kernels::sum(now, states_);
      if (!(sum > kSmallestSum)) return false;
      scale_[t] = 1.0 / sum;
      for (std::size_t h = 0; h < states_; ++h) now[h] = now[h] > least * sum ? now[h] * scale_[t] : 0.0;
    }
    return true;
  }

  // What of the mass is in states that may be the last.
  double total() const { return kernels::dot(alpha(sites_ - 1), s_.ends.data(), states_); }

  bool backward() {
    const double whole = total();
    if (!(whole > kSmallestSum)) return false;
    for (std::size_t h = 0; h < states_; ++h) beta_[(sites_ - 1) * states_ + h] = s_.ends[h] / whole;
    for (std::size_t t = sites_ - 1; t > 0; --t) {
      double* before = &beta_[(t - 1) * states_];
      const double* own = &local_[t * stride_];
      std::fill_n(before, states_, 0.0);
      for (const MarkovStates::Kind& kind : s_.kinds) {
        if (!any(alpha(t - 1), kind)) continue;
        for (std::size_t w = 0; w < kind.ways.size(); ++w) {
          row_[w] = own[kind.ways[w].label] * beta(t)[kind.ways[w].to] * scale_[t];
        }
        kernels::vector_matrix(row_.data(), kind.by_way.data(), kind.ways.size(), kind.width, before + kind.first);
      }
      const double* inverse = &inverse_[t * states_];
      double most = 0;
      for (std::size_t h = 0; h < states_; ++h) {
        before[h] = alpha(t - 1)[h] > 0 ? before[h] * inverse[h] : 0.0;
        most = std::max(most, before[h]);
      }
      if (!(most < kLargestBeta)) return false;
    }
    return true;
  }

  // Calls body(label, state, mass) for what follows a state with a mass at the site, in the scale of alpha.
  template <class Body>
  void each_label(std::size_t h, double mass, const Body& body) const {
    const std::vector<MarkovStates::Way>& ways = s_.kind(h).ways;
    const double* steps = s_.steps(h);
    const double* own = &local_[site_ * stride_];
    const double factor = mass * inverse_[site_ * states_ + h] * scale_[site_];
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const double p = factor * steps[w] * own[ways[w].label];
      if (p > 0) body(ways[w].label, ways[w].to, p);
    }
  }

  static void clear(std::vector<double>& mass, std::vector<std::size_t>& reached) {
    for (const std::size_t h : reached) mass[h] = 0;
    reached.clear();
  }

  static void add(std::vector<double>& mass, std::vector<std::size_t>& reached, std::size_t state, double p) {
    if (mass[state] == 0) reached.push_back(state);
    mass[state] += p;
  }

  void weigh() {
    left_ = 0;
    for (const std::size_t h : reached_) left_ += now_[h] * beta(site_)[h];
  }

  const MarkovStates& s_;
  const FlatReading& reading_;
  std::size_t labels_, states_, stride_;  // states: places
  double first_ = 0;                      // 1 / sum over the first labels
  std::vector<double> local_, inverse_, alpha_, beta_, scale_;
  std::vector<double> mass_, row_;
  std::vector<double> now_, next_, ended_;     // mass by state
  std::vector<std::size_t> reached_, onward_;  // the states with mass
  std::size_t sites_ = 0, site_ = 0;
  double left_ = 0;
};

void check(const MarkovSearch& search, const FlatReading& reading) {
  if (reading.columns() != search.labels()) {
    throw std::invalid_argument("[MarkovSearch] a reading of " + std::to_string(reading.columns()) + " columns for " +
                                std::to_string(search.labels()) + " labels");
  }
}

// Calls body(follower, sentence) for the sentences that are wanted and held.
template <class IsWanted, class Body>
void for_sentences(const MarkovSearch& search, const FlatReading& reading, std::span<const double> local,
                   std::span<const std::int64_t> first, std::vector<std::uint8_t>& held, int threads,
                   const IsWanted& wanted, const Body& body) {
  held.assign(first.size() - 1, 1);
  const MarkovStates states(search);
  parallel_for((held.size() + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    MarkovFollower follower(states, reading);
    for (std::size_t s = shard * kShardSentences; s < std::min(held.size(), (shard + 1) * kShardSentences); ++s) {
      if (!wanted(s)) continue;
      const auto from = static_cast<std::size_t>(first[s]);
      const std::size_t sites = static_cast<std::size_t>(first[s + 1]) - from;
      held[s] = follower.read(local.subspan(from * search.labels(), sites * search.labels())) ? 1 : 0;
      if (held[s] != 0) body(follower, s);
    }
  });
}

}  // namespace

void markov_probabilities(const MarkovSearch& search, const FlatReading& reading, std::span<const double> local,
                          std::span<const std::int64_t> first, MentionLists& lists, std::vector<std::uint8_t>& held,
                          int threads) {
  check(search, reading);
  search.check(local, first);
  if (lists.ptr.size() != first.size() || lists.ptr.front() != 0 ||
      !std::is_sorted(lists.ptr.begin(), lists.ptr.end()) ||
      static_cast<std::size_t>(lists.ptr.back()) != lists.mentions.size()) {
    throw std::invalid_argument("[MarkovSearch] " + std::to_string(lists.ptr.size()) + " bounds of " +
                                std::to_string(lists.mentions.size()) + " mentions do not fit " +
                                std::to_string(first.size() - 1) + " sentences");
  }
  const auto mentions = [&](std::size_t s) {
    const auto from = static_cast<std::size_t>(lists.ptr[s]);
    return std::span<Found>(lists.mentions).subspan(from, static_cast<std::size_t>(lists.ptr[s + 1]) - from);
  };
  for_sentences(
      search, reading, local, first, held, threads, [&](std::size_t s) { return !mentions(s).empty(); },
      [&](MarkovFollower& follower, std::size_t s) {
        follow_given(follower, follower.sites(), reading.types(), mentions(s));
        for (Found& one : mentions(s)) one.prob = std::min(one.prob, 1.0);
      });
}

SentenceMentions markov_mentions(const MarkovSearch& search, const FlatReading& reading, std::span<const double> local,
                                 std::span<const std::int64_t> first, double above, std::vector<std::uint8_t>& held,
                                 int threads) {
  check(search, reading);
  search.check(local, first);
  std::vector<std::vector<Found>> found(first.size() - 1);
  for_sentences(
      search, reading, local, first, held, threads, [](std::size_t) { return true; },
      [&](MarkovFollower& follower, std::size_t s) {
        found[s] = follow_all(follower, follower.sites(), reading.types(), above);
        for (Found& one : found[s]) one.prob = std::min(one.prob, 1.0);
      });
  return SentenceMentions::of(found);
}

SentenceMentions markov_best(const MarkovSearch& search, const FlatReading& reading, std::span<const double> local,
                             std::span<const std::int64_t> first, std::size_t beam, bool probabilities,
                             std::vector<std::uint8_t>& held, int threads) {
  check(search, reading);
  std::vector<std::int32_t> labels(local.size() / search.labels());
  search.best_of_all(local, first, beam, threads, labels);
  std::vector<std::vector<Found>> found(first.size() - 1);
  std::vector<std::uint8_t> possible(found.size(), 1);
  std::vector<std::int32_t> cells;
  for (std::size_t s = 0; s < found.size(); ++s) {
    cells.clear();
    for (std::int64_t t = first[s]; t < first[s + 1]; ++t) {
      const auto at = static_cast<std::int32_t>((t - first[s]) * static_cast<std::int64_t>(search.labels()));
      if (labels[static_cast<std::size_t>(t)] < 0) possible[s] = 0;
      cells.push_back(at + labels[static_cast<std::size_t>(t)]);
    }
    if (possible[s] != 0) reading.read(cells, found[s]);
  }
  held.assign(found.size(), 1);
  if (probabilities) {
    for_sentences(
        search, reading, local, first, held, threads, [&](std::size_t s) { return !found[s].empty(); },
        [&](MarkovFollower& follower, std::size_t s) {
          follow_given(follower, follower.sites(), reading.types(), found[s]);
          for (Found& one : found[s]) one.prob = std::min(one.prob, 1.0);
        });
  }
  for (std::size_t s = 0; s < found.size(); ++s) held[s] = held[s] != 0 && possible[s] != 0 ? 1 : 0;
  return SentenceMentions::of(found);
}

}  // namespace spanloom
