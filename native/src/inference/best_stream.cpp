#include "spanloom/inference/best_stream.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/inference/semirings.hpp"

namespace spanloom {

BestStream::BestStream(const Graph& graph, std::span<const double> scores)
    : graph_(graph), scores_(scores), edge_scores_(graph.edges(), 0.0), nodes_(graph.nodes()) {
  if (static_cast<std::int64_t>(scores.size()) != graph.cell_count) {
    throw std::invalid_argument("[inference] " + std::to_string(scores.size()) + " scores for a graph of " +
                                std::to_string(graph.cell_count) + " cells");
  }
  // One pass of the max semiring gives the first entry of every list.
  for (std::size_t v = 0; v < nodes_.size(); ++v) {
    double top = kMinusInfinity;
    std::int64_t choice = -1;
    for (std::int64_t e = graph.edge_ptr[v]; e < graph.edge_ptr[v + 1]; ++e) {
      double own = 0;
      for (std::int64_t i = graph.cell_ptr[e]; i < graph.cell_ptr[e + 1]; ++i) own += scores[graph.cells[i]];
      edge_scores_[e] = own;
      double score = own;
      for (std::int64_t i = graph.tail_ptr[e]; i < graph.tail_ptr[e + 1]; ++i) {
        const auto& list = nodes_[graph.tails[i]].list;
        score += list.empty() ? kMinusInfinity : list[0].score;
      }
      if (score > top) {
        top = score;
        choice = e;
      }
    }
    if (choice >= 0) {
      const auto arity = static_cast<std::size_t>(graph.tail_ptr[choice + 1] - graph.tail_ptr[choice]);
      nodes_[v].list.push_back({top, choice, std::vector<std::uint32_t>(arity, 0)});
    }
  }
}

void BestStream::open(std::size_t v) {
  Node& node = nodes_[v];
  node.opened = true;
  for (std::int64_t e = graph_.edge_ptr[v]; e < graph_.edge_ptr[v + 1]; ++e) {
    if (e == node.list[0].edge) continue;
    const auto arity = static_cast<std::size_t>(graph_.tail_ptr[e + 1] - graph_.tail_ptr[e]);
    double score = edge_scores_[e];
    for (std::size_t i = 0; i < arity; ++i) {
      const auto& list = nodes_[tail(e, i)].list;
      score += list.empty() ? kMinusInfinity : list[0].score;
    }
    if (score != kMinusInfinity) node.heap.push_back({score, e, std::vector<std::uint32_t>(arity, 0)});
  }
  std::make_heap(node.heap.begin(), node.heap.end(), Worse{});
}

// Puts the successors of the last entry into the heap, or the derivations that they need on the stack: then false.
// Successors raise one rank, from the last raised tail on, so that each combination comes once only.
bool BestStream::follow(std::size_t v) {
  Node& node = nodes_[v];
  const Entry& last = node.list.back();
  std::size_t from = last.ranks.size();
  while (from > 0 && last.ranks[from - 1] == 0) --from;
  if (from > 0) --from;
  bool ready = true;
  for (std::size_t i = from; i < last.ranks.size(); ++i) {
    const std::size_t u = tail(last.edge, i);
    const Node& below = nodes_[u];
    const bool exhausted = below.opened && below.followed && below.heap.empty();
    if (below.list.size() <= last.ranks[i] + std::size_t{1} && !exhausted) {
      stack_.emplace_back(u, last.ranks[i] + std::size_t{1});
      ready = false;
    }
  }
  if (!ready) return false;
  node.followed = true;
  const std::size_t at = node.list.size() - 1;
  for (std::size_t i = from; i < node.list[at].ranks.size(); ++i) {
    const auto& below = nodes_[tail(node.list[at].edge, i)].list;
    const std::uint32_t rank = node.list[at].ranks[i];
    if (rank + std::size_t{1} >= below.size()) continue;
    Entry next = node.list[at];
    ++next.ranks[i];
    next.score += below[rank + 1].score - below[rank].score;
    node.heap.push_back(std::move(next));
    std::push_heap(node.heap.begin(), node.heap.end(), Worse{});
  }
  return true;
}

// Works out the derivations of v up to this rank; false if there are fewer. Iterative: graphs may be deep.
bool BestStream::reach(std::size_t v, std::size_t rank) {
  if (nodes_[v].list.empty()) return false;
  stack_.assign(1, {v, rank});
  while (!stack_.empty()) {
    const auto [u, wanted] = stack_.back();
    Node& node = nodes_[u];
    if (node.list.size() > wanted) {
      stack_.pop_back();
      continue;
    }
    if (!node.opened) open(u);
    if (!node.followed && !follow(u)) continue;
    if (node.heap.empty()) {
      stack_.pop_back();
      continue;
    }
    std::pop_heap(node.heap.begin(), node.heap.end(), Worse{});
    node.list.push_back(std::move(node.heap.back()));
    node.heap.pop_back();
    node.followed = false;
  }
  return nodes_[v].list.size() > rank;
}

std::optional<Derivation> BestStream::next() {
  const std::size_t root = nodes_.size() - 1;
  if (!reach(root, given_)) return std::nullopt;
  Derivation found{nodes_[root].list[given_].score, {}};
  std::vector<std::pair<std::size_t, std::size_t>> open_nodes{{root, given_}};
  while (!open_nodes.empty()) {
    const auto [v, rank] = open_nodes.back();
    open_nodes.pop_back();
    const Entry& one = nodes_[v].list[rank];
    found.edges.push_back(one.edge);
    for (std::size_t i = one.ranks.size(); i-- > 0;) open_nodes.emplace_back(tail(one.edge, i), one.ranks[i]);
  }
  ++given_;
  return found;
}

std::vector<Derivation> k_best(const Graph& graph, std::span<const double> scores, std::size_t k) {
  BestStream stream(graph, scores);
  std::vector<Derivation> found;
  while (found.size() < k) {
    auto one = stream.next();
    if (!one) break;
    found.push_back(std::move(*one));
  }
  return found;
}

}  // namespace spanloom
