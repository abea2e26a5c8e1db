#include "spanloom/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "spanloom/kernels.hpp"
#include "spanloom/parallel.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kBlock = 4096;  // a block of every stored vector fits the second-level cache
constexpr std::size_t kBlocksPerTask = 16;
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
  if (options_.l1 > 0) steepest_.resize(n);
  update_state(evaluate(x_, gradient_));
}

void Lbfgs::blocks(const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const {
  const std::size_t n = x_.size();
  const std::size_t count = (n + kBlock - 1) / kBlock;
  parallel_for((count + kBlocksPerTask - 1) / kBlocksPerTask, options_.threads, [&](std::size_t task) {
    const std::size_t last = std::min(count, (task + 1) * kBlocksPerTask);
    for (std::size_t b = task * kBlocksPerTask; b < last; ++b) body(b, b * kBlock, std::min(kBlock, n - b * kBlock));
  });
}

double Lbfgs::sum_blocks(const std::function<double(std::size_t, std::size_t)>& body) const {
  std::vector<double> parts((x_.size() + kBlock - 1) / kBlock, 0.0);
  blocks([&](std::size_t b, std::size_t first, std::size_t n) { parts[b] = body(first, n); });
  double total = 0;
  for (const double part : parts) total += part;
  return total;
}

double Lbfgs::evaluate(const std::vector<double>& x, std::vector<double>& gradient) {
  double value = objective_->evaluate(x, gradient);
  ++state_.evaluations;
  value += sum_blocks([&](std::size_t first, std::size_t n) {
    double squares = 0;
    double sizes = 0;
    for (std::size_t i = first; i < first + n; ++i) {
      squares += x[i] * x[i];
      sizes += std::abs(x[i]);
      gradient[i] += 2 * options_.l2 * x[i];
    }
    return options_.l2 * squares + options_.l1 * sizes;
  });
  return value;
}

// With l1 > 0 the steepest descent is the pseudo-gradient: zero where the penalty's corner outweighs the slope.
void Lbfgs::update_state(double value) {
  if (options_.l1 > 0) {
    blocks([&](std::size_t, std::size_t first, std::size_t n) {
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
        steepest_[i] = p;
      }
    });
  }
  const std::vector<double>& g = options_.l1 > 0 ? steepest_ : gradient_;
  state_.value = value;
  state_.gradient_norm =
      std::sqrt(sum_blocks([&](std::size_t i, std::size_t n) { return kernels::dot(&g[i], &g[i], n); }));
  state_.x_norm = std::sqrt(sum_blocks([&](std::size_t i, std::size_t n) { return kernels::dot(&x_[i], &x_[i], n); }));
}

void Lbfgs::find_direction() {
  const std::vector<double>& g = options_.l1 > 0 ? steepest_ : gradient_;
  const std::size_t vectors = history_.size();
  // to_gradient[i] = history_[i] . g
  std::vector<double> to_gradient(vectors, 0.0);
  if (vectors > 0) {
    const std::size_t count = (x_.size() + kBlock - 1) / kBlock;
    std::vector<double> parts(count * vectors);
    blocks([&](std::size_t b, std::size_t first, std::size_t n) {
      for (std::size_t i = 0; i < vectors; ++i)
        parts[b * vectors + i] = kernels::dot(&history_[i][first], &g[first], n);
    });
    for (std::size_t b = 0; b < count; ++b) {
      for (std::size_t i = 0; i < vectors; ++i) to_gradient[i] += parts[b * vectors + i];
    }
  }
  // The two loops of L-BFGS on coefficients: direction = sum_i weight[i] history_[i] + weight_g g.
  std::vector<double> weight(vectors, 0.0);
  double weight_g = -1;
  const auto times = [&](std::size_t j) {  // (direction so far) . history_[j]
    double total = weight_g * to_gradient[j];
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
  blocks([&](std::size_t, std::size_t first, std::size_t n) {
    double* d = &direction_[first];
    for (std::size_t i = 0; i < n; ++i) d[i] = weight_g * g[first + i];
    for (std::size_t i = 0; i < vectors; ++i) kernels::add_scaled(weight[i], &history_[i][first], n, d);
    if (options_.l1 > 0) {
      // OWL-QN: keep only what descends.
      for (std::size_t i = 0; i < n; ++i) {
        if (d[i] * g[first + i] >= 0) d[i] = 0;
      }
    }
  });
}

bool Lbfgs::search() {
  const bool l1 = options_.l1 > 0;
  const std::vector<double>& g = l1 ? steepest_ : gradient_;
  const auto slope_at = [&](const std::vector<double>& gradient) {
    return sum_blocks([&](std::size_t i, std::size_t n) { return kernels::dot(&gradient[i], &direction_[i], n); });
  };
  const double slope = slope_at(g);
  if (!(slope < 0)) return false;
  double low = 0;
  double low_value = state_.value;
  double low_slope = slope;
  double high = std::numeric_limits<double>::infinity();
  double t = history_.empty() ? 1.0 / std::max(state_.gradient_norm, kTiny) : 1.0;
  for (int tries = 0; tries < options_.max_evaluations; ++tries) {
    const double moved = sum_blocks([&](std::size_t first, std::size_t n) {
      double promise = 0;
      for (std::size_t i = first; i < first + n; ++i) {
        double v = x_[i] + t * direction_[i];
        if (l1) {
          // Stay in the orthant of x, or where x is 0, in the one that the steepest descent enters.
          const double orthant = x_[i] != 0 ? sign(x_[i]) : -sign(g[i]);
          if (v * orthant <= 0) v = 0;
          promise += g[i] * (v - x_[i]);
        }
        next_x_[i] = v;
      }
      return promise;
    });
    const double value = evaluate(next_x_, next_gradient_);
    const double promised = l1 ? moved : t * slope;
    if (!std::isfinite(value) || value > state_.value + kSufficient * promised) {
      // Too far: the minimum of the parabola through low's value and slope and this value, kept inside the bracket.
      high = t;
      const double width = t - low;
      double inner = 0.5 * width;
      if (std::isfinite(value)) {
        const double curve = value - low_value - low_slope * width;
        if (curve > 0) inner = -low_slope * width * width / (2 * curve);
      }
      t = low + std::clamp(inner, 0.1 * width, 0.5 * width);
      continue;
    }
    const double next_slope = l1 ? 0.0 : slope_at(next_gradient_);
    if (!l1 && next_slope < kCurvature * slope) {
      low = t;
      low_value = value;
      low_slope = next_slope;
      t = std::isfinite(high) ? 0.5 * (low + high) : 2 * t;
      continue;
    }
    state_.step_length = t;
    remember();
    x_.swap(next_x_);
    gradient_.swap(next_gradient_);
    update_state(value);
    return true;
  }
  return false;
}

// Keeps s = x' - x and y = g' - g if their product is safely positive, and the products with all that is kept.
void Lbfgs::remember() {
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
  blocks([&](std::size_t, std::size_t first, std::size_t n) {
    for (std::size_t i = first; i < first + n; ++i) {
      s[i] = static_cast<float>(next_x_[i] - x_[i]);
      y[i] = static_cast<float>(next_gradient_[i] - gradient_[i]);
    }
  });
  history_.push_back(std::move(s));
  history_.push_back(std::move(y));
  const std::size_t vectors = history_.size();
  const std::size_t count = (x_.size() + kBlock - 1) / kBlock;
  std::vector<double> parts(count * 2 * vectors);
  blocks([&](std::size_t b, std::size_t first, std::size_t n) {
    for (std::size_t i = 0; i < vectors; ++i) {
      parts[(b * vectors + i) * 2] = kernels::dot(&history_[i][first], &history_[vectors - 2][first], n);
      parts[(b * vectors + i) * 2 + 1] = kernels::dot(&history_[i][first], &history_[vectors - 1][first], n);
    }
  });
  std::vector<double> with_s(vectors, 0.0);
  std::vector<double> with_y(vectors, 0.0);
  for (std::size_t b = 0; b < count; ++b) {
    for (std::size_t i = 0; i < vectors; ++i) {
      with_s[i] += parts[(b * vectors + i) * 2];
      with_y[i] += parts[(b * vectors + i) * 2 + 1];
    }
  }
  if (!(with_y[vectors - 2] > kTiny) || !(with_y[vectors - 1] > kTiny)) {
    history_.resize(vectors - 2);
    return;
  }
  products_.resize(vectors);
  for (auto& row : products_) row.resize(vectors);
  for (std::size_t i = 0; i < vectors; ++i) {
    products_[i][vectors - 2] = products_[vectors - 2][i] = with_s[i];
    products_[i][vectors - 1] = products_[vectors - 1][i] = with_y[i];
  }
}

const Lbfgs::Step& Lbfgs::iterate() {
  state_.evaluations = 0;
  state_.step_length = 0;
  find_direction();
  state_.moved = search();
  if (!state_.moved && !history_.empty()) {
    // The history may mislead: try once more along the gradient.
    history_.clear();
    products_.clear();
    find_direction();
    state_.moved = search();
  }
  return state_;
}

}  // namespace spanloom
