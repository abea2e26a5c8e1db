#include "spanloom/learning/online_chain.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace spanloom {

OnlineChain::OnlineChain(AttributeSequences data, ChainFeatures features, std::uint64_t seed)
    : data_(std::move(data)),
      features_(std::move(features)),
      structure_(free_chain(features_.label_count)),
      random_(seed),
      order_(data_.groups()),
      delta_(features_.size(), 0.0),
      used_(features_.size(), 0) {
  data_.check(features_.attributes(), features_.label_count);
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
  reset(1.0);
}

void OnlineChain::reset(double variance) {
  seen_ = 1;
  weights_.assign(size(), 0.0);
  weighted_.assign(size(), 0.0);
  variances_.assign(size(), variance);
}

void OnlineChain::shuffle() {
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
}

std::span<const std::int32_t> OnlineChain::annotated(std::size_t group) const {
  const auto first = static_cast<std::size_t>(data_.group_ptr[group]);
  return {data_.labels.data() + first, static_cast<std::size_t>(data_.group_ptr[group + 1]) - first};
}

void OnlineChain::transitions(double scale, std::vector<double>& out) const {
  out.resize(features_.transition_of.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int32_t number = features_.transition_of[i];
    out[i] = number < 0 ? 0.0 : scale * weights_[features_.states() + static_cast<std::size_t>(number)];
  }
}

double OnlineChain::score(std::span<const std::int32_t> labels, const std::vector<double>& table) const {
  double sum = 0;
  for (std::size_t t = 0; t < labels.size(); ++t) {
    const auto y = static_cast<std::size_t>(labels[t]);
    sum += table[t * structure_.stride() + y];
    if (t == 0) continue;
    const std::int32_t number =
        features_.transition_of[static_cast<std::size_t>(labels[t - 1]) * features_.label_count + y];
    if (number >= 0) sum += weights_[features_.states() + static_cast<std::size_t>(number)];
  }
  return sum;
}

template <class Visit>
void OnlineChain::each_feature(std::size_t group, std::span<const std::int32_t> labels, Visit visit) const {
  for (std::size_t t = 0; t < labels.size(); ++t) {
    const auto y = static_cast<std::uint32_t>(labels[t]);
    const std::size_t r = static_cast<std::size_t>(data_.group_ptr[group]) + t;
    for (std::int64_t e = data_.row_ptr[r]; e < data_.row_ptr[r + 1]; ++e) {
      const std::uint32_t a = data_.ids[e];
      const auto begin = features_.labels.begin() + features_.ptr[a];
      const auto end = features_.labels.begin() + features_.ptr[a + std::size_t{1}];
      const auto found = std::lower_bound(begin, end, y);
      if (found != end && *found == y) {
        visit(static_cast<std::size_t>(found - features_.labels.begin()), data_.values[e]);
      }
    }
    if (t == 0) continue;
    const std::int32_t number =
        features_.transition_of[static_cast<std::size_t>(labels[t - 1]) * features_.label_count + y];
    if (number >= 0) visit(features_.states() + static_cast<std::size_t>(number), 1.0);
  }
}

void OnlineChain::collect(std::size_t group, std::span<const std::int32_t> labels, double by) {
  each_feature(group, labels, [&](std::size_t k, double value) {
    if (!used_[k]) active_.push_back(k);
    used_[k] = 1;
    delta_[k] += by * value;
  });
}

template <class Update>
void OnlineChain::correct(Update update) {
  std::vector<double> global;
  std::vector<double> table;
  std::vector<std::int32_t> cells;
  transitions(1.0, global);
  auto solver = structure_.solver(global);
  const auto columns = static_cast<std::int32_t>(features_.label_count);
  for (const std::size_t g : order_) {
    const auto gold = annotated(g);
    attribute_scores(data_, g, features_.ptr, features_.labels, {weights_.data(), features_.states()}, 1.0,
                     structure_.stride(), table);
    const double best = solver->best({gold.size(), g}, table.data(), cells);
    std::size_t wrong = 0;
    for (std::size_t t = 0; t < gold.size(); ++t) {
      cells[t] %= columns;
      wrong += cells[t] != gold[t] ? 1 : 0;
    }
    if (wrong > 0) {
      const double err = best - score(gold, table);
      collect(g, gold, 1.0);
      collect(g, cells, -1.0);
      update(g, static_cast<double>(wrong), err);
      for (const std::size_t k : active_) {
        delta_[k] = 0;
        used_[k] = 0;
      }
      active_.clear();
      transitions(1.0, global);
      solver = structure_.solver(global);
    }
    ++seen_;
  }
}

double OnlineChain::perceptron() {
  double sum = 0;
  correct([&](std::size_t g, double wrong, double) {
    for (const std::size_t k : active_) {
      weights_[k] += delta_[k];
      weighted_[k] += seen_ * delta_[k];
    }
    sum += wrong / static_cast<double>(annotated(g).size());
  });
  return sum;
}

double OnlineChain::passive_aggressive(const Aggressive& how) {
  double sum = 0;
  correct([&](std::size_t, double wrong, double err) {
    const double cost = err + (how.error_sensitive ? std::sqrt(wrong) : 1.0);
    double norm = 0;
    for (const std::size_t k : active_) norm += delta_[k] * delta_[k];
    double tau = how.type == 2 ? cost / (norm + 0.5 / how.c) : cost / norm;
    if (how.type == 1) tau = std::min(how.c, tau);
    sum += cost;
    if (norm == 0 && how.type != 2) return;  // labels that no feature tells apart: nothing can be learned
    for (const std::size_t k : active_) {
      weights_[k] += tau * delta_[k];
      weighted_[k] += seen_ * tau * delta_[k];
    }
  });
  return sum;
}

double OnlineChain::arow(double gamma) {
  double sum = 0;
  correct([&](std::size_t, double wrong, double err) {
    const double cost = err + wrong;
    double total = gamma;
    for (const std::size_t k : active_) total += delta_[k] * delta_[k] * variances_[k];
    const double alpha = cost / total;
    for (const std::size_t k : active_) {
      weights_[k] += alpha * variances_[k] * delta_[k];
      variances_[k] = 1.0 / (1.0 / variances_[k] + delta_[k] * delta_[k] / gamma);
    }
    sum += cost;
  });
  return sum;
}

// The weights are kept as w / decay, so that shrinking all of them costs nothing.
double OnlineChain::descend(std::size_t count, double lambda, double t0, double seen) {
  std::vector<double> global;
  std::vector<double> table;
  std::vector<double> expected;
  std::vector<double> pairs(features_.transition_of.size());
  const std::size_t stride = structure_.stride();
  const std::size_t states = features_.states();
  count = std::min(count, sequences());
  double sum = 0;
  double decay = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t g = order_[i];
    const double eta = 1 / (lambda * (t0 + seen + static_cast<double>(i)));
    decay *= 1 - eta * lambda;
    const double gain = eta / decay;
    transitions(decay, global);
    attribute_scores(data_, g, features_.ptr, features_.labels, {weights_.data(), states}, decay, stride, table);
    expected.assign(table.size(), 0.0);
    std::fill(pairs.begin(), pairs.end(), 0.0);
    const auto gold = annotated(g);
    const auto solver = structure_.solver(global);
    const double log_z = solver->expectations({gold.size(), g}, table.data(), expected.data());
    solver->add_global(pairs);
    double gold_score = 0;
    for (std::size_t t = 0; t < gold.size(); ++t) {
      const auto y = static_cast<std::size_t>(gold[t]);
      gold_score += table[t * stride + y];
      expected[t * stride + y] -= 1;
      if (t == 0) continue;
      const std::size_t pair = static_cast<std::size_t>(gold[t - 1]) * features_.label_count + y;
      gold_score += global[pair];
      pairs[pair] -= 1;
    }
    for (std::size_t t = 0; t < gold.size(); ++t) {
      const std::size_t r = static_cast<std::size_t>(data_.group_ptr[g]) + t;
      const double* row = &expected[t * stride];
      for (std::int64_t e = data_.row_ptr[r]; e < data_.row_ptr[r + 1]; ++e) {
        const std::uint32_t a = data_.ids[e];
        const double by = gain * data_.values[e];
        for (std::int64_t k = features_.ptr[a]; k < features_.ptr[a + std::size_t{1}]; ++k) {
          weights_[k] -= by * row[features_.labels[k]];
        }
      }
    }
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      const std::int32_t number = features_.transition_of[pair];
      if (number >= 0) weights_[states + static_cast<std::size_t>(number)] -= gain * pairs[pair];
    }
    const double loss = log_z - gold_score;
    if (!std::isfinite(loss)) return loss;
    sum += loss;
  }
  double norm = 0;
  for (double& w : weights_) {
    w *= decay;
    norm += w * w;
  }
  return sum + 0.5 * lambda * norm * static_cast<double>(count);
}

double OnlineChain::loss(std::size_t count) const {
  std::vector<double> global;
  std::vector<double> table;
  std::vector<double> expected;
  transitions(1.0, global);
  const auto solver = structure_.solver(global);
  double sum = 0;
  for (std::size_t i = 0; i < std::min(count, sequences()); ++i) {
    const auto gold = annotated(order_[i]);
    attribute_scores(data_, order_[i], features_.ptr, features_.labels, {weights_.data(), features_.states()}, 1.0,
                     structure_.stride(), table);
    expected.assign(table.size(), 0.0);
    sum += solver->expectations({gold.size(), order_[i]}, table.data(), expected.data()) - score(gold, table);
  }
  return sum;
}

// The mean over time of a weight is its last value minus what each change did not yet give before it was made.
std::vector<double> OnlineChain::averaged() const {
  std::vector<double> out(weights_);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] -= weighted_[k] / seen_;
  return out;
}

}  // namespace spanloom
