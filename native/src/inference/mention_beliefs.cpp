#include "spanloom/inference/mention_beliefs.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"
#include "spanloom/inference/posterior.hpp"
#include "walks.hpp"

namespace spanloom {
namespace {

// Mass that is too small to be seen in any result.
constexpr double kNothing = 1e-30;

// Follows one start through the dense rows; see walks.hpp.
template <class Reading>
class DenseFollower;

// Columns of different types have a border between them: the mass of all types stands side by side in one row.
template <>
class DenseFollower<FlatReading> {
 public:
  DenseFollower(const ChainPosterior& posterior, const FlatReading& reading)
      : p_(posterior),
        reading_(reading),
        inside_(posterior.potential()),
        border_(inside_.size(), 0.0),
        closing_(inside_.size(), 0.0),
        now_(posterior.stride()),
        next_(posterior.stride()),
        ended_(static_cast<std::size_t>(reading.types())) {
    const std::size_t stride = p_.stride();
    for (std::size_t x = 0; x < p_.columns(); ++x) {
      for (std::size_t y = 0; y < p_.columns(); ++y) {
        if (!reading.border(static_cast<std::int32_t>(x), static_cast<std::int32_t>(y))) continue;
        border_[x * stride + y] = closing_[y * stride + x] = inside_[x * stride + y];
        inside_[x * stride + y] = 0.0;
      }
    }
  }

  void start_sentence() {
    known_.assign(p_.sites(), 0);
    ends_.resize(p_.sites() * p_.stride());
  }

  double at_most(std::size_t site) const {
    double inside = 0;
    for (std::size_t y = 0; y < p_.columns(); ++y) {
      if (type(y) >= 0) inside += p_.alpha(site)[y] * p_.beta(site)[y];
    }
    return inside;
  }

  void open(std::size_t site, std::int32_t only) {
    site_ = site;
    if (site == 0) {
      std::copy_n(p_.alpha(0), p_.stride(), now_.data());
    } else {
      kernels::vector_matrix(p_.alpha(site - 1), border_.data(), p_.columns(), p_.stride(), next_.data());
      kernels::multiply_sum(next_.data(), p_.local(site), p_.stride(), now_.data());
    }
    for (std::size_t y = 0; y < p_.columns(); ++y) {
      if (type(y) < 0 || (only >= 0 && type(y) != only)) now_[y] = 0.0;
    }
    weigh();
  }

  void advance() {
    const double* ends = ends_at(++site_);
    std::fill(ended_.begin(), ended_.end(), 0.0);
    for (std::size_t x = 0; x < p_.columns(); ++x) {
      if (type(x) >= 0) ended_[type(x)] += now_[x] * ends[x];
    }
    if (site_ == p_.sites()) {
      left_ = 0;
      return;
    }
    kernels::vector_matrix(now_.data(), inside_.data(), p_.columns(), p_.stride(), next_.data());
    kernels::multiply_sum(next_.data(), p_.local(site_), p_.stride(), now_.data());
    weigh();
  }

  double left() const { return left_; }
  double ended(std::int32_t type) const { return ended_[type]; }
  std::size_t site() const { return site_; }

 private:
  std::int32_t type(std::size_t column) const { return reading_.type(static_cast<std::int32_t>(column)); }
  void weigh() { left_ = kernels::multiply_sum(now_.data(), p_.beta(site_), p_.stride(), next_.data()); }

  // ends[x]: what follows column x just before a site, if there is a border between the two.
  const double* ends_at(std::size_t site) {
    if (site == p_.sites()) return p_.beta(site - 1);
    double* row = &ends_[site * p_.stride()];
    if (!known_[site]) {
      known_[site] = 1;
      kernels::multiply_sum(p_.local(site), p_.beta(site), p_.stride(), next_.data());
      kernels::vector_matrix(next_.data(), closing_.data(), p_.columns(), p_.stride(), row);
    }
    return row;
  }

  const ChainPosterior& p_;
  const FlatReading& reading_;
  std::vector<double> inside_, border_, closing_;  // [columns, stride]: potentials without a border, with one, and the
                                                   // transpose of that
  std::vector<double> now_, next_, ended_, ends_;
  std::vector<std::uint8_t> known_;
  std::size_t site_ = 0;
  double left_ = 0;
};

// What a separator does does not depend on the one before it: a row of mass for each state of the reading.
template <>
class DenseFollower<SeparatorReading> {
 public:
  DenseFollower(const ChainPosterior& posterior, const SeparatorReading& reading)
      : p_(posterior), reading_(reading), step_(posterior.stride()), whole_(posterior.stride()) {}

  void start_sentence() {}

  double at_most(std::size_t site) const {
    double opens = 0;
    for (std::size_t y = 0; y < p_.columns(); ++y) {
      if (opening(y) >= 0) opens += p_.alpha(site)[y] * p_.beta(site)[y];
    }
    return opens;
  }

  void open(std::size_t site, std::int32_t) {
    site_ = site;
    states_ = 0;
    now_.clear();
    for (std::size_t y = 0; y < p_.columns(); ++y) {
      if (opening(y) >= 0) add(now_, opening(y), y, p_.alpha(site)[y]);
    }
    finish();
  }

  void advance() {
    ended_ = 0;
    if (++site_ == p_.sites()) {  // nothing ends beyond the last gap
      left_ = 0;
      return;
    }
    next_.clear();
    const std::size_t states = states_;
    states_ = 0;
    for (std::size_t q = 0; q < states; ++q) {
      kernels::vector_matrix(&now_[q * p_.stride()], p_.potential().data(), p_.columns(), p_.stride(), step_.data());
      if (kernels::multiply_sum(step_.data(), p_.local(site_), p_.stride(), step_.data()) == 0.0) continue;
      for (std::size_t y = 0; y < p_.columns(); ++y) {
        const Step step = reading_.step(static_cast<std::int32_t>(q), 0, static_cast<std::int32_t>(y));
        if (step.ends) ended_ += step_[y] * p_.beta(site_)[y];
        if (step.state >= 0) add(next_, step.state, y, step_[y]);
      }
    }
    std::swap(now_, next_);
    finish();
  }

  double left() const { return left_; }
  double ended(std::int32_t) const { return ended_; }
  std::size_t site() const { return site_; }

 private:
  std::int32_t opening(std::size_t y) const { return reading_.opens(0, static_cast<std::int32_t>(y)); }

  void add(std::vector<double>& values, std::int32_t state, std::size_t column, double mass) {
    const auto row = static_cast<std::size_t>(state);
    if (values.size() < (row + 1) * p_.stride()) values.resize((row + 1) * p_.stride(), 0.0);
    states_ = std::max(states_, row + 1);
    values[row * p_.stride() + column] += mass;
  }

  // Drops the highest states if next to nothing is there, so that depth stays small.
  void finish() {
    left_ = 0;
    std::size_t used = 0;
    for (std::size_t q = 0; q < states_; ++q) {
      const double own = kernels::multiply_sum(&now_[q * p_.stride()], p_.beta(site_), p_.stride(), whole_.data());
      left_ += own;
      if (own >= kNothing) used = q + 1;
    }
    states_ = used;
  }

  const ChainPosterior& p_;
  const SeparatorReading& reading_;
  std::vector<double> now_, next_, step_, whole_;
  std::size_t site_ = 0, states_ = 0;
  double left_ = 0, ended_ = 0;
};

template <class Reading>
class Beliefs final : public MentionBeliefs {
 public:
  Beliefs(const ChainStructure& structure, std::span<const double> transitions, const Reading& reading)
      : reading_(reading),
        maker_(structure, transitions),
        posterior_(structure, transitions),
        follower_(posterior_, reading) {}

  void read(const double* scores, std::size_t sites, std::size_t stride) override {
    dense_ = posterior_.read(scores, sites, stride);
    if (dense_) {
      follower_.start_sentence();
      return;
    }
    packed_.clear();
    for (std::size_t t = 0; t < sites; ++t) {
      packed_.insert(packed_.end(), scores + t * stride, scores + t * stride + posterior_.columns());
    }
  }

  void probabilities(std::span<Found> mentions) override {
    if (dense_) {
      follow_given(follower_, posterior_.sites(), reading_.types(), mentions);
    } else {
      spanloom::probabilities(maker_.make(packed_), reading_, mentions);
    }
    for (Found& one : mentions) one.prob = std::min(one.prob, 1.0);
  }

  std::vector<Found> mentions_above(double above) override {
    std::vector<Found> found = dense_ ? follow_all(follower_, posterior_.sites(), reading_.types(), above)
                                      : spanloom::mentions_above(maker_.make(packed_), reading_, above);
    for (Found& one : found) one.prob = std::min(one.prob, 1.0);
    return found;
  }

 private:
  const Reading& reading_;
  TrellisMaker maker_;
  ChainPosterior posterior_;
  DenseFollower<Reading> follower_;
  bool dense_ = false;
  std::vector<double> packed_;
};

}  // namespace

template <class Reading>
std::unique_ptr<MentionBeliefs> mention_beliefs(const ChainStructure& structure, std::span<const double> transitions,
                                                const Reading& reading) {
  if (structure.columns() != reading.columns()) {
    throw std::invalid_argument("[mention_beliefs] a reading of " + std::to_string(reading.columns()) +
                                " columns for a chain of " + std::to_string(structure.columns()));
  }
  return std::make_unique<Beliefs<Reading>>(structure, transitions, reading);
}

template std::unique_ptr<MentionBeliefs> mention_beliefs(const ChainStructure&, std::span<const double>,
                                                         const FlatReading&);
template std::unique_ptr<MentionBeliefs> mention_beliefs(const ChainStructure&, std::span<const double>,
                                                         const SeparatorReading&);

}  // namespace spanloom
