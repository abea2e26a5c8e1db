#include "spanloom/inference/markov_beliefs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

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
constexpr double kSmallShare = 1e-22;
constexpr double kNegligible = 1e-12;

// What is believed of one sentence after the other, and what follows one start; see walks.hpp.
//
//   alpha[t, h]    scaled sum of the ways to state h after site t; every row sums to 1
//   inverse[t, h]  1 / sum over y of exp(local[t, y] + step[h, y]), for the states h before site t
//   beta[t, h]     sum of what follows, scaled such that P(h after t) = alpha * beta
//
// Many states go on alike, as where a label leads depends on the last label alone: sums over states that go on alike
// are taken before labels are followed.
class MarkovFollower {
 public:
  MarkovFollower(const MarkovSearch& search, const FlatReading& reading)
      : search_(search),
        reading_(reading),
        labels_(search.labels()),
        states_(search.states()),
        stride_(search.stride()),
        alike_(states_ + 1),
        now_(states_),
        next_(states_),
        ended_(static_cast<std::size_t>(reading.types())) {
    for (std::size_t h = 0; h <= states_; ++h) {
      const auto same = [&](std::size_t other) { return std::ranges::equal(search.goes(h), search.goes(other)); };
      const auto known = std::ranges::find_if(kinds_, same);
      alike_[h] = static_cast<std::size_t>(known - kinds_.begin());
      if (known == kinds_.end()) kinds_.push_back(h);
    }
    rows_.resize(kinds_.size() * stride_);
  }

  // Takes the scores of a sentence. False if scaled doubles do not hold them.
  bool read(std::span<const double> local) {
    sites_ = local.size() / labels_;
    if (sites_ == 0) return true;
    local_.resize(sites_ * stride_);
    inverse_.resize(sites_ * (states_ + 1));
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
    const auto first = [&](std::size_t h, double mass) {
      each_label(h, mass, [&](std::size_t y, std::size_t to, double p) {
        const std::int32_t own = reading_.type(static_cast<std::int32_t>(y));
        if (own < 0 || (only >= 0 && own != only) || (site > 0 && !border(h, y))) return;
        add(now_, reached_, to, p);
      });
    };
    if (site == 0) first(states_, 1.0);
    for (std::size_t h = 0; site > 0 && h < states_; ++h) {
      if (alpha(site - 1)[h] > 0) first(h, alpha(site - 1)[h]);
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
  std::int32_t type(std::size_t state) const { return reading_.type(search_.last(state)); }
  bool border(std::size_t state, std::size_t label) const {
    return reading_.border(search_.last(state), static_cast<std::int32_t>(label));
  }

  // Sets inverse[t, h]; false if the sum has lost terms to underflow.
  bool normalise(std::size_t t, std::size_t h) {
    const double sum = kernels::dot(&local_[t * stride_], search_.exp_step(h), stride_);
    inverse_[t * (states_ + 1) + h] = 1.0 / sum;
    return sum > kSmallestSum;
  }

  // States with a share of at most `least` have none.
  bool forward(double least) {
    std::fill(alpha_.begin(), alpha_.end(), 0.0);
    for (std::size_t t = 0; t < sites_; ++t) {
      std::fill(rows_.begin(), rows_.end(), 0.0);
      const double* inverse = &inverse_[t * (states_ + 1)];
      const auto take = [&](std::size_t h, double mass) {
        const double* step = search_.exp_step(h);
        double* sum = &rows_[alike_[h] * stride_];
        for (std::size_t y = 0; y < stride_; ++y) sum[y] += mass * step[y];
      };
      if (t == 0) {
        if (!normalise(0, states_)) return false;
        take(states_, inverse[states_]);
      }
      for (std::size_t h = 0; t > 0 && h < states_; ++h) {
        const double before = alpha(t - 1)[h];
        if (!(before > 0)) continue;
        if (!normalise(t, h)) return false;
        take(h, before * inverse[h]);
      }
      double* now = &alpha_[t * states_];
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        const std::span<const std::int32_t> goes = search_.goes(kinds_[k]);
        for (std::size_t y = 0; y < labels_; ++y) {
          if (goes[y] >= 0) now[goes[y]] += rows_[k * stride_ + y] * local_[t * stride_ + y];
        }
      }
      double sum = 0;
      for (std::size_t h = 0; h < states_; ++h) sum += now[h];
      if (!(sum > kSmallestSum)) return false;
      scale_[t] = 1.0 / sum;
      for (std::size_t h = 0; h < states_; ++h) now[h] = now[h] > least * sum ? now[h] * scale_[t] : 0.0;
    }
    return true;
  }

  // What of the mass is in states that may be the last.
  double total() const {
    double sum = 0;
    for (std::size_t h = 0; h < states_; ++h) sum += search_.may_end(h) ? alpha(sites_ - 1)[h] : 0.0;
    return sum;
  }

  bool backward() {
    const double whole = total();
    if (!(whole > kSmallestSum)) return false;
    for (std::size_t h = 0; h < states_; ++h) {
      beta_[(sites_ - 1) * states_ + h] = search_.may_end(h) ? 1.0 / whole : 0.0;
    }
    for (std::size_t t = sites_ - 1; t > 0; --t) {
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        const std::span<const std::int32_t> goes = search_.goes(kinds_[k]);
        double* row = &rows_[k * stride_];
        std::fill_n(row, stride_, 0.0);
        for (std::size_t y = 0; y < labels_; ++y) {
          if (goes[y] >= 0) row[y] = local_[t * stride_ + y] * beta(t)[goes[y]] * scale_[t];
        }
      }
      double* before = &beta_[(t - 1) * states_];
      for (std::size_t h = 0; h < states_; ++h) {
        before[h] = 0;
        if (!(alpha(t - 1)[h] > 0)) continue;
        before[h] =
            inverse_[t * (states_ + 1) + h] * kernels::dot(&rows_[alike_[h] * stride_], search_.exp_step(h), stride_);
        if (!(before[h] < kLargestBeta)) return false;
      }
    }
    return true;
  }

  // Calls body(label, state, mass) for what a state with a mass goes on by at the site, in the scale of alpha.
  template <class Body>
  void each_label(std::size_t h, double mass, const Body& body) const {
    const std::span<const std::int32_t> goes = search_.goes(h);
    const double* step = search_.exp_step(h);
    const double* own = &local_[site_ * stride_];
    const double factor = mass * inverse_[site_ * (states_ + 1) + h] * scale_[site_];
    for (std::size_t y = 0; y < labels_; ++y) {
      const double p = factor * step[y] * own[y];
      if (goes[y] >= 0 && p > 0) body(y, static_cast<std::size_t>(goes[y]), p);
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

  const MarkovSearch& search_;
  const FlatReading& reading_;
  std::size_t labels_, states_, stride_;
  std::vector<std::size_t> alike_, kinds_;  // [states + 1]: the kind of a state; a state of each kind
  std::vector<double> local_, inverse_, alpha_, beta_, scale_;
  std::vector<double> rows_;                   // [kinds, stride]
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
  parallel_for((held.size() + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    MarkovFollower follower(search, reading);
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
