#include "spanloom/learning/dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"

namespace spanloom {
namespace {

constexpr double kSure = 12;         // theta of the targets at the beginning: mu is near them, w near 0
constexpr double kRelax = 1.3;       // over-relaxation
constexpr double kShare = 1.0;       // passes of a round visit sentences that promise more than this share of the mean
constexpr int kPasses = 20;          // of a round; the last is over all sentences
constexpr int kFirst = 3;            // passes over all sentences at the beginning
constexpr int kTries = 8;            // of one step
constexpr std::size_t kShort = 256;  // sites: what they share is kept as a matrix
constexpr float kNothing = 1e-6F;    // changes of a site below this do not move w; refresh() adds them up

}  // namespace

DualAscent::DualAscent(std::shared_ptr<const CompressedRows> x, std::shared_ptr<const Structure> structure,
                       Supervision supervision, double l2, std::uint64_t seed)
    : x_(std::move(x)),
      structure_(std::move(structure)),
      supervision_(std::move(supervision)),
      l2_(l2),
      random_(seed),
      columns_(structure_->columns()),
      stride_(structure_->stride()),
      cells_(structure_->global_cells()) {
  if (!(l2 > 0) || !std::isfinite(l2)) {
    throw std::invalid_argument("[DualAscent] the penalty l2 must be above 0; received " + std::to_string(l2));
  }
  if (x_->bundles() > 0) throw std::invalid_argument("[DualAscent] rows must have no bundles");
  if (!supervision_.masks.empty()) {
    throw std::invalid_argument("[DualAscent] takes targets for all sentences, not masks: their loss is not convex");
  }
  supervision_.check(x_->rows.group_ptr, *structure_);
  if (cells_ == 0) solver_ = structure_->solver({});
  const std::size_t sites = x_->rows.rows();
  const std::size_t groups = x_->rows.groups();
  sentences_.resize(groups);
  theta_.assign(sites * stride_, 0.0F);
  mu_.assign(sites * stride_, 0.0F);
  global_theta_.assign(groups * cells_, 0.0F);
  global_mu_.assign(groups * cells_, 0.0F);
  weights_.assign(x_->classes() * stride_, 0.0F);
  for (const double scale : x_->scale) squared_scale_.push_back(static_cast<float>(scale * scale));
  find_shared();
  global_.assign(cells_, 0.0);
  global_trial_.assign(cells_, 0.0);
  global_expected_.assign(cells_, 0.0);
  global_change_.assign(cells_, 0.0);
}

// log Z and expected uses under trial_ and global_trial_.
double DualAscent::infer(std::size_t g, std::size_t sites) {
  expected_.resize(sites * stride_);
  std::unique_ptr<Solver> own;
  if (cells_ > 0) own = structure_->solver(global_trial_);
  Solver& solver = own ? *own : *solver_;
  const double log_z = solver.expectations({sites, g}, trial_.data(), expected_.data());
  if (!std::isfinite(log_z)) {
    throw std::domain_error("[DualAscent] sentence " + std::to_string(g) + " has no structure, or scores overflow");
  }
  if (cells_ > 0) {
    std::fill(global_expected_.begin(), global_expected_.end(), 0.0);
    solver.add_global(global_expected_);
  }
  return log_z;
}

void DualAscent::begin(std::size_t g) {
  const auto first = static_cast<std::size_t>(x_->rows.group_ptr[g]);
  const auto sites = static_cast<std::size_t>(x_->rows.group_ptr[g + 1]) - first;
  trial_.assign(sites * stride_, 0.0);
  std::fill(global_trial_.begin(), global_trial_.end(), 0.0);
  const Structures& targets = supervision_.structures;
  for (std::int64_t i = targets.ptr[g]; i < targets.ptr[g + 1]; ++i) {
    const auto cell = static_cast<std::size_t>(targets.cells[i]);
    const double value = supervision_.values.empty() ? 1.0 : supervision_.values[static_cast<std::size_t>(i)];
    if (cell < sites * columns_) trial_[cell / columns_ * stride_ + cell % columns_] = kSure * value;
  }
  double entropy = infer(g, sites);
  for (std::size_t i = 0; i < sites * stride_; ++i) {
    entropy -= trial_[i] * expected_[i];
    theta_[first * stride_ + i] = static_cast<float>(trial_[i]);
    mu_[first * stride_ + i] = static_cast<float>(expected_[i]);
  }
  for (std::size_t i = 0; i < cells_; ++i) global_mu_[g * cells_ + i] = static_cast<float>(global_expected_[i]);
  sentences_[g].entropy = entropy;
}

// w = w(mu), without the roundings of many small steps.
void DualAscent::refresh() {
  const SparseRows& rows = x_->rows;
  std::vector<float> difference(rows.rows() * stride_);
  std::fill(global_.begin(), global_.end(), 0.0);
  const Structures& targets = supervision_.structures;
  for (std::size_t g = 0; g < rows.groups(); ++g) {
    const auto first = static_cast<std::size_t>(rows.group_ptr[g]);
    const auto last = static_cast<std::size_t>(rows.group_ptr[g + 1]);
    const double weight = supervision_.weight(g);
    for (std::size_t i = first * stride_; i < last * stride_; ++i) {
      difference[i] = static_cast<float>(-weight * static_cast<double>(mu_[i]));
    }
    for (std::size_t i = 0; i < cells_; ++i) global_[i] -= weight * static_cast<double>(global_mu_[g * cells_ + i]);
    for (std::int64_t i = targets.ptr[g]; i < targets.ptr[g + 1]; ++i) {
      const auto cell = static_cast<std::size_t>(targets.cells[i]);
      const double value =
          weight * (supervision_.values.empty() ? 1.0 : supervision_.values[static_cast<std::size_t>(i)]);
      if (cell < (last - first) * columns_) {
        const std::size_t at = first * stride_ + cell / columns_ * stride_ + cell % columns_;
        difference[at] = static_cast<float>(value + static_cast<double>(difference[at]));
      } else {
        global_[cell - (last - first) * columns_] += value;
      }
    }
  }
  square_ = 0;
  for (double& v : global_) {
    v /= 2 * l2_;
    square_ += v * v;
  }
  std::vector<double> sum(stride_);
  const float* values = x_->site_values.empty() ? nullptr : x_->site_values.data();
  for (std::size_t c = 0; c < x_->classes(); ++c) {
    kernels::gather_rows(difference.data(), stride_, x_->class_ptr.data(), x_->sites, values, c, c + 1, sum.data());
    const double scale = x_->scale[c];
    for (std::size_t k = 0; k < columns_; ++k) {
      const double v = scale * sum[k] / (2 * l2_);
      square_ += v * v;
      weights_[c * stride_ + k] = static_cast<float>(scale * v);
    }
  }
}

// weights_ -= factor * scale^2 * X^T change_, for the sites that change.
template <std::size_t Stride>
void DualAscent::scatter(std::size_t first, std::size_t sites, float factor) {
  const SparseRows& rows = x_->rows;
  const std::size_t stride = Stride > 0 ? Stride : stride_;
  for (std::size_t t = 0; t < sites; ++t) {
    const float* row = &change_[t * stride];
    float most = 0;
    for (std::size_t k = 0; k < stride; ++k) most = std::max(most, std::abs(row[k]));
    if (most < kNothing) continue;
    for (std::int64_t e = rows.row_ptr[first + t]; e < rows.row_ptr[first + t + 1]; ++e) {
      const std::uint32_t c = rows.ids[e];
      const float by = factor * squared_scale_[c] * (rows.values.empty() ? 1.0F : rows.values[e]);
      float* weights = &weights_[c * stride];
      for (std::size_t k = 0; k < stride; ++k) weights[k] -= by * row[k];
    }
  }
}

// Moves w by the change of one sentence, or back with a negative sign.
void DualAscent::move(std::size_t g, double sign) {
  const auto first = static_cast<std::size_t>(x_->rows.group_ptr[g]);
  const auto sites = static_cast<std::size_t>(x_->rows.group_ptr[g + 1]) - first;
  const double factor = sign / (2 * l2_);
  for (std::size_t i = 0; i < cells_; ++i) global_[i] -= factor * global_change_[i];
  switch (stride_) {
    case 4:
      return scatter<4>(first, sites, static_cast<float>(factor));
    case 8:
      return scatter<8>(first, sites, static_cast<float>(factor));
    case 16:
      return scatter<16>(first, sites, static_cast<float>(factor));
    default:
      return scatter<0>(first, sites, static_cast<float>(factor));
  }
}

void DualAscent::gather(std::size_t g, std::vector<double>& out) const {
  const auto first = static_cast<std::size_t>(x_->rows.group_ptr[g]);
  const auto last = static_cast<std::size_t>(x_->rows.group_ptr[g + 1]);
  out.resize((last - first) * stride_);
  const float* values = x_->rows.values.empty() ? nullptr : x_->rows.values.data();
  kernels::gather_rows(weights_.data(), stride_, x_->rows.row_ptr.data(), x_->rows.ids, values, first, last,
                       out.data());
}

// shared_[t, u] = sum over features of sites t and u of the products of their values, for short sentences.
void DualAscent::find_shared() {
  const SparseRows& rows = x_->rows;
  constexpr std::int64_t kNone = -1;
  struct Place {
    std::size_t site;
    float value;
    std::int64_t next;  // another place of the class
  };
  std::vector<std::int64_t> head(x_->classes(), kNone);
  std::vector<Place> places;
  for (std::size_t g = 0; g < rows.groups(); ++g) {
    const auto first = static_cast<std::size_t>(rows.group_ptr[g]);
    const std::size_t sites = static_cast<std::size_t>(rows.group_ptr[g + 1]) - first;
    if (sites <= kShort) {
      places.clear();
      shared_.resize(shared_.size() + sites * sites, 0.0F);
      float* shared = &shared_[static_cast<std::size_t>(shared_ptr_.back())];
      for (std::size_t t = 0; t < sites; ++t) {
        for (std::int64_t e = rows.row_ptr[first + t]; e < rows.row_ptr[first + t + 1]; ++e) {
          const std::uint32_t c = rows.ids[e];
          const float value = rows.values.empty() ? 1.0F : rows.values[e];
          places.push_back({t, value, head[c]});
          head[c] = static_cast<std::int64_t>(places.size()) - 1;
          for (std::int64_t p = head[c]; p != kNone; p = places[p].next) {
            shared[t * sites + places[p].site] += squared_scale_[c] * value * places[p].value;
          }
        }
      }
      for (std::int64_t e = rows.row_ptr[first]; e < rows.row_ptr[first + sites]; ++e) head[rows.ids[e]] = kNone;
    }
    shared_ptr_.push_back(static_cast<std::int64_t>(shared_.size()));
  }
}

// |X^T change|^2 for the sites of a short sentence.
template <std::size_t Stride>
double DualAscent::square(std::size_t g) {
  const std::size_t stride = Stride > 0 ? Stride : stride_;
  const std::size_t sites = change_.size() / stride;
  const float* shared = &shared_[static_cast<std::size_t>(shared_ptr_[g])];
  changed_.clear();
  double total = 0;
  for (std::size_t t = 0; t < sites; ++t) {
    const float* row = &change_[t * stride];
    float most = 0;
    for (std::size_t k = 0; k < stride; ++k) most = std::max(most, std::abs(row[k]));
    if (most < kNothing) continue;
    changed_.push_back(t);
    float sum = 0;
    for (const std::size_t u : changed_) {
      const float* other = &change_[u * stride];
      float product = 0;
      for (std::size_t k = 0; k < stride; ++k) product += row[k] * other[k];
      sum += (u == t ? 1.0F : 2.0F) * shared[t * sites + u] * product;
    }
    total += static_cast<double>(sum);
  }
  return total;
}

// Makes a step of this length, and says what it brings: theta is in trial_, mu in expected_; in a long sentence w has
// moved.
DualAscent::Trial DualAscent::attempt(std::size_t g, double step) {
  const auto first = static_cast<std::size_t>(x_->rows.group_ptr[g]);
  const auto sites = static_cast<std::size_t>(x_->rows.group_ptr[g + 1]) - first;
  const std::size_t size = sites * stride_;
  const double weight = supervision_.weight(g);
  const float* theta = &theta_[first * stride_];
  const float* mu = &mu_[first * stride_];
  for (std::size_t i = 0; i < size; ++i) {
    const double from = static_cast<double>(theta[i]);
    trial_[i] = static_cast<double>(static_cast<float>(from + step * (scores_[i] - from)));
  }
  for (std::size_t i = 0; i < cells_; ++i) {
    const double from = static_cast<double>(global_theta_[g * cells_ + i]);
    global_trial_[i] = static_cast<double>(static_cast<float>(from + step * (global_[i] - from)));
  }
  Trial out;
  out.entropy = infer(g, sites);
  double along_scores = 0;
  double along_step = 0;
  change_.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    out.entropy -= trial_[i] * expected_[i];
    const double d = expected_[i] - static_cast<double>(mu[i]);
    along_scores += scores_[i] * d;
    along_step += (scores_[i] - static_cast<double>(theta[i])) * d;
    change_[i] = static_cast<float>(weight * d);
  }
  double square_of_change = 0;
  for (std::size_t i = 0; i < cells_; ++i) {
    out.entropy -= global_trial_[i] * global_expected_[i];
    const double d = global_expected_[i] - static_cast<double>(global_mu_[g * cells_ + i]);
    along_scores += global_[i] * d;
    along_step += (global_[i] - static_cast<double>(global_theta_[g * cells_ + i])) * d;
    global_change_[i] = weight * d;
    square_of_change += global_change_[i] * global_change_[i];
  }
  if (is_short(g)) {
    square_of_change += stride_ == 4 ? square<4>(g) : stride_ == 8 ? square<8>(g) : square<0>(g);
  } else {
    // |X^T change|^2 / (2 l2) is how much less the scores of w fit the change once w has moved.
    move(g, 1.0);
    gather(g, moved_);
    for (std::size_t i = 0; i < size; ++i) {
      square_of_change += 2 * l2_ * (scores_[i] - moved_[i]) * static_cast<double>(change_[i]);
    }
  }
  out.slope = weight * along_step / step;
  out.gain = weight * (out.entropy - sentences_[g].entropy + along_scores) - square_of_change / (4 * l2_);
  return out;
}

void DualAscent::accept(std::size_t g, const Trial& trial) {
  const auto first = static_cast<std::size_t>(x_->rows.group_ptr[g]);
  const auto last = static_cast<std::size_t>(x_->rows.group_ptr[g + 1]);
  for (std::size_t i = 0; i < (last - first) * stride_; ++i) {
    theta_[first * stride_ + i] = static_cast<float>(trial_[i]);
    mu_[first * stride_ + i] = static_cast<float>(expected_[i]);
  }
  for (std::size_t i = 0; i < cells_; ++i) {
    global_theta_[g * cells_ + i] = static_cast<float>(global_trial_[i]);
    global_mu_[g * cells_ + i] = static_cast<float>(global_expected_[i]);
  }
  sentences_[g].entropy = trial.entropy;
}

void DualAscent::visit(std::size_t g) {
  const auto first = static_cast<std::size_t>(x_->rows.group_ptr[g]);
  const auto last = static_cast<std::size_t>(x_->rows.group_ptr[g + 1]);
  if (first == last || supervision_.weight(g) == 0) return;
  trial_.resize((last - first) * stride_);
  gather(g, scores_);
  Sentence& own = sentences_[g];
  ++steps_;
  double step = own.step;
  for (int tries = 0; tries < kTries; ++tries) {
    const Trial trial = attempt(g, step);
    if (tries == 0) own.promise = std::max(0.0, 0.5 * trial.slope);
    // D along the step, as a parabola: slope * t - curve / 2 * t^2.
    const double curve = 2 * (trial.slope * step - trial.gain) / (step * step);
    const double best = curve > 0 ? trial.slope / curve : 1.0;
    if (trial.gain >= 0) {
      if (is_short(g)) move(g, 1.0);
      accept(g, trial);
      own.step = std::clamp(kRelax * best, step / 3, std::min(1.0, 3 * step));
      return;
    }
    if (!is_short(g)) move(g, -1.0);
    step = std::clamp(best, 0.05 * step, 0.5 * step);
  }
  own.step = std::max(step, 1e-3);
}

void DualAscent::pass(double least) {
  std::vector<std::size_t> order;
  for (std::size_t g = 0; g < sentences_.size(); ++g) {
    if (sentences_[g].promise >= least) order.push_back(g);
  }
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
  for (const std::size_t g : order) visit(g);
}

double DualAscent::round() {
  int passes = kPasses;
  if (!begun_) {
    for (std::size_t g = 0; g < sentences_.size(); ++g) begin(g);
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
  for (std::size_t g = 0; g < sentences_.size(); ++g) dual += supervision_.weight(g) * sentences_[g].entropy;
  return dual;
}

std::vector<double> DualAscent::x() const {
  std::vector<double> out(x_->classes() * columns_ + cells_);
  for (std::size_t c = 0; c < x_->classes(); ++c) {
    for (std::size_t k = 0; k < columns_; ++k) {
      out[c * columns_ + k] = static_cast<double>(weights_[c * stride_ + k]) / x_->scale[c];
    }
  }
  std::copy(global_.begin(), global_.end(), out.end() - static_cast<std::ptrdiff_t>(cells_));
  return out;
}

}  // namespace spanloom
