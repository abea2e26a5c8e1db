#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "spanloom/inference/graph.hpp"

namespace spanloom {

// A labelled set of tokens and its score.
struct Subset {
  double score = 0;
  std::uint32_t type = 0;
  std::vector<std::uint32_t> tokens;  // ascending
};

// Which subsets may stand together, beside each other in one answer.
struct Restrictions {
  bool no_overlap = false;         // no two share a token
  bool no_embedding = false;       // none has all tokens of another (whatever the types)
  bool no_self_embedding = false;  // none has all tokens of another of its type

  bool any() const { return no_overlap || no_embedding || no_self_embedding; }
};

// All typed subsets of n tokens whose gaps are at most max_gap tokens wide, as a graph (McDonald, Crammer & Pereira
// 2005): a path picks a type and then one chosen token after the other. Cells are site * types + type, and the sites
// are
//
//   start(i)     token i is the first one
//   end(i)       token i is the last one
//   step(j, i)   token i is the next one after j: adjacent if i = j + 1, else i - j - 1 tokens are skipped
//
// O(n * max_gap * types) edges. With max_gap = 0 subsets are contiguous.
class SkipLattice {
 public:
  SkipLattice(std::size_t types, std::size_t max_gap);

  std::size_t types() const { return types_; }
  std::size_t max_gap() const { return max_gap_; }
  std::size_t sites(std::size_t n) const { return n * (3 + gap(n)); }
  std::size_t cells(std::size_t n) const { return sites(n) * types_; }

  std::size_t start(std::size_t, std::size_t i) const { return i; }
  std::size_t end(std::size_t n, std::size_t i) const { return n + i; }
  std::size_t step(std::size_t n, std::size_t j, std::size_t i) const { return 2 * n + j * (gap(n) + 1) + (i - j - 1); }
  // One past the last token that may follow j.
  std::size_t reach(std::size_t n, std::size_t j) const { return j + gap(n) + 2 < n ? j + gap(n) + 2 : n; }

  // Graphs are kept for the next sentence of the same length. May be called by several threads at once.
  std::shared_ptr<const Graph> graph(std::size_t n) const;

  // The k best subsets, best first; only those with a score above `above`.
  std::vector<Subset> best(std::size_t n, std::span<const double> scores, std::size_t k, double above) const;

  // The same, from the best down without those that a better one forbids, until there are k.
  std::vector<Subset> best(std::size_t n, std::span<const double> scores, std::size_t k, double above,
                           Restrictions restrictions) const;

 private:
  static constexpr std::size_t kCachedLength = 128;  // graphs of longer sentences are made anew

  std::size_t gap(std::size_t n) const { return n < max_gap_ ? n : max_gap_; }
  Graph make(std::size_t n) const;
  Subset read(std::size_t n, const Graph& graph, const Derivation& path) const;
  std::vector<Subset> disjoint(std::size_t n, std::span<const double> scores, std::size_t k, double above) const;
  void add_apart(std::size_t n, std::span<const double> scores, std::size_t k, double above, Restrictions restrictions,
                 std::vector<Subset>& found) const;

  std::size_t types_, max_gap_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::size_t, std::shared_ptr<const Graph>> graphs_;
};

}  // namespace spanloom
