#include "spanloom/inference/chain.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "reachable.hpp"
#include "spanloom/base/aligned.hpp"
#include "spanloom/base/sequence_kernels.hpp"
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
        turned_(labels_ * stride_, 0.0),
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
        potential_[x * stride_ + y] = turned_[y * stride_ + x] = std::exp(score - shift_);
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
    scores = masked_(scores, mask, sites, labels_, stride_);
    if (extreme_) return by_engine(unit, scores, expected);
    exp_.resize(sites * stride_);
    sums_.resize(sites);
    kernels::exp_rows(scores, padding_.data(), sites, stride_, exp_.data(), sums_.data());
    double log_z = shift_ * static_cast<double>(sites - 1);
    for (std::size_t t = 0; t < sites; ++t) log_z += sums_[t];
    const Found found = std::isfinite(log_z) ? sums(sites, scores, log_z) : Found::kLost;
    if (found == Found::kNothing) {
      std::fill_n(expected, sites * stride_, 0.0);
      return kMinusInfinity;
    }
    if (found == Found::kLost ||
        !kernels::chain_marginals(rows(sites), kTooSmall, from_.data(), sums_.data(), to_.data(), expected)) {
      return by_engine(unit, scores, expected);
    }
    if (sites > 1) {
      kernels::add_outers(from_.data(), &to_[stride_], sites - 1, labels_, stride_, pairs_.data());
    }
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
  // What the sums of a sentence hold: everything; less, so that the general engine must do the work; no structure.
  enum class Found { kAll, kLost, kNothing };

  kernels::ChainRows rows(std::size_t sites) const {
    return {exp_.data(), start_.data(), end_.data(), potential_.data(), turned_.data(), sites, labels_, stride_};
  }

  Found sums(std::size_t sites, const double* scores, double& log_z) {
    from_.resize(sites * stride_);
    to_.resize(sites * stride_);
    const std::span<const double> first = forward_.limits(sites);
    const std::span<const double> behind = backward_.limits(sites);
    if (!kernels::chain_sums(rows(sites),
                             {first.data(), behind.data(), first.size() / stride_, behind.size() / stride_},
                             from_.data(), sums_.data(), to_.data())) {
      const Found found = look_closer(sites, scores);
      if (found != Found::kAll) return found;
    }
    double scale = 0;  // the product of a few sums at a time, so that one log serves many rows
    for (std::size_t y = 0; y < labels_; ++y) scale += from_[(sites - 1) * stride_ + y] * end_[y];
    if (!(scale > kTooSmall)) return Found::kLost;
    for (std::size_t t = 0; t + 1 < sites; ++t) {
      if (!(sums_[t] > kTooSmall)) return Found::kLost;
      if (scale < 1e-100 || scale > 1e100) {
        log_z += std::log(scale);
        scale = 1;
      }
      scale *= sums_[t];
    }
    log_z += std::log(scale);
    return Found::kAll;
  }

  // For a sentence with sums that are too small: whether they are so only where forbidden labels leave no way.
  Found look_closer(std::size_t sites, const double* scores) {
    const std::size_t words = forward_.words();
    allowed_.assign(sites * words, 0);
    for (std::size_t t = 0; t < sites; ++t) {
      const double* row = scores + t * stride_;
      for (std::size_t y = 0; y < labels_; ++y) Reachable::add(y, row[y] != kMinusInfinity, &allowed_[t * words]);
    }
    reach_.resize(words);
    ends_.resize(words);
    forward_.start(reach_.data());
    bool sound = true;
    for (std::size_t t = 0; t < sites; ++t) {
      if (t > 0) forward_.advance(reach_.data());
      if (!Reachable::keep(&allowed_[t * words], reach_)) return Found::kNothing;
      sound &= forward_.sound(&from_[t * stride_], reach_.data());
    }
    backward_.start(ends_.data());
    if (!Reachable::keep(ends_.data(), reach_)) return Found::kNothing;
    for (std::size_t t = sites; t-- > 0;) {
      sound &= backward_.sound(&to_[t * stride_], ends_.data());
      Reachable::keep(&allowed_[t * words], ends_);
      backward_.advance(ends_.data());
    }
    return sound ? Found::kAll : Found::kLost;
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
  std::vector<double> transition_;   // [L, stride]: scores, -inf where not allowed
  AlignedVector<double> potential_;  // [L, stride]: exp(transition - shift_)
  AlignedVector<double> turned_;     // its transpose
  AlignedVector<double> pairs_;      // [L, stride]: expected pairs, without their potential
  std::vector<double> extra_global_;
  AlignedVector<double> start_;
  AlignedVector<double> end_;
  AlignedVector<double> padding_;  // 0 for labels, -inf behind them
  Reachable forward_;
  Reachable backward_;
  double shift_ = 0;
  bool extreme_ = false;
  MaskedScores masked_;
  std::vector<Reachable::Word> allowed_, reach_, ends_;
  AlignedVector<double> exp_, sums_, from_, to_;  // see kernels::chain_sums
  std::vector<double> best_;
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
