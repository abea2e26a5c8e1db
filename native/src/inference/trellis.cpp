#include "spanloom/inference/trellis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "spanloom/base/random.hpp"
#include "spanloom/inference/graph.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

void check_scores(std::span<const double> scores, const char* what) {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!(scores[i] < std::numeric_limits<double>::infinity())) {
      throw std::invalid_argument("[Trellis] " + std::string(what) + " " + std::to_string(i) + " is " +
                                  std::to_string(scores[i]) + "; scores are numbers or -inf");
    }
  }
}

// Sums of products in between have all their digits, down to terms that do not count.
constexpr double kSmall = 1e-150;
constexpr double kLarge = 1e150;

}  // namespace

void Trellis::normalise() { normalise({}, {}); }

void Trellis::normalise(std::span<const double> factor, std::span<const double> score) {
  std::vector<double> beta(nodes(), kMinusInfinity);
  std::vector<double> scaled(factor.empty() ? 0 : nodes());  // exp(score + beta - common) of the layer after
  prob.assign(target.size(), 0.0);
  beta.back() = 0.0;
  double shift = 0;
  for (std::size_t layer = layer_ptr.size() - 2; layer-- > 0;) {
    double high = kMinusInfinity;
    double common = kMinusInfinity;
    if (!factor.empty()) {
      for (std::int64_t u = layer_ptr[layer + 1]; u < layer_ptr[layer + 2]; ++u) {
        common = std::max(common, score[u] + beta[u]);
      }
      if (common > kMinusInfinity) {
        for (std::int64_t u = layer_ptr[layer + 1]; u < layer_ptr[layer + 2]; ++u) {
          scaled[u] = std::exp(score[u] + beta[u] - common);
        }
      }
    }
    for (std::int64_t v = layer_ptr[layer]; v < layer_ptr[layer + 1]; ++v) {
      const std::int64_t first = edge_ptr[v];
      const std::int64_t last = edge_ptr[v + 1];
      if (common > kMinusInfinity) {
        double total = 0;
        for (std::int64_t e = first; e < last; ++e) total += prob[e] = factor[e] * scaled[target[e]];
        if (total > kSmall && total < kLarge) {
          beta[v] = common + std::log(total);
          const double inverse = 1.0 / total;
          for (std::int64_t e = first; e < last; ++e) {
            log_prob[e] += beta[target[e]] - beta[v];
            prob[e] *= inverse;
          }
          high = std::max(high, beta[v]);
          continue;
        }
        std::fill(prob.begin() + first, prob.begin() + last, 0.0);  // too far apart for one factor each
      }
      double top = kMinusInfinity;
      for (std::int64_t e = first; e < last; ++e) {
        log_prob[e] += beta[target[e]];
        top = std::max(top, log_prob[e]);
      }
      if (top == kMinusInfinity) continue;
      double total = 0;
      for (std::int64_t e = first; e < last; ++e) total += prob[e] = std::exp(log_prob[e] - top);
      beta[v] = top + std::log(total);
      const double inverse = 1.0 / total;
      for (std::int64_t e = first; e < last; ++e) {
        log_prob[e] -= beta[v];
        prob[e] *= inverse;
      }
      high = std::max(high, beta[v]);
    }
    if (high == kMinusInfinity) continue;
    // Kept near 0, so that a long sentence costs no digits.
    shift += high;
    for (std::int64_t v = layer_ptr[layer]; v < layer_ptr[layer + 1]; ++v) beta[v] -= high;
  }
  log_z += shift + beta[0];
  mass.assign(nodes(), 0.0);
  if (log_z == kMinusInfinity) return;
  mass[0] = 1.0;
  for (std::size_t v = 0; v + 1 < nodes(); ++v) {
    if (mass[v] == 0.0) continue;
    for (std::int64_t e = edge_ptr[v]; e < edge_ptr[v + 1]; ++e) mass[target[e]] += mass[v] * prob[e];
  }
}

std::vector<double> Trellis::marginals() const {
  std::vector<double> out(sites() * columns, 0.0);
  for (std::size_t t = 0; t < sites(); ++t) {
    for (std::int64_t v = layer_ptr[t + 1]; v < layer_ptr[t + 2]; ++v) {
      out[t * columns + static_cast<std::size_t>(column[v])] += mass[v];
    }
  }
  return out;
}

double Trellis::entropy() const {
  double total = 0;
  for (std::size_t v = 0; v + 1 < nodes(); ++v) {
    if (mass[v] == 0.0) continue;
    double own = 0;
    for (std::int64_t e = edge_ptr[v]; e < edge_ptr[v + 1]; ++e) {
      if (prob[e] > 0.0) own -= prob[e] * log_prob[e];
    }
    total += mass[v] * own;
  }
  return total;
}

std::vector<std::int32_t> Trellis::sample(std::size_t n, std::uint64_t seed) const {
  if (log_z == kMinusInfinity) throw std::domain_error("[Trellis] no path has a score above -inf");
  Random random(seed);
  std::vector<std::int32_t> out;
  out.reserve(n * sites());
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t v = 0;
    for (std::size_t t = 0; t < sites(); ++t) {
      const double u = random.uniform();
      double cumulated = 0;
      std::size_t chosen = v;
      for (std::int64_t e = edge_ptr[v]; e < edge_ptr[v + 1]; ++e) {
        if (prob[e] == 0.0) continue;
        chosen = static_cast<std::size_t>(target[e]);
        cumulated += prob[e];
        if (u < cumulated) break;
      }
      v = chosen;
      out.push_back(column[v]);
    }
  }
  return out;
}

std::pair<std::vector<double>, std::vector<std::int32_t>> Trellis::k_best(std::size_t k) const {
  // The graph has the nodes of the trellis; its edges are by head, and cell e is edge e of the trellis.
  std::vector<std::int64_t> in_ptr(nodes() + 1, 0);
  for (const std::int32_t v : target) ++in_ptr[v + 1];
  for (std::size_t v = 0; v < nodes(); ++v) in_ptr[v + 1] += in_ptr[v];
  std::vector<std::int64_t> into(target.size());
  std::vector<std::int32_t> source(target.size());
  auto at = in_ptr;
  for (std::size_t v = 0; v < nodes(); ++v) {
    for (std::int64_t e = edge_ptr[v]; e < edge_ptr[v + 1]; ++e) {
      source[e] = static_cast<std::int32_t>(v);
      into[at[target[e]]++] = e;
    }
  }
  GraphBuilder builder(static_cast<std::int64_t>(target.size()));
  for (std::size_t v = 0; v < nodes(); ++v) {
    builder.node();
    if (v == 0) builder.edge({}, {});
    for (std::int64_t i = in_ptr[v]; i < in_ptr[v + 1]; ++i) {
      const std::int32_t tails[] = {source[into[i]]};
      const std::int32_t cells[] = {static_cast<std::int32_t>(into[i])};
      builder.edge(tails, cells);
    }
  }
  const Graph graph = builder.finish();
  std::pair<std::vector<double>, std::vector<std::int32_t>> found;
  if (log_z == kMinusInfinity) return found;
  for (const Derivation& one : spanloom::k_best(graph, log_prob, k)) {
    found.first.push_back(one.score);
    // From the root down: the edges into the end, into the last site, … into the first site, into the start.
    for (std::size_t t = sites(); t-- > 0;) {
      const std::int64_t e = graph.cells[graph.cell_ptr[one.edges[t + 1]]];
      found.second.push_back(column[target[e]]);
    }
  }
  return found;
}

TrellisMaker::TrellisMaker(const ChainStructure& structure, std::span<const double> transitions)
    : columns_(structure.columns()), next_ptr_{0} {
  if (transitions.size() != columns_ * columns_) {
    throw std::invalid_argument("[Trellis] " + std::to_string(transitions.size()) + " transition scores for " +
                                std::to_string(columns_) + " columns");
  }
  check_scores(transitions, "transition score");
  for (std::size_t x = 0; x < columns_; ++x) {
    for (std::size_t y = 0; y < columns_; ++y) {
      if (!structure.allowed(x, y) || transitions[x * columns_ + y] == kMinusInfinity) continue;
      next_.push_back(static_cast<std::int32_t>(y));
      step_.push_back(transitions[x * columns_ + y]);
      factor_.push_back(std::exp(step_.back()));
    }
    next_ptr_.push_back(static_cast<std::int64_t>(next_.size()));
    if (structure.may_start(x)) first_.push_back(static_cast<std::int32_t>(x));
    if (structure.may_end(x)) last_.push_back(static_cast<std::int32_t>(x));
  }
}

Trellis TrellisMaker::make(std::span<const double> scores) const {
  if (scores.size() % columns_ != 0) {
    throw std::invalid_argument("[Trellis] " + std::to_string(scores.size()) + " scores are not a whole number of " +
                                "rows of " + std::to_string(columns_));
  }
  check_scores(scores, "score");
  const std::size_t sites = scores.size() / columns_;
  Trellis made;
  made.columns = columns_;
  made.layer_ptr = {0, 1};
  made.column = {made.border()};
  // Columns of score -inf have no node. at[y]: the node of a column in the next layer, or -1.
  std::vector<std::int32_t> at(columns_, -1);
  std::vector<double> factor, score{0.0};  // of edges and of nodes
  const auto layer = [&](std::size_t t) {
    for (std::size_t y = 0; y < columns_; ++y) {
      at[y] = scores[t * columns_ + y] == kMinusInfinity ? -1 : static_cast<std::int32_t>(made.column.size());
      if (at[y] < 0) continue;
      made.column.push_back(static_cast<std::int32_t>(y));
      score.push_back(scores[t * columns_ + y]);
    }
    made.layer_ptr.push_back(static_cast<std::int64_t>(made.column.size()));
  };
  const auto edge = [&](std::int32_t node, double weight, double one) {
    made.target.push_back(node);
    made.log_prob.push_back(weight);
    factor.push_back(one);
  };
  const auto close = [&] { made.edge_ptr.push_back(static_cast<std::int64_t>(made.target.size())); };
  made.target.reserve(sites * next_.size());
  made.log_prob.reserve(sites * next_.size());
  factor.reserve(sites * next_.size());
  for (std::size_t t = 0; t < sites; ++t) {
    layer(t);
    const double* row = &scores[t * columns_];
    for (std::int64_t v = made.layer_ptr[t]; v < made.layer_ptr[t + 1]; ++v) {
      const std::int32_t x = made.column[v];
      if (t == 0) {
        for (const std::int32_t y : first_) {
          if (at[y] >= 0) edge(at[y], row[y], 1.0);
        }
      } else {
        for (std::int64_t i = next_ptr_[x]; i < next_ptr_[x + 1]; ++i) {
          if (at[next_[i]] >= 0) edge(at[next_[i]], step_[i] + row[next_[i]], factor_[i]);
        }
      }
      close();
    }
  }
  made.column.push_back(made.border());
  score.push_back(0.0);
  made.layer_ptr.push_back(static_cast<std::int64_t>(made.column.size()));
  const auto end = static_cast<std::int32_t>(made.column.size()) - 1;
  for (std::int64_t v = made.layer_ptr[sites]; v < made.layer_ptr[sites + 1]; ++v) {
    const bool ends = sites == 0 || std::binary_search(last_.begin(), last_.end(), made.column[v]);
    if (ends) edge(end, 0.0, 1.0);
    close();
  }
  close();  // of the end
  made.normalise(factor, score);
  return made;
}

}  // namespace spanloom
