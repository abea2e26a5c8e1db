#include "spanloom/inference/chain.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "reachable.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

// A scaled forward or backward value below this, where the graph says that it is positive, sends the sentence to the
// general engine: what was lost by underflow could have mattered further on.
constexpr double kTooSmall = 1e-200;

class ChainSolver final : public Solver {
 public:
  ChainSolver(const ChainStructure& structure, std::span<const double> global)
      : structure_(structure),
        labels_(structure.columns()),
        stride_(structure.stride()),
        global_(global.begin(), global.end()),
        transition_(labels_ * stride_, kMinusInfinity),
        potential_(labels_ * stride_, 0.0),
        reversed_(labels_ * stride_, 0.0),
        pairs_(labels_ * stride_, 0.0),
        extra_global_(labels_ * labels_, 0.0),
        start_(stride_, 0.0),
        end_(stride_, 0.0),
        padding_(stride_, kMinusInfinity),
        forward_(labels_, stride_, kTooSmall, labels(&ChainStructure::may_start), pairs(false)),
        backward_(labels_, stride_, kTooSmall, labels(&ChainStructure::may_end), pairs(true)) {
    double top = 0;
    for (const double g : global_) top = std::max(top, g);
    shift_ = top;  // potentials are exp(transition - shift_), so that none overflows
    for (std::size_t x = 0; x < labels_; ++x) {
      start_[x] = structure.may_start(x) ? 1.0 : 0.0;
      end_[x] = structure.may_end(x) ? 1.0 : 0.0;
      padding_[x] = 0.0;
      for (std::size_t y = 0; y < labels_; ++y) {
        if (!possible(x, y)) continue;
        const double score = global_[x * labels_ + y];
        transition_[x * stride_ + y] = score;
        potential_[x * stride_ + y] = reversed_[y * stride_ + x] = std::exp(score - shift_);
      }
    }
    for (std::size_t x = 0; x < labels_; ++x) {
      for (std::size_t y = 0; y < labels_; ++y) {
        const double p = potential_[x * stride_ + y];
        // A potential that underflows although its transition is possible: the general engine must do the work.
        if (possible(x, y) && p < kTooSmall) extreme_ = true;
      }
    }
  }

  double expectations(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) override {
    const std::size_t sites = unit.sites;
    if (sites == 0) return 0.0;
    double log_z = 0;
    const bool free = mask == nullptr || std::find(mask, mask + sites * labels_, 0) == mask + sites * labels_;
    if (free && !extreme_ && stride_ <= kernels::kShortRow && at_once(sites, scores, expected, log_z)) {
      return log_z;
    }
    scores = masked_(scores, mask, sites, labels_, stride_);
    restricted_ = mask != nullptr;
    if (extreme_ || !forward(sites, scores, log_z)) return by_engine(unit, scores, expected);
    if (log_z == kMinusInfinity) {
      std::fill_n(expected, sites * stride_, 0.0);
      return log_z;
    }
    if (!backward(sites, scores, expected)) return by_engine(unit, scores, expected);
    add_pairs(sites);
    return log_z;
  }

  void add_global(std::span<double> out) override {
    for (std::size_t x = 0; x < labels_; ++x) {
      for (std::size_t y = 0; y < labels_; ++y) {
        out[x * labels_ + y] += pairs_[x * stride_ + y] * potential_[x * stride_ + y] + extra_global_[x * labels_ + y];
      }
    }
    std::fill(pairs_.begin(), pairs_.end(), 0.0);
    std::fill(extra_global_.begin(), extra_global_.end(), 0.0);
  }

  double best(Unit unit, const double* scores, std::vector<std::int32_t>& cells, bool with_global,
              const std::uint8_t* mask) override {
    const std::size_t sites = unit.sites;
    cells.clear();
    if (sites == 0) return 0.0;
    scores = masked_(scores, mask, sites, labels_, stride_);
    best_.resize(2 * stride_);
    back_.resize(sites * stride_);
    double* now = best_.data();
    double* before = now + stride_;
    for (std::size_t y = 0; y < stride_; ++y) now[y] = start_[y] > 0 ? scores[y] : kMinusInfinity;
    for (std::size_t t = 1; t < sites; ++t) {
      std::swap(now, before);
      kernels::max_step(before, transition_.data(), scores + t * stride_, labels_, stride_, now, &back_[t * stride_]);
    }
    std::size_t last = 0;
    double top = kMinusInfinity;
    for (std::size_t y = 0; y < labels_; ++y) {
      if (end_[y] > 0 && now[y] > top) {
        top = now[y];
        last = y;
      }
    }
    if (top == kMinusInfinity) return top;
    cells.resize(sites);
    for (std::size_t t = sites; t-- > 0;) {
      cells[t] = static_cast<std::int32_t>(t * labels_ + last);
      if (t > 0) last = static_cast<std::size_t>(back_[t * stride_ + last]);
    }
    if (with_global) {
      const auto labels = static_cast<std::int32_t>(labels_);
      for (std::size_t t = 1; t < sites; ++t) {
        cells.push_back(static_cast<std::int32_t>(sites) * labels + cells[t - 1] % labels * labels + cells[t] % labels);
      }
    }
    return top;
  }

 private:
  // Sentences without anything special, which are nearly all: forward and backward below, by kernels that take all
  // sites at once. False: the sentence has something special.
  bool at_once(std::size_t sites, const double* scores, double* expected, double& log_z) {
    exp_.resize(sites * stride_);
    alpha_.resize(sites * stride_);
    right_.resize(sites * stride_);
    sums_.resize(sites);
    step_.resize(stride_);
    kernels::exp_rows(scores, padding_.data(), sites, stride_, exp_.data(), sums_.data());
    double total = shift_ * static_cast<double>(sites - 1);
    for (std::size_t t = 0; t < sites; ++t) total += sums_[t];
    if (!std::isfinite(total)) return false;
    const std::span<const double> first = forward_.limits(sites);
    if (!kernels::forward_rows({exp_.data(), start_.data(), potential_.data(), first.data(), first.size() / stride_,
                                sites, labels_, stride_},
                               alpha_.data(), sums_.data())) {
      return false;
    }
    double scale = 1;  // the product of a few row sums at a time, so that one log serves many rows
    for (std::size_t t = 0; t < sites; ++t) {
      if (!(sums_[t] > kTooSmall)) return false;
      scale *= sums_[t];
      if (scale < 1e-100 || scale > 1e100) {
        total += std::log(scale);
        scale = 1;
      }
    }
    const double last = kernels::multiply_sum(&alpha_[(sites - 1) * stride_], end_.data(), stride_, step_.data());
    if (!(last > kTooSmall)) return false;
    const std::span<const double> behind = backward_.limits(sites);
    if (!kernels::backward_rows({exp_.data(), alpha_.data(), end_.data(), reversed_.data(), behind.data(),
                                 behind.size() / stride_, sites, labels_, stride_},
                                expected, right_.data())) {
      return false;
    }
    log_z = total + std::log(scale * last);
    add_pairs(sites);
    return true;
  }

  // Once a sentence is known to be sound, its pair counts join the others.
  void add_pairs(std::size_t sites) {
    if (sites > 1) {
      kernels::add_outers(alpha_.data(), &right_[stride_], sites - 1, labels_, stride_, pairs_.data());
    }
  }

  // Whether a pair of neighbours is legal and has a score above -inf.
  bool possible(std::size_t x, std::size_t y) const {
    return structure_.allowed(x, y) && global_[x * labels_ + y] != kMinusInfinity;
  }

  std::vector<std::uint8_t> labels(bool (ChainStructure::*test)(std::size_t) const) const {
    std::vector<std::uint8_t> row(labels_);
    for (std::size_t y = 0; y < labels_; ++y) row[y] = (structure_.*test)(y) ? 1 : 0;
    return row;
  }

  std::vector<std::uint8_t> pairs(bool reversed) const {
    std::vector<std::uint8_t> step(labels_ * labels_);
    for (std::size_t x = 0; x < labels_; ++x) {
      for (std::size_t y = 0; y < labels_; ++y) {
        step[x * labels_ + y] = (reversed ? possible(y, x) : possible(x, y)) ? 1 : 0;
      }
    }
    return step;
  }

  // Looks for forbidden labels in a sentence where something is smaller than expected; false if there is none.
  bool restrict_to_allowed(std::size_t sites, const double* scores) {
    for (std::size_t t = 0; t < sites && !restricted_; ++t) {
      const double* row = scores + t * stride_;
      restricted_ = std::find(row, row + labels_, kMinusInfinity) != row + labels_;
    }
    if (restricted_) find_allowed(sites, scores);
    return restricted_;
  }

  // allowed_[t]: the labels whose score is above -inf; a set of Reachable.
  void find_allowed(std::size_t sites, const double* scores) {
    const std::size_t words = forward_.words();
    allowed_.assign(sites * words, 0);
    for (std::size_t t = 0; t < sites; ++t) {
      const double* row = scores + t * stride_;
      for (std::size_t y = 0; y < labels_; ++y) Reachable::add(y, row[y] != kMinusInfinity, &allowed_[t * words]);
    }
    reach_.resize(words);
  }

  // Makes reach_ the labels that can stand at t, from those at t - 1; false if there is none.
  bool reach(std::size_t t) {
    t > 0 ? forward_.advance(reach_.data()) : forward_.start(reach_.data());
    return keep_allowed(t);
  }

  // Takes the labels that are not allowed at t out of reach_; false if none is left.
  bool keep_allowed(std::size_t t) {
    Reachable::Word any = 0;
    for (std::size_t w = 0; w < reach_.size(); ++w) any |= reach_[w] &= allowed_[t * reach_.size() + w];
    return any != 0;
  }

  // alpha_[t, y]: probability-scaled sum of the label sequences that end in y at t; every row sums to 1.
  // exp_[t, y]: exp(scores[t, y] - max_y scores[t, y]). False: doubles do not hold it. log Z = -inf: no structure.
  bool forward(std::size_t sites, const double* scores, double& log_z) {
    exp_.resize(sites * stride_);
    alpha_.resize(sites * stride_);
    double total = shift_ * static_cast<double>(sites - 1);
    for (std::size_t t = 0; t < sites; ++t) {
      const double* row = scores + t * stride_;
      double top = row[0];
      for (std::size_t y = 1; y < labels_; ++y) top = std::max(top, row[y]);
      if (top == kMinusInfinity) {
        log_z = top;
        return true;
      }
      if (!std::isfinite(top)) return false;
      total += top;
      double* out = &exp_[t * stride_];
      for (std::size_t y = 0; y < labels_; ++y) out[y] = row[y] - top;
      for (std::size_t y = labels_; y < stride_; ++y) out[y] = 0.0;
    }
    if (restricted_) find_allowed(sites, scores);
    kernels::exp_all(exp_.data(), sites * stride_);
    step_.resize(stride_);
    double log_scale = 0;
    double scale = 1;  // the product of a few row sums at a time, so that one log serves many rows
    for (std::size_t t = 0; t < sites; ++t) {
      double* now = &alpha_[t * stride_];
      if (restricted_ && !reach(t)) {
        log_z = kMinusInfinity;
        return true;
      }
      if (t > 0) kernels::vector_matrix(now - stride_, potential_.data(), labels_, stride_, step_.data());
      const double sum = kernels::multiply_sum(t > 0 ? step_.data() : start_.data(), &exp_[t * stride_], stride_, now);
      const double inverse = 1.0 / sum;
      for (std::size_t y = 0; y < stride_; ++y) now[y] *= inverse;
      if (!(sum > kTooSmall) || !(restricted_ ? forward_.sound(now, reach_.data()) : forward_.sound(now, t))) {
        if (restricted_ || !restrict_to_allowed(sites, scores)) return false;
        for (std::size_t u = 0; u <= t; ++u) {
          if (reach(u)) continue;
          log_z = kMinusInfinity;
          return true;
        }
        if (!(sum > kTooSmall) || !forward_.sound(now, reach_.data())) return false;
      }
      scale *= sum;
      if (scale < 1e-100 || scale > 1e100) {
        log_scale += std::log(scale);
        scale = 1;
      }
    }
    if (restricted_ && !may_end()) {
      log_z = kMinusInfinity;
      return true;
    }
    const double last = kernels::multiply_sum(&alpha_[(sites - 1) * stride_], end_.data(), stride_, step_.data());
    if (!(last > kTooSmall)) return false;
    log_z = total + log_scale + std::log(scale) + std::log(last);
    return true;
  }

  bool may_end() {
    std::vector<Reachable::Word> ends(reach_.size());
    backward_.start(ends.data());
    Reachable::Word any = 0;
    for (std::size_t w = 0; w < ends.size(); ++w) any |= ends[w] & reach_[w];
    return any != 0;
  }

  // beta_[y]: scaled sum of the continuations after y at t; right_[t, y] = exp_[t, y] * beta_t[y], scaled such that
  // P(y_{t-1} = x, y_t = y) = alpha_[t - 1, x] * potential_[x, y] * right_[t, y].
  bool backward(std::size_t sites, const double* scores, double* expected) {
    right_.resize(sites * stride_);
    beta_.assign(end_.begin(), end_.end());
    if (restricted_) backward_.start(reach_.data());
    for (std::size_t t = sites; t-- > 0;) {
      double* out = expected + t * stride_;
      if (!(restricted_ ? backward_.sound(beta_.data(), reach_.data())
                        : backward_.sound(beta_.data(), sites - 1 - t))) {
        return !restricted_ && restrict_to_allowed(sites, scores) && backward(sites, scores, expected);
      }
      const double norm = kernels::multiply_sum(&alpha_[t * stride_], beta_.data(), stride_, out);
      if (!(norm > kTooSmall)) return false;
      const double inverse = 1.0 / norm;
      for (std::size_t y = 0; y < stride_; ++y) out[y] *= inverse;
      if (t == 0) break;
      if (restricted_) {
        keep_allowed(t);
        backward_.advance(reach_.data());
      }
      double* right = &right_[t * stride_];
      kernels::multiply_sum(&exp_[t * stride_], beta_.data(), stride_, right);
      kernels::vector_matrix(right, reversed_.data(), labels_, stride_, beta_.data());
      const double pair_norm = kernels::multiply_sum(&alpha_[(t - 1) * stride_], beta_.data(), stride_, step_.data());
      double sum = 0;
      for (std::size_t y = 0; y < labels_; ++y) sum += beta_[y];
      if (!(pair_norm > kTooSmall) || !(sum > kTooSmall)) return false;
      const double pair_factor = 1.0 / pair_norm;
      for (std::size_t y = 0; y < stride_; ++y) right[y] *= pair_factor;
      const double scale = 1.0 / sum;
      for (std::size_t y = 0; y < stride_; ++y) beta_[y] *= scale;
    }
    return true;
  }

  double by_engine(Unit unit, const double* scores, double* expected) {
    const auto engine = graph_solver(structure_, global_);
    const double log_z = engine->expectations(unit, scores, expected);
    engine->add_global(extra_global_);
    return log_z;
  }

  const ChainStructure& structure_;
  std::size_t labels_;
  std::size_t stride_;
  std::vector<double> global_;
  std::vector<double> transition_;  // [L, stride]: scores, -inf where not allowed
  std::vector<double> potential_;   // [L, stride]: exp(transition - shift_)
  std::vector<double> reversed_;    // its transpose
  std::vector<double> pairs_;       // [L, stride]: expected pairs, without their potential
  std::vector<double> extra_global_;
  std::vector<double> start_;
  std::vector<double> end_;
  std::vector<double> padding_;  // 0 for labels, -inf behind them
  Reachable forward_;
  Reachable backward_;
  double shift_ = 0;
  bool extreme_ = false;
  bool restricted_ = false;  // whether a label is forbidden somewhere in the sentence
  MaskedScores masked_;
  std::vector<Reachable::Word> allowed_, reach_;
  std::vector<double> exp_, alpha_, right_, sums_, beta_, step_, best_;
  std::vector<std::int32_t> back_;
};

}  // namespace

ChainStructure::ChainStructure(std::size_t labels, std::vector<std::uint8_t> allowed, std::vector<std::uint8_t> start,
                               std::vector<std::uint8_t> end)
    : labels_(labels), allowed_(std::move(allowed)), start_(std::move(start)), end_(std::move(end)) {
  if (labels_ == 0 || allowed_.size() != labels_ * labels_ || start_.size() != labels_ || end_.size() != labels_) {
    throw std::invalid_argument("[ChainStructure] " + std::to_string(labels_) + " labels need " +
                                std::to_string(labels_ * labels_) + " pairs, starts and ends; received " +
                                std::to_string(allowed_.size()) + ", " + std::to_string(start_.size()) + ", " +
                                std::to_string(end_.size()));
  }
}

std::unique_ptr<Solver> ChainStructure::solver(std::span<const double> global) const {
  if (global.size() != global_cells()) {
    throw std::invalid_argument("[ChainStructure] " + std::to_string(global.size()) + " global scores, not " +
                                std::to_string(global_cells()));
  }
  return std::make_unique<ChainSolver>(*this, global);
}

}  // namespace spanloom
