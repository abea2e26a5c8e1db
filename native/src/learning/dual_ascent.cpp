#include "spanloom/learning/dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"

namespace spanloom {
namespace {

constexpr double kSure = 12;       // theta of the targets at the beginning: mu is near them, w near 0
constexpr double kRelax = 1.3;     // over-relaxation
constexpr double kShare = 1.0;     // passes of a round visit sentences that promise more than this share of the mean
constexpr int kPasses = 20;        // of a round; the last is over all sentences
constexpr int kFirst = 3;          // passes over all sentences at the beginning
constexpr int kTries = 8;          // of one step
constexpr float kNothing = 1e-6F;  // changes of a site below this do not move w; refresh() adds them up

std::vector<float> squares(const std::vector<double>& scale) {
  std::vector<float> out;
  for (const double s : scale) out.push_back(static_cast<float>(s * s));
  return out;
}

}  // namespace

DualAscent::DualAscent(std::shared_ptr<const CompressedRows> x, std::vector<Problem> problems, double share, double l2,
                       std::uint64_t seed)
    : x_(std::move(x)),
      problems_(std::move(problems)),
      share_(share),
      l2_(l2),
      pulled_(l2),
      random_(seed),
      squared_scale_(squares(x_->scale)),
      products_(x_->rows, squared_scale_) {
  if (!(l2 > 0) || !std::isfinite(l2)) {
    throw std::invalid_argument("[DualAscent] the penalty l2 must be above 0; received " + std::to_string(l2));
  }
  if (!(share >= 0) || !std::isfinite(share)) {
    throw std::invalid_argument("[DualAscent] the share must be at least 0; received " + std::to_string(share));
  }
  if (problems_.empty()) throw std::invalid_argument("[DualAscent] there is no problem to solve");
  if (x_->bundles() > 0) throw std::invalid_argument("[DualAscent] rows must have no bundles");
  columns_ = problems_[0].structure->columns();
  stride_ = problems_[0].structure->stride();
  cells_ = problems_[0].structure->global_cells();
  for (const Problem& problem : problems_) {
    if (problem.structure->columns() != columns_ || problem.structure->global_cells() != cells_) {
      throw std::invalid_argument("[DualAscent] problems must have the same columns and global cells; received " +
                                  std::to_string(problem.structure->columns()) + " and " +
                                  std::to_string(problem.structure->global_cells()) + " beside " +
                                  std::to_string(columns_) + " and " + std::to_string(cells_));
    }
    if (!problem.supervision.masks.empty()) {
      throw std::invalid_argument("[DualAscent] takes targets for all sentences, not masks: their loss is not convex");
    }
    problem.supervision.check(x_->rows.group_ptr, *problem.structure);
    if (cells_ == 0) solvers_.push_back(problem.structure->solver({}));
  }
  const std::size_t count = problems_.size();
  const std::size_t sites = x_->rows.rows();
  sentences_.resize(count * groups());
  theta_.assign(count * sites * stride_, 0.0F);
  mu_.assign(count * sites * stride_, 0.0F);
  global_theta_.assign(count * groups() * cells_, 0.0F);
  global_mu_.assign(count * groups() * cells_, 0.0F);
  weights_.assign(count * x_->classes() * stride_, 0.0F);
  if (share_ > 0) common_.assign(x_->classes() * stride_, 0.0F);
  global_.assign(count * cells_, 0.0);
  global_scores_.assign(cells_, 0.0);
  global_trial_.assign(cells_, 0.0);
  global_expected_.assign(cells_, 0.0);
  global_change_.assign(cells_, 0.0);
}

DualAscent::Place DualAscent::place(std::size_t problem, std::size_t group) const {
  const auto first = static_cast<std::size_t>(x_->rows.group_ptr[group]);
  const auto last = static_cast<std::size_t>(x_->rows.group_ptr[group + 1]);
  return {problem,
          group,
          first,
          last - first,
          (problem * x_->rows.rows() + first) * stride_,
          (problem * groups() + group) * cells_};
}

// log Z and expected uses under trial_ and global_trial_.
double DualAscent::infer(const Place& at) {
  expected_.resize(at.sites * stride_);
  std::unique_ptr<Solver> made;
  if (cells_ > 0) made = problems_[at.problem].structure->solver(global_trial_);
  Solver& solver = made ? *made : *solvers_[at.problem];
  const double log_z = solver.expectations({at.sites, at.group}, trial_.data(), expected_.data());
  if (!std::isfinite(log_z)) {
    throw std::domain_error("[DualAscent] sentence " + std::to_string(at.group) +
                            " has no structure, or scores overflow");
  }
  if (cells_ > 0) {
    std::fill(global_expected_.begin(), global_expected_.end(), 0.0);
    solver.add_global(global_expected_);
  }
  return log_z;
}

void DualAscent::begin(const Place& at) {
  const Supervision& supervision = problems_[at.problem].supervision;
  trial_.assign(at.sites * stride_, 0.0);
  std::fill(global_trial_.begin(), global_trial_.end(), 0.0);
  const Structures& targets = supervision.structures;
  for (std::int64_t i = targets.ptr[at.group]; i < targets.ptr[at.group + 1]; ++i) {
    const auto cell = static_cast<std::size_t>(targets.cells[i]);
    const double value = supervision.values.empty() ? 1.0 : supervision.values[static_cast<std::size_t>(i)];
    if (cell < at.sites * columns_) trial_[cell / columns_ * stride_ + cell % columns_] = kSure * value;
  }
  double entropy = infer(at);
  for (std::size_t i = 0; i < at.sites * stride_; ++i) {
    entropy -= trial_[i] * expected_[i];
    theta_[at.cells + i] = static_cast<float>(trial_[i]);
    mu_[at.cells + i] = static_cast<float>(expected_[i]);
  }
  for (std::size_t i = 0; i < cells_; ++i) global_mu_[at.globals + i] = static_cast<float>(global_expected_[i]);
  own(at).entropy = entropy;
}

// all -= factor * scale^2 * X^T change_, for the sites that change.
template <std::size_t Stride>
void DualAscent::scatter(const Place& at, float factor, float* all) {
  const SparseRows& rows = x_->rows;
  const std::size_t stride = Stride > 0 ? Stride : stride_;
  for (std::size_t t = 0; t < at.sites; ++t) {
    const float* row = &change_[t * stride];
    float most = 0;
    for (std::size_t k = 0; k < stride; ++k) most = std::max(most, std::abs(row[k]));
    if (most < kNothing) continue;
    for (std::int64_t e = rows.row_ptr[at.first + t]; e < rows.row_ptr[at.first + t + 1]; ++e) {
      const std::uint32_t c = rows.ids[e];
      const float by = factor * squared_scale_[c] * (rows.values.empty() ? 1.0F : rows.values[e]);
      float* weights = all + c * stride;
      for (std::size_t k = 0; k < stride; ++k) weights[k] -= by * row[k];
    }
  }
}

// Moves w by the change of one sentence, or back with a negative sign.
void DualAscent::move(const Place& at, double sign) {
  const double factor = sign / (2 * pulled_);
  for (std::size_t i = 0; i < cells_; ++i) global_[at.problem * cells_ + i] -= factor * global_change_[i];
  const auto add = [&](float* to) {
    switch (stride_) {
      case 4:
        return scatter<4>(at, static_cast<float>(factor), to);
      case 8:
        return scatter<8>(at, static_cast<float>(factor), to);
      case 16:
        return scatter<16>(at, static_cast<float>(factor), to);
      default:
        return scatter<0>(at, static_cast<float>(factor), to);
    }
  };
  add(weights_.data() + at.problem * x_->classes() * stride_);
  if (share_ > 0) add(common_.data());
}

// The scores of w for the sites of a sentence.
void DualAscent::gather(const Place& at, std::vector<double>& out) {
  const SparseRows& rows = x_->rows;
  const float* values = rows.values.empty() ? nullptr : rows.values.data();
  const auto add_up = [&](const float* weights, std::vector<double>& to) {
    to.resize(at.sites * stride_);
    kernels::gather_rows(weights, stride_, rows.row_ptr.data(), rows.ids, values, at.first, at.first + at.sites,
                         to.data());
  };
  add_up(weights_.data() + at.problem * x_->classes() * stride_, out);
  if (!(share_ > 0)) return;
  add_up(common_.data(), common_scores_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += share_ * common_scores_[i];
}

// Makes a step of this length, and says what it brings: theta is in trial_, mu in expected_; in a long sentence w has
// moved.
DualAscent::Trial DualAscent::attempt(const Place& at, double step) {
  const std::size_t size = at.sites * stride_;
  const double weighed = weight(at);
  const float* theta = &theta_[at.cells];
  const float* mu = &mu_[at.cells];
  for (std::size_t i = 0; i < size; ++i) {
    const double from = static_cast<double>(theta[i]);
    trial_[i] = static_cast<double>(static_cast<float>(from + step * (scores_[i] - from)));
  }
  for (std::size_t i = 0; i < cells_; ++i) {
    const double from = static_cast<double>(global_theta_[at.globals + i]);
    global_trial_[i] = static_cast<double>(static_cast<float>(from + step * (global_scores_[i] - from)));
  }
  Trial out;
  out.entropy = infer(at);
  double along_scores = 0;
  double along_step = 0;
  change_.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    out.entropy -= trial_[i] * expected_[i];
    const double d = expected_[i] - static_cast<double>(mu[i]);
    along_scores += scores_[i] * d;
    along_step += (scores_[i] - static_cast<double>(theta[i])) * d;
    change_[i] = static_cast<float>(weighed * d);
  }
  double square_of_change = 0;
  for (std::size_t i = 0; i < cells_; ++i) {
    out.entropy -= global_trial_[i] * global_expected_[i];
    const double d = global_expected_[i] - static_cast<double>(global_mu_[at.globals + i]);
    along_scores += global_scores_[i] * d;
    along_step += (global_scores_[i] - static_cast<double>(global_theta_[at.globals + i])) * d;
    global_change_[i] = weighed * d;
    square_of_change += (1 + share_) * global_change_[i] * global_change_[i];
  }
  if (products_.has(at.group)) {
    square_of_change += (1 + share_) * products_.square(at.group, change_, stride_, kNothing);
  } else {
    // (1 + share) |X^T change|^2 / (2 l2) is how much less the scores of w fit the change once w has moved.
    move(at, 1.0);
    gather(at, moved_);
    for (std::size_t i = 0; i < size; ++i) {
      square_of_change += 2 * pulled_ * (scores_[i] - moved_[i]) * static_cast<double>(change_[i]);
    }
  }
  out.slope = weighed * along_step / step;
  out.gain = weighed * (out.entropy - own(at).entropy + along_scores) - square_of_change / (4 * pulled_);
  return out;
}

void DualAscent::accept(const Place& at, const Trial& trial) {
  for (std::size_t i = 0; i < at.sites * stride_; ++i) {
    theta_[at.cells + i] = static_cast<float>(trial_[i]);
    mu_[at.cells + i] = static_cast<float>(expected_[i]);
  }
  for (std::size_t i = 0; i < cells_; ++i) {
    global_theta_[at.globals + i] = static_cast<float>(global_trial_[i]);
    global_mu_[at.globals + i] = static_cast<float>(global_expected_[i]);
  }
  own(at).entropy = trial.entropy;
}

void DualAscent::visit(const Place& at) {
  if (at.sites == 0 || weight(at) == 0) return;
  trial_.resize(at.sites * stride_);
  gather(at, scores_);
  for (std::size_t i = 0; i < cells_; ++i) {
    global_scores_[i] = global_[at.problem * cells_ + i];
    if (!(share_ > 0)) continue;
    for (std::size_t t = 0; t < problems_.size(); ++t) global_scores_[i] += share_ * global_[t * cells_ + i];
  }
  Sentence& sentence = own(at);
  ++steps_;
  double step = sentence.step;
  for (int tries = 0; tries < kTries; ++tries) {
    const Trial trial = attempt(at, step);
    if (tries == 0) sentence.promise = std::max(0.0, 0.5 * trial.slope);
    // D along the step, as a parabola: slope * t - curve / 2 * t^2.
    const double curve = 2 * (trial.slope * step - trial.gain) / (step * step);
    const double best = curve > 0 ? trial.slope / curve : 1.0;
    if (trial.gain >= 0) {
      if (products_.has(at.group)) move(at, 1.0);
      accept(at, trial);
      sentence.step = std::clamp(kRelax * best, step / 3, std::min(1.0, 3 * step));
      return;
    }
    if (!products_.has(at.group)) move(at, -1.0);
    step = std::clamp(best, 0.05 * step, 0.5 * step);
  }
  sentence.step = std::max(step, 1e-3);
}

void DualAscent::pass(double least) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sentences_.size(); ++i) {
    if (sentences_[i].promise >= least) order.push_back(i);
  }
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
  for (const std::size_t i : order) visit(place(i / groups(), i % groups()));
}

double DualAscent::round() {
  int passes = kPasses;
  if (!begun_) {
    for (std::size_t i = 0; i < sentences_.size(); ++i) begin(place(i / groups(), i % groups()));
    refresh();
    for (int i = 0; i < kFirst; ++i) pass(0);
    passes -= kFirst;
    begun_ = true;
  }
  for (int i = 1; i < passes; ++i) {
    double total = 0;
    for (const Sentence& s : sentences_) total += s.promise;
    pass(kShare * total / static_cast<double>(std::max<std::size_t>(sentences_.size(), 1)));
  }
  pass(0);
  refresh();
  double dual = -l2_ * square_;
  for (std::size_t i = 0; i < sentences_.size(); ++i) {
    dual += problems_[i / groups()].supervision.weight(i % groups()) * sentences_[i].entropy;
  }
  return dual;
}

}  // namespace spanloom
