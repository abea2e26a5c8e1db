#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/random.hpp"
#include "spanloom/inference/graph.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

void check_scores(const Graph& graph, std::span<const double> scores) {
  if (static_cast<std::int64_t>(scores.size()) != graph.cell_count) {
    throw std::invalid_argument("[inference] " + std::to_string(scores.size()) + " scores for a graph of " +
                                std::to_string(graph.cell_count) + " cells");
  }
}

double edge_score(const Graph& graph, std::span<const double> scores, std::int64_t e) {
  double score = 0;
  for (std::int64_t i = graph.cell_ptr[e]; i < graph.cell_ptr[e + 1]; ++i) score += scores[graph.cells[i]];
  return score;
}

// The one dynamic program: inside[v] = sum over edges e into v of lift(score of e) times the product of inside[tails].
// visit(v, first edge, values of the edges) sees each node's alternatives before they are summed.
template <class Semiring, class Visit>
std::vector<double> inside(const Graph& graph, std::span<const double> scores, Visit&& visit) {
  std::vector<double> inside(graph.nodes(), Semiring::zero);
  std::vector<double> values;
  for (std::size_t v = 0; v < graph.nodes(); ++v) {
    values.clear();
    for (std::int64_t e = graph.edge_ptr[v]; e < graph.edge_ptr[v + 1]; ++e) {
      double value = Semiring::lift(edge_score(graph, scores, e));
      for (std::int64_t i = graph.tail_ptr[e]; i < graph.tail_ptr[e + 1]; ++i) {
        value = Semiring::times(value, inside[graph.tails[i]]);
      }
      values.push_back(value);
    }
    inside[v] = Semiring::sum(values);
    visit(v, graph.edge_ptr[v], std::span<const double>(values), inside[v]);
  }
  return inside;
}

// Follows one choice of edge per visited node from the root down. choose(v) returns an edge into v.
template <class Choose>
std::vector<std::int64_t> unfold(const Graph& graph, Choose&& choose) {
  std::vector<std::int64_t> edges;
  std::vector<std::int32_t> stack{static_cast<std::int32_t>(graph.nodes() - 1)};
  while (!stack.empty()) {
    const std::int32_t v = stack.back();
    stack.pop_back();
    const std::int64_t e = choose(v);
    edges.push_back(e);
    for (std::int64_t i = graph.tail_ptr[e + 1]; i-- > graph.tail_ptr[e];) stack.push_back(graph.tails[i]);
  }
  return edges;
}

// local[e]: the probability of edge e given that its head is part of the structure. Marginals and samples need no more.
double local_probabilities(const Graph& graph, std::span<const double> scores, std::vector<double>& local) {
  local.assign(graph.edges(), 0.0);
  const auto normalise = [&](std::size_t, std::int64_t first, std::span<const double> values, double total) {
    if (total == kMinusInfinity) return;
    for (std::size_t i = 0; i < values.size(); ++i) local[first + i] = std::exp(values[i] - total);
  };
  return inside<LogSemiring>(graph, scores, normalise).back();
}

}  // namespace

double log_partition(const Graph& graph, std::span<const double> scores) {
  check_scores(graph, scores);
  return inside<LogSemiring>(graph, scores, [](auto&&...) {}).back();
}

double expectations(const Graph& graph, std::span<const double> scores, std::span<double> expected) {
  check_scores(graph, scores);
  check_scores(graph, expected);
  std::vector<double> local;
  const double log_z = local_probabilities(graph, scores, local);
  if (log_z == kMinusInfinity) return log_z;
  // The reverse pass: expected uses of a node flow to its edges by their local probability, and on to their tails.
  std::vector<double> uses(graph.nodes(), 0.0);
  uses.back() = 1.0;
  for (std::size_t v = graph.nodes(); v-- > 0;) {
    if (uses[v] == 0.0) continue;
    for (std::int64_t e = graph.edge_ptr[v]; e < graph.edge_ptr[v + 1]; ++e) {
      const double p = uses[v] * local[e];
      if (p == 0.0) continue;
      for (std::int64_t i = graph.tail_ptr[e]; i < graph.tail_ptr[e + 1]; ++i) uses[graph.tails[i]] += p;
      for (std::int64_t i = graph.cell_ptr[e]; i < graph.cell_ptr[e + 1]; ++i) expected[graph.cells[i]] += p;
    }
  }
  return log_z;
}

Derivation best(const Graph& graph, std::span<const double> scores) {
  check_scores(graph, scores);
  std::vector<std::int64_t> choice(graph.nodes(), -1);
  const auto remember = [&](std::size_t v, std::int64_t first, std::span<const double> values, double top) {
    if (top == kMinusInfinity) return;
    choice[v] = first + (std::find(values.begin(), values.end(), top) - values.begin());
  };
  Derivation found;
  found.score = inside<MaxSemiring>(graph, scores, remember).back();
  if (found.score != kMinusInfinity) found.edges = unfold(graph, [&](std::int32_t v) { return choice[v]; });
  return found;
}

double count(const Graph& graph) {
  const std::vector<double> zeros(static_cast<std::size_t>(graph.cell_count), 0.0);
  return inside<CountSemiring>(graph, zeros, [](auto&&...) {}).back();
}

std::vector<Derivation> sample(const Graph& graph, std::span<const double> scores, std::size_t n, std::uint64_t seed) {
  check_scores(graph, scores);
  std::vector<double> local;
  if (local_probabilities(graph, scores, local) == kMinusInfinity) {
    throw std::domain_error("[sample] the graph has no structure with a score above -inf");
  }
  Random random(seed);
  const auto draw = [&](std::int32_t v) {
    const double u = random.uniform();
    double cumulated = 0;
    std::int64_t last = -1;
    for (std::int64_t e = graph.edge_ptr[v]; e < graph.edge_ptr[v + 1]; ++e) {
      if (local[e] == 0.0) continue;
      last = e;
      cumulated += local[e];
      if (u < cumulated) break;
    }
    return last;
  };
  std::vector<Derivation> drawn(n);
  for (Derivation& one : drawn) {
    one.edges = unfold(graph, draw);
    for (const std::int64_t e : one.edges) one.score += edge_score(graph, scores, e);
  }
  return drawn;
}

}  // namespace spanloom
