#include "spanloom/learning/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"
#include "spanloom/base/parallel.hpp"
#include "spanloom/learning/lower_bound.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kBlock = 2048;  // a block of every stored vector fits the second-level cache
constexpr std::size_t kBlocksPerTask = 32;
constexpr double kSufficient = 1e-4;  // Armijo: the value falls by at least this share of what the slope promises
constexpr double kCurvature = 0.9;    // weak Wolfe: the slope must flatten at least to this share
constexpr double kTiny = 1e-20;

double sign(double v) { return v > 0 ? 1.0 : (v < 0 ? -1.0 : 0.0); }

}  // namespace

Lbfgs::Lbfgs(std::shared_ptr<Objective> objective, std::vector<double> x, Options options)
    : objective_(std::move(objective)), options_(options), x_(std::move(x)) {
  if (x_.size() != objective_->size()) {
    throw std::invalid_argument("[Lbfgs] the objective has " + std::to_string(objective_->size()) +
                                " parameters, the start " + std::to_string(x_.size()));
  }
  if (!(options_.l1 >= 0) || !(options_.l2 >= 0) || options_.memory == 0) {
    throw std::invalid_argument("[Lbfgs] l1 and l2 must be at least 0 and memory at least 1");
  }
  const std::size_t n = x_.size();
  gradient_.resize(n);
  direction_.resize(n);
  next_x_.resize(n);
  next_gradient_.resize(n);
  if (options_.l1 > 0) pseudo_.resize(n);
  accept(point(x_, gradient_));
}

Lbfgs::Sums Lbfgs::blocks(std::size_t sums, const std::function<void(std::size_t, std::size_t, double*)>& body) const {
  const std::size_t n = x_.size();
  const std::size_t count = (n + kBlock - 1) / kBlock;
  const std::size_t tasks = (count + kBlocksPerTask - 1) / kBlocksPerTask;
  std::vector<Sums> parts(tasks, Sums(sums, 0.0));
  parallel_for(tasks, options_.threads, [&](std::size_t task) {
    const std::size_t last = std::min(count, (task + 1) * kBlocksPerTask);
    for (std::size_t b = task * kBlocksPerTask; b < last; ++b) {
      body(b * kBlock, std::min(kBlock, n - b * kBlock), parts[task].data());
    }
  });
  Sums total(sums, 0.0);
  for (const Sums& part : parts) {
    for (std::size_t i = 0; i < sums; ++i) total[i] += part[i];
  }
  return total;
}

// Evaluates the objective with its penalties at x.
Lbfgs::Point Lbfgs::point(const std::vector<double>& x, std::vector<double>& gradient) {
  Point out;
  out.value = objective_->evaluate(x, gradient);
  ++state_.evaluations;
  const double twice = 2 * options_.l2;
  const Sums sums = blocks(4, [&](std::size_t first, std::size_t n, double* sum) {
    const double* v = &x[first];
    double* g = &gradient[first];
    if (twice > 0) {
      for (std::size_t i = 0; i < n; ++i) g[i] += twice * v[i];
    }
    sum[0] += kernels::dot(v, v, n);
    sum[1] += kernels::dot(g, g, n);
    sum[2] += kernels::dot(&direction_[first], g, n);
    if (options_.l1 > 0) {
      for (std::size_t i = 0; i < n; ++i) sum[3] += std::abs(v[i]);
    }
  });
  out.value += options_.l2 * sums[0] + options_.l1 * sums[3];
  out.x_square = sums[0];
  out.gradient_square = sums[1];
  out.slope = sums[2];
  return out;
}

// Makes the evaluated point the current one. With l1 > 0 the steepest descent is the pseudo-gradient: zero where the
// penalty's corner outweighs the slope.
void Lbfgs::accept(const Point& at) {
  double square = at.gradient_square;
  if (options_.l1 > 0) {
    const Sums sums = blocks(1, [&](std::size_t first, std::size_t n, double* sum) {
      for (std::size_t i = first; i < first + n; ++i) {
        const double g = gradient_[i];
        double p = 0;
        if (x_[i] != 0) {
          p = g + sign(x_[i]) * options_.l1;
        } else if (g < -options_.l1) {
          p = g + options_.l1;
        } else if (g > options_.l1) {
          p = g - options_.l1;
        }
        pseudo_[i] = p;
        sum[0] += p * p;
      }
    });
    square = sums[0];
    if (!history_.empty()) {
      to_gradient_ = blocks(history_.size(), [&](std::size_t first, std::size_t n, double* sum) {
        for (std::size_t i = 0; i < history_.size(); ++i)
          sum[i] += kernels::dot(&history_[i][first], &pseudo_[first], n);
      });
    }
  }
  state_.value = at.value;
  state_.gradient_norm = std::sqrt(square);
  state_.x_norm = std::sqrt(at.x_square);
  bound();
}

// Raises the lower bound by what the stored points say; with l1 > 0, whose steps have no gradient changes of the whole
// function, by the current point alone.
void Lbfgs::bound() {
  if (!(options_.l2 > 0)) return;
  const std::size_t points = history_.size() / 2 + 1;
  values_.push_back(state_.value);
  if (values_.size() > points) values_.erase(values_.begin(), values_.end() - static_cast<std::ptrdiff_t>(points));
  const bool whole = options_.l1 == 0 && values_.size() == points;
  const double square = state_.gradient_norm * state_.gradient_norm;
  const double found = whole ? lower_bound(values_, products_, to_gradient_, square, 2 * options_.l2)
                             : state_.value - square / (4 * options_.l2);
  state_.lower_bound = std::max(state_.lower_bound, found);
}

// Fills direction_, and next_x_ for a first step of this length; returns the slope along the direction.
double Lbfgs::find_direction(double step) {
  const std::vector<double>& g = steepest();
  const std::size_t vectors = history_.size();
  // The two loops of L-BFGS on coefficients: direction = sum_i weight[i] history_[i] + weight_g g.
  std::vector<double> weight(vectors, 0.0);
  double weight_g = -1;
  const auto times = [&](std::size_t j) {  // (direction so far) . history_[j]
    double total = weight_g * to_gradient_[j];
    for (std::size_t i = 0; i < vectors; ++i) total += weight[i] * products_[i][j];
    return total;
  };
  const std::size_t pairs = vectors / 2;
  std::vector<double> alpha(pairs);
  for (std::size_t p = pairs; p-- > 0;) {
    const std::size_t s = 2 * p;
    const std::size_t y = s + 1;
    alpha[p] = times(s) / products_[s][y];
    weight[y] -= alpha[p];
  }
  if (pairs > 0) {
    const double gamma = products_[vectors - 2][vectors - 1] / products_[vectors - 1][vectors - 1];
    for (double& w : weight) w *= gamma;
    weight_g *= gamma;
  }
  for (std::size_t p = 0; p < pairs; ++p) {
    const std::size_t s = 2 * p;
    const std::size_t y = s + 1;
    weight[s] += alpha[p] - times(y) / products_[s][y];
  }
  const Sums slope = blocks(1, [&](std::size_t first, std::size_t n, double* sum) {
    double d[kBlock];
    for (std::size_t i = 0; i < n; ++i) d[i] = weight_g * g[first + i];
    for (std::size_t i = 0; i < vectors; ++i) kernels::add_scaled(weight[i], &history_[i][first], n, d);
    if (options_.l1 > 0) {
      // OWL-QN: keep only what descends.
      for (std::size_t i = 0; i < n; ++i) {
        if (d[i] * g[first + i] >= 0) d[i] = 0;
      }
    }
    float* kept = &direction_[first];
    for (std::size_t i = 0; i < n; ++i) {
      kept[i] = static_cast<float>(d[i]);
      next_x_[first + i] = x_[first + i] + step * static_cast<double>(kept[i]);
    }
    sum[0] += kernels::dot(kept, &g[first], n);
  });
  return slope[0];
}

// Fills next_x_ = x_ + step * direction_; returns the fall that the slope promises.
double Lbfgs::move(double step) {
  const bool l1 = options_.l1 > 0;
  const std::vector<double>& g = steepest();
  const Sums promise = blocks(1, [&](std::size_t first, std::size_t n, double* sum) {
    for (std::size_t i = first; i < first + n; ++i) {
      double v = x_[i] + step * static_cast<double>(direction_[i]);
      if (l1) {
        // Stay in the orthant of x, or where x is 0, in the one that the steepest descent enters.
        const double orthant = x_[i] != 0 ? sign(x_[i]) : -sign(g[i]);
        if (v * orthant <= 0) v = 0;
        sum[0] += g[i] * (v - x_[i]);
      }
      next_x_[i] = v;
    }
  });
  return promise[0];
}

bool Lbfgs::search() {
  const bool l1 = options_.l1 > 0;
  double t = history_.empty() ? 1.0 / std::max(state_.gradient_norm, kTiny) : 1.0;
  const double slope = find_direction(t);
  if (!(slope < 0)) return false;
  double low = 0;
  double low_value = state_.value;
  double low_slope = slope;
  double high = std::numeric_limits<double>::infinity();
  for (int tries = 0; tries < options_.max_evaluations; ++tries) {
    double promised = t * slope;
    if (l1) {
      promised = move(t);
    } else if (tries > 0) {
      move(t);
    }
    const Point next = point(next_x_, next_gradient_);
    if (!std::isfinite(next.value) || next.value > state_.value + kSufficient * promised) {
      // Too far: the minimum of the parabola through low's value and slope and this value, kept inside the bracket.
      high = t;
      const double width = t - low;
      double inner = 0.5 * width;
      if (std::isfinite(next.value)) {
        const double curve = next.value - low_value - low_slope * width;
        if (curve > 0) inner = -low_slope * width * width / (2 * curve);
      }
      t = low + std::clamp(inner, 0.1 * width, 0.5 * width);
      continue;
    }
    if (!l1 && next.slope < kCurvature * slope) {
      low = t;
      low_value = next.value;
      low_slope = next.slope;
      t = std::isfinite(high) ? 0.5 * (low + high) : 2 * t;
      continue;
    }
    state_.step_length = t;
    remember(t);
    x_.swap(next_x_);
    gradient_.swap(next_gradient_);
    accept(next);
    return true;
  }
  return false;
}

// Keeps s = x' - x and y = g' - g if their product is safely positive, and the products with all that is kept and with
// the new gradient.
void Lbfgs::remember(double step) {
  std::vector<float> s;
  std::vector<float> y;
  if (history_.size() == 2 * options_.memory) {
    s = std::move(history_[0]);
    y = std::move(history_[1]);
    history_.erase(history_.begin(), history_.begin() + 2);
    products_.erase(products_.begin(), products_.begin() + 2);
    for (auto& row : products_) row.erase(row.begin(), row.begin() + 2);
  }
  s.resize(x_.size());
  y.resize(x_.size());
  const bool l1 = options_.l1 > 0;
  if (!l1) s.swap(direction_);  // x' = x + step * direction_ then
  history_.push_back(std::move(s));
  history_.push_back(std::move(y));
  const std::size_t vectors = history_.size();
  // Per stored vector h: h . s, h . y, h . g'
  const Sums sums = blocks(3 * vectors, [&](std::size_t first, std::size_t n, double* sum) {
    float* new_s = &history_[vectors - 2][first];
    float* new_y = &history_[vectors - 1][first];
    if (l1) {
      for (std::size_t i = 0; i < n; ++i) new_s[i] = static_cast<float>(next_x_[first + i] - x_[first + i]);
    } else if (step != 1) {
      for (std::size_t i = 0; i < n; ++i) new_s[i] = static_cast<float>(step * static_cast<double>(new_s[i]));
    }
    for (std::size_t i = 0; i < n; ++i) {
      new_y[i] = static_cast<float>(next_gradient_[first + i] - gradient_[first + i]);
    }
    for (std::size_t i = 0; i < vectors; ++i) {
      kernels::add_dots(&history_[i][first], new_s, new_y, &next_gradient_[first], n, sum + 3 * i);
    }
  });
  std::size_t kept = vectors;
  if (!(sums[3 * (vectors - 2) + 1] > kTiny) || !(sums[3 * (vectors - 1) + 1] > kTiny)) {
    kept = vectors - 2;
    history_.resize(kept);
    values_.clear();  // the steps that are kept no longer follow each other
  }
  products_.resize(kept);
  for (auto& row : products_) row.resize(kept);
  to_gradient_.resize(kept);
  for (std::size_t i = 0; i < kept; ++i) {
    to_gradient_[i] = sums[3 * i + 2];
    if (kept < vectors) continue;
    products_[i][vectors - 2] = products_[vectors - 2][i] = sums[3 * i];
    products_[i][vectors - 1] = products_[vectors - 1][i] = sums[3 * i + 1];
  }
}

void Lbfgs::forget() {
  history_.clear();
  products_.clear();
  to_gradient_.clear();
}

const Lbfgs::Step& Lbfgs::iterate() {
  state_.evaluations = 0;
  state_.step_length = 0;
  state_.moved = search();
  if (!state_.moved && !history_.empty()) {
    forget();  // the history may mislead: try once more along the gradient
    state_.moved = search();
  }
  return state_;
}

}  // namespace spanloom
