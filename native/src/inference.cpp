#include <algorithm>
#include <cmath>
#include <queue>
#include <stdexcept>
#include <string>

#include "spanloom/graph.hpp"
#include "spanloom/random.hpp"
#include "spanloom/semirings.hpp"

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

namespace {

// The k best derivations of every node, bottom-up: each node merges the sorted lists of its tails through a heap.
class BestLists {
 public:
  BestLists(const Graph& graph, std::span<const double> scores, std::size_t k)
      : graph_(graph), scores_(scores), k_(k), lists_(graph.nodes()) {
    for (std::size_t v = 0; v < graph.nodes(); ++v) fill(v);
  }

  std::vector<Derivation> at_root() const {
    const auto root = static_cast<std::int32_t>(graph_.nodes() - 1);
    std::vector<Derivation> found(lists_[root].size());
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
      found[rank].score = lists_[root][rank].score;
      found[rank].edges = edges_of(root, rank);
    }
    return found;
  }

 private:
  struct Entry {
    double score;
    std::int64_t edge;
    std::vector<std::uint32_t> ranks;  // which derivation of each tail
  };
  struct Worse {
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.score != b.score) return a.score < b.score;
      if (a.edge != b.edge) return a.edge > b.edge;
      return a.ranks > b.ranks;
    }
  };

  const std::vector<Entry>& tail_list(std::int64_t e, std::size_t i) const {
    return lists_[graph_.tails[graph_.tail_ptr[e] + static_cast<std::int64_t>(i)]];
  }

  void fill(std::size_t v) {
    std::vector<Entry> heap;
    for (std::int64_t e = graph_.edge_ptr[v]; e < graph_.edge_ptr[v + 1]; ++e) {
      const auto arity = static_cast<std::size_t>(graph_.tail_ptr[e + 1] - graph_.tail_ptr[e]);
      double score = edge_score(graph_, scores_, e);
      bool possible = score != kMinusInfinity;
      for (std::size_t i = 0; i < arity && possible; ++i) {
        possible = !tail_list(e, i).empty();
        if (possible) score += tail_list(e, i)[0].score;
      }
      if (possible) heap.push_back({score, e, std::vector<std::uint32_t>(arity, 0)});
    }
    std::make_heap(heap.begin(), heap.end(), Worse{});
    std::vector<Entry>& list = lists_[v];
    while (!heap.empty() && list.size() < k_) {
      std::pop_heap(heap.begin(), heap.end(), Worse{});
      list.push_back(std::move(heap.back()));
      heap.pop_back();
      // Successors raise one rank, from the last raised tail on, so that each combination is pushed once only.
      const Entry& taken = list.back();
      std::size_t i = taken.ranks.size();
      while (i > 0 && taken.ranks[i - 1] == 0) --i;
      for (i = i == 0 ? 0 : i - 1; i < taken.ranks.size(); ++i) {
        const std::vector<Entry>& tail = tail_list(taken.edge, i);
        const std::uint32_t rank = taken.ranks[i];
        if (rank + 1 >= tail.size()) continue;
        Entry next = taken;
        ++next.ranks[i];
        next.score += tail[rank + 1].score - tail[rank].score;
        heap.push_back(std::move(next));
        std::push_heap(heap.begin(), heap.end(), Worse{});
      }
    }
  }

  std::vector<std::int64_t> edges_of(std::int32_t root, std::size_t rank) const {
    std::vector<std::int64_t> edges;
    std::vector<std::pair<std::int32_t, std::size_t>> stack{{root, rank}};
    while (!stack.empty()) {
      const auto [v, r] = stack.back();
      stack.pop_back();
      const Entry& one = lists_[v][r];
      edges.push_back(one.edge);
      for (std::size_t i = one.ranks.size(); i-- > 0;) {
        stack.emplace_back(graph_.tails[graph_.tail_ptr[one.edge] + static_cast<std::int64_t>(i)], one.ranks[i]);
      }
    }
    return edges;
  }

  const Graph& graph_;
  std::span<const double> scores_;
  std::size_t k_;
  std::vector<std::vector<Entry>> lists_;  // [node]: best first
};

}  // namespace

std::vector<Derivation> k_best(const Graph& graph, std::span<const double> scores, std::size_t k) {
  check_scores(graph, scores);
  return BestLists(graph, scores, k).at_root();
}

}  // namespace spanloom
