#include <algorithm>
#include <numeric>

#include "spanloom/inference/hypergraph.hpp"
#include "spanloom/inference/mention_reader.hpp"
#include "walks.hpp"
#include "wide.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kDeepest = 256;
// Mass that is too small to be seen in any result.
constexpr double kNothing = 1e-30;

// Separators as in SeparatorReading: S + 2 E + 4 C.
enum Separator : std::int32_t { kS = 1, kE = 2, kC = 4 };

using Hypergraph = HypergraphStructure;

// What the hypergraph believes of the mention sets of one sentence, as a Markov chain along the gaps: its state is the
// number r of times that the token before a gap is reached, which its choices are counted.
//
//   after[g, r]   sum over what follows, from gap g on, of exp(scores)
//   share[g, r]   the probabilities of what the gap can be, given r: C, E or both, each without and with S
//   mass[g, r]    the probability of r before gap g
//
// r grows by one a gap at most; rows of shares and mass go as far as there is mass. Sums reach far beyond the range of
// doubles, as scores are multiplied by r.
class HypergraphPosterior {
 public:
  struct Shares {
    double ends[2] = {}, goes[2] = {}, both[2] = {};  // without and with S; for r = 0: nothing is there that could end
  };

  void read(const double* scores, std::size_t sites, std::size_t stride) {
    tokens_ = sites;
    depth_ = std::min(sites, kDeepest);
    width_ = depth_ + 2;  // the last one is never reached
    after_.assign((sites + 1) * width_, Wide());
    backward(scores, stride);
    forward(scores, stride);
  }

  std::size_t gaps() const { return tokens_ + 1; }
  std::size_t width() const { return width_; }
  std::size_t counts(std::size_t gap) const { return first_[gap + 1] - first_[gap]; }  // there is mass below that
  double mass(std::size_t gap, std::size_t r) const { return mass_[first_[gap] + r]; }
  const Shares& shares(std::size_t gap, std::size_t r) const { return shares_[first_[gap] + r]; }

 private:
  void backward(const double* scores, std::size_t stride) {
    starts_.resize(2 * (tokens_ + 1));
    for (std::size_t g = tokens_ + 1; g-- > 0;) {
      const bool last = g == tokens_;
      const double* next = scores + g * stride;
      starts_[2 * g] = last ? Wide(1.0) : Wide::exp(next[Hypergraph::kNone]);
      starts_[2 * g + 1] = last ? Wide() : Wide::exp(next[Hypergraph::kStart]);
      const Wide fresh = onward(g, 0, 0) + onward(g, 0, 1);
      Wide* row = &after_[g * width_];
      row[0] = fresh;
      if (g == 0) continue;
      const double* own = next - stride;
      const Wide end = Wide::exp(own[Hypergraph::kEnd]);
      const Wide go = Wide::exp(own[Hypergraph::kContinue]);
      const Wide both = Wide::exp(own[Hypergraph::kBoth]);
      Wide ends(1.0), goes(1.0), boths(1.0);
      for (std::size_t r = 1; r <= std::min(g, depth_); ++r) {
        ends = ends * end;
        goes = goes * go;
        boths = boths * both;
        row[r] = ends * fresh;
        if (!last) row[r] = row[r] + (goes + boths) * (onward(g, r, 0) + onward(g, r, 1));
      }
    }
  }

  // What follows if `kept` ways to reach the token before a gap go on, and a mention starts there or not.
  Wide onward(std::size_t g, std::size_t kept, std::size_t starts) const {
    if (g == tokens_) return starts == 0 && kept == 0 ? Wide(1.0) : Wide();
    return starts_[2 * g + starts] * after_[(g + 1) * width_ + std::min(kept + starts, width_ - 1)];
  }

  void forward(const double* scores, std::size_t stride) {
    first_ = {0};
    mass_ = {1.0};
    shares_.clear();
    for (std::size_t g = 0; g <= tokens_; ++g) {
      const std::size_t counts = mass_.size() - first_[g];
      first_.push_back(mass_.size());
      if (g < tokens_) mass_.resize(mass_.size() + std::min(counts + 1, width_), 0.0);
      for (std::size_t r = 0; r < counts; ++r) {
        const double mass = mass_[first_[g] + r];
        const Shares& now = shares_.emplace_back(mass < kNothing ? Shares() : share(scores + g * stride, stride, g, r));
        if (g == tokens_ || mass < kNothing) continue;
        double* next = &mass_[first_[g + 1]];
        for (std::size_t s = 0; s < 2; ++s) {
          next[s] += mass * now.ends[s];
          if (r > 0 && r + s < width_) next[r + s] += mass * (now.goes[s] + now.both[s]);
        }
      }
      while (g < tokens_ && mass_.size() > first_[g + 1] + 1 && mass_.back() < kNothing) mass_.pop_back();
    }
  }

  // What gap g can be, given r; `next` are the scores of the token after it.
  Shares share(const double* next, std::size_t stride, std::size_t g, std::size_t r) const {
    Shares made;
    const Wide& all = after_[g * width_ + r];
    const double* own = g > 0 ? next - stride : next;  // r is 0 before the first token, so that it is not read there
    const auto times = static_cast<double>(r);
    const Wide end = r > 0 ? Wide::exp(times * own[Hypergraph::kEnd]) : Wide(1.0);
    for (std::size_t s = 0; s < 2; ++s) made.ends[s] = Wide::share(end * onward(g, 0, s), all);
    if (r == 0 || g == tokens_) return made;
    const Wide go = Wide::exp(times * own[Hypergraph::kContinue]);
    const Wide both = Wide::exp(times * own[Hypergraph::kBoth]);
    for (std::size_t s = 0; s < 2; ++s) {
      const Wide rest = onward(g, r, s);
      made.goes[s] = Wide::share(go * rest, all);
      made.both[s] = Wide::share(both * rest, all);
    }
    return made;
  }

  std::size_t tokens_ = 0, depth_ = 0, width_ = 0;
  std::vector<Wide> after_, starts_;
  std::vector<std::size_t> first_;  // [gaps + 1]: where the rows of mass and shares begin
  std::vector<double> mass_;
  std::vector<Shares> shares_;
};

// Follows one start; see walks.hpp. Sites are gaps; mass[q, r] by state of the reading and count.
class HypergraphFollower {
 public:
  HypergraphFollower(const HypergraphPosterior& posterior, const SeparatorReading& reading)
      : p_(posterior), reading_(reading) {}

  double at_most(std::size_t gap) const {
    double opens = 0;
    for (std::size_t r = 0; r < p_.counts(gap); ++r) {
      const auto& shares = p_.shares(gap, r);
      opens += p_.mass(gap, r) * (shares.ends[1] + shares.goes[1] + shares.both[1]);
    }
    return opens;
  }

  void open(std::size_t gap, std::int32_t) {
    gap_ = gap;
    now_.clear();
    for (std::size_t r = 0; r < p_.counts(gap); ++r) {
      const auto& shares = p_.shares(gap, r);
      const double mass = p_.mass(gap, r);
      add(now_, reading_.opens(0, kS), 1, mass * shares.ends[1]);
      add(now_, reading_.opens(0, kS + kC), r + 1, mass * (shares.goes[1] + shares.both[1]));
    }
    finish();
  }

  void advance() {
    ended_ = 0;
    next_.clear();
    if (++gap_ < p_.gaps()) {
      for (std::size_t at = 0; at < now_.size(); ++at) {
        if (now_[at] < kNothing) continue;
        const auto q = static_cast<std::int32_t>(at / p_.width());
        const std::size_t r = at % p_.width();
        if (r >= p_.counts(gap_)) continue;
        const auto& shares = p_.shares(gap_, r);
        for (std::size_t s = 0; s < 2; ++s) {
          const auto start = static_cast<std::int32_t>(s);
          take(q, kE + start, s, now_[at] * shares.ends[s]);
          take(q, kC + start, r + s, now_[at] * shares.goes[s]);
          take(q, kE + kC + start, r + s, now_[at] * shares.both[s]);
        }
      }
    }
    std::swap(now_, next_);
    finish();
  }

  double left() const { return left_; }
  double ended(std::int32_t) const { return ended_; }
  std::size_t site() const { return gap_; }

 private:
  void take(std::int32_t state, std::int32_t separator, std::size_t count, double mass) {
    const Step step = reading_.step(state, 0, separator);
    if (step.ends) ended_ += mass;
    add(next_, step.state, count, mass);
  }

  void add(std::vector<double>& values, std::int32_t state, std::size_t count, double mass) const {
    if (state < 0 || mass < kNothing) return;
    const std::size_t at = static_cast<std::size_t>(state) * p_.width() + count;
    if (values.size() <= at) values.resize((static_cast<std::size_t>(state) + 1) * p_.width(), 0.0);
    values[at] += mass;
  }

  void finish() { left_ = std::accumulate(now_.begin(), now_.end(), 0.0); }

  const HypergraphPosterior& p_;
  const SeparatorReading& reading_;
  std::vector<double> now_, next_;
  std::size_t gap_ = 0;
  double left_ = 0, ended_ = 0;
};

class HypergraphBeliefs final : public MentionBeliefs {
 public:
  explicit HypergraphBeliefs(const SeparatorReading& reading) : follower_(posterior_, reading) {}

  void read(const double* scores, std::size_t sites, std::size_t stride) override {
    posterior_.read(scores, sites, stride);
  }
  void probabilities(std::span<Found> mentions) override {
    follow_given(follower_, posterior_.gaps(), 1, mentions);
    for (Found& one : mentions) one.prob = std::min(one.prob, 1.0);
  }
  std::vector<Found> mentions_above(double above) override {
    std::vector<Found> found = follow_all(follower_, posterior_.gaps(), 1, above);
    for (Found& one : found) one.prob = std::min(one.prob, 1.0);
    return found;
  }

 private:
  HypergraphPosterior posterior_;
  HypergraphFollower follower_;
};

class HypergraphReader final : public MentionReader {
 public:
  HypergraphReader() : reading_({0, 1, 2, 3, 4, 5, 6, 7}) {}

  std::size_t columns() const override { return Hypergraph::kColumns; }
  std::int32_t types() const override { return 1; }

  void read(std::span<const std::int32_t> cells, std::size_t sites, std::vector<Found>& out) const override {
    const auto columns = static_cast<std::int32_t>(Hypergraph::kColumns);
    std::vector<std::int32_t> gaps(sites + 1, 0);
    for (const std::int32_t cell : cells) {
      if (cell < 0 || static_cast<std::size_t>(cell) >= sites * Hypergraph::kColumns)
        throw std::invalid_argument("[MentionReader] cell " + std::to_string(cell) + " of " + std::to_string(sites) +
                                    " tokens");
      const auto token = static_cast<std::size_t>(cell / columns);
      switch (cell % columns) {
        case Hypergraph::kStart:
          gaps[token] |= kS;
          break;
        case Hypergraph::kContinue:
          gaps[token + 1] |= kC;
          break;
        case Hypergraph::kEnd:
          gaps[token + 1] |= kE;
          break;
        case Hypergraph::kBoth:
          gaps[token + 1] |= kE + kC;
          break;
        default:
          break;
      }
    }
    for (std::size_t g = 0; g <= sites; ++g) gaps[g] += static_cast<std::int32_t>(8 * g);
    reading_.read(gaps, out);
  }

  std::unique_ptr<MentionBeliefs> beliefs() const override { return std::make_unique<HypergraphBeliefs>(reading_); }

 private:
  SeparatorReading reading_;
};

}  // namespace

std::shared_ptr<const MentionReader> hypergraph_reader() { return std::make_shared<HypergraphReader>(); }

}  // namespace spanloom
