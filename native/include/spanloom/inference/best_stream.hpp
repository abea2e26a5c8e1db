#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spanloom/inference/graph.hpp"

namespace spanloom {

// The structures of a graph from the best down, one at a time, each worked out when it is asked for (algorithm 3 of
// Huang & Chiang 2005): the first costs one pass over the graph, the next ones only touch the nodes that they change.
// Ties go by edge, then by the ranks of the tails. The graph and the scores must outlive the stream.
class BestStream {
 public:
  BestStream(const Graph& graph, std::span<const double> scores);

  // The next best structure with a score above -inf, or nothing when there is none left.
  std::optional<Derivation> next();

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
  // What is known of a node: its best derivations so far, and a heap of candidates for the next one.
  struct Node {
    std::vector<Entry> list;
    std::vector<Entry> heap;
    bool opened = false;    // the heap holds every edge but that of list[0]
    bool followed = false;  // the successors of the last entry of the list are in the heap
  };

  std::size_t tail(std::int64_t edge, std::size_t i) const {
    return static_cast<std::size_t>(graph_.tails[graph_.tail_ptr[edge] + static_cast<std::int64_t>(i)]);
  }
  void open(std::size_t v);
  bool follow(std::size_t v);
  bool reach(std::size_t v, std::size_t rank);

  const Graph& graph_;
  std::span<const double> scores_;
  std::vector<double> edge_scores_;
  std::vector<Node> nodes_;
  std::vector<std::pair<std::size_t, std::size_t>> stack_;  // (node, rank) to be worked out
  std::size_t given_ = 0;
};

}  // namespace spanloom
