#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanloom {

// A directed acyclic hypergraph whose edges carry cells.
//
// An edge joins zero or more tail nodes to one head node; an ordinary multigraph is the case of one tail. Nodes are
// numbered so that every tail is below its head, and the last node is the root: a structure is a set of edges that
// unfolds the root down to edges without tails. Its score is the sum of scores[c] over the cells c of its edges.
struct Graph {
  std::vector<std::int64_t> edge_ptr{0};  // [nodes + 1]: edges edge_ptr[v] .. edge_ptr[v + 1] have head v
  std::vector<std::int64_t> tail_ptr{0};  // [edges + 1]
  std::vector<std::int32_t> tails;        // nodes
  std::vector<std::int64_t> cell_ptr{0};  // [edges + 1]
  std::vector<std::int32_t> cells;        // positions in the score vector
  std::int64_t cell_count = 0;            // length of the score vector

  std::size_t nodes() const { return edge_ptr.size() - 1; }
  std::size_t edges() const { return tail_ptr.size() - 1; }

  // Throws std::invalid_argument, with the values, unless all of the above holds.
  void check() const;
};

// The graph without the edges that use a cell c < forbidden.size() with forbidden[c] == true. Nodes stay.
Graph without(const Graph& graph, const std::vector<bool>& forbidden);

// Builds a graph node by node; node() opens the next node, edge() adds an edge into it.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::int64_t cell_count) { graph_.cell_count = cell_count; }

  std::int32_t node();
  void edge(std::span<const std::int32_t> tails, std::span<const std::int32_t> cells);
  Graph finish();

 private:
  Graph graph_;
};

// One best structure or sample: its score and its edges, from the root down.
struct Derivation {
  double score = 0;
  std::vector<std::int64_t> edges;
};

// log Z: the log of the sum over structures of exp(score); -inf if there is none.
double log_partition(const Graph& graph, std::span<const double> scores);

// Returns log Z and adds to expected[c] the expected number of uses of cell c. With log Z = -inf nothing is added.
double expectations(const Graph& graph, std::span<const double> scores, std::span<double> expected);

// The highest-scoring structure; score -inf and no edges if there is none. Ties go to the edge that comes first.
Derivation best(const Graph& graph, std::span<const double> scores);

// The k highest-scoring structures, best first, fewer if there are fewer; see best_stream.hpp. Ties are in a fixed
// order.
std::vector<Derivation> k_best(const Graph& graph, std::span<const double> scores, std::size_t k);

// The number of structures (exact up to 2^53).
double count(const Graph& graph);

// Independent structures drawn from exp(score) / Z. Throws std::domain_error if there is no structure.
std::vector<Derivation> sample(const Graph& graph, std::span<const double> scores, std::size_t n, std::uint64_t seed);

}  // namespace spanloom
