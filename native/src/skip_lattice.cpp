#include "spanloom/skip_lattice.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "spanloom/best_stream.hpp"
#include "spanloom/semirings.hpp"

namespace spanloom {
namespace {

// Subsets that were looked at for one that was kept, at most: an answer under no_embedding may hide exponentially many
// subsets of a good subset, none of which may stand beside it.
constexpr std::size_t kLooks = 64;

bool contains(const Subset& outer, const Subset& inner) { return std::ranges::includes(outer.tokens, inner.tokens); }

}  // namespace

SkipLattice::SkipLattice(std::size_t types, std::size_t max_gap) : types_(types), max_gap_(max_gap) {
  if (types == 0) throw std::invalid_argument("[SkipLattice] there must be at least one type");
}

Graph SkipLattice::make(std::size_t n) const {
  if (cells(n) > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::length_error("[SkipLattice] a sentence of " + std::to_string(n) + " tokens with gaps of up to " +
                            std::to_string(max_gap_) + " and " + std::to_string(types_) +
                            " types has too many cells; choose a smaller gap");
  }
  GraphBuilder builder(static_cast<std::int64_t>(cells(n)));
  const auto edge = [&](std::span<const std::int32_t> tails, std::size_t site, std::size_t type) {
    const std::array<std::int32_t, 1> cell{static_cast<std::int32_t>(site * types_ + type)};
    builder.edge(tails, cell);
  };
  // node i * types + t: subsets of type t so far that end in token i
  const auto node_of = [&](std::size_t i, std::size_t t) {
    return std::array<std::int32_t, 1>{static_cast<std::int32_t>(i * types_ + t)};
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t t = 0; t < types_; ++t) {
      builder.node();
      edge({}, start(n, i), t);
      for (std::size_t j = i > gap(n) + 1 ? i - gap(n) - 1 : 0; j < i; ++j) edge(node_of(j, t), step(n, j, i), t);
    }
  }
  builder.node();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t t = 0; t < types_; ++t) edge(node_of(i, t), end(n, i), t);
  }
  return builder.finish();
}

std::shared_ptr<const Graph> SkipLattice::graph(std::size_t n) const {
  if (n > kCachedLength) return std::make_shared<const Graph>(make(n));
  const std::lock_guard lock(mutex_);
  auto& graph = graphs_[n];
  if (!graph) graph = std::make_shared<const Graph>(make(n));
  return graph;
}

Subset SkipLattice::read(std::size_t n, const Graph& graph, const Derivation& path) const {
  Subset subset;
  subset.score = path.score;
  for (const std::int64_t e : path.edges) {
    const auto cell = static_cast<std::size_t>(graph.cells[graph.cell_ptr[e]]);
    const std::size_t site = cell / types_;
    subset.type = static_cast<std::uint32_t>(cell % types_);
    // Edges come from the end back: end(last), step(j, last) …, start(first). Each names the token before it.
    if (site >= 2 * n) subset.tokens.push_back(static_cast<std::uint32_t>((site - 2 * n) / (gap(n) + 1)));
    if (site >= n && site < 2 * n) subset.tokens.push_back(static_cast<std::uint32_t>(site - n));
  }
  std::ranges::reverse(subset.tokens);
  return subset;
}

std::vector<Subset> SkipLattice::best(std::size_t n, std::span<const double> scores, std::size_t k,
                                      double above) const {
  return best(n, scores, k, above, {});
}

std::vector<Subset> SkipLattice::best(std::size_t n, std::span<const double> scores, std::size_t k, double above,
                                      Restrictions restrictions) const {
  std::vector<Subset> found;
  if (n == 0 || k == 0) return found;
  if (restrictions.no_overlap) return disjoint(n, scores, k, above);
  const auto lattice = graph(n);
  BestStream stream(*lattice, scores);
  std::size_t looks = restrictions.any() ? kLooks * k : k;
  for (; found.size() < k && looks > 0; --looks) {
    const auto path = stream.next();
    if (!path || path->score <= above) break;
    Subset subset = read(n, *lattice, *path);
    const auto forbids = [&](const Subset& kept) { return contains(kept, subset) || contains(subset, kept); };
    if (restrictions.no_embedding && std::ranges::any_of(found, forbids)) continue;
    found.push_back(std::move(subset));
  }
  return found;
}

// Without overlap, the next subset is the best one on the tokens that are left. Embedded subsets overlap.
std::vector<Subset> SkipLattice::disjoint(std::size_t n, std::span<const double> scores, std::size_t k,
                                          double above) const {
  std::vector<Subset> found;
  const auto lattice = graph(n);
  std::vector<double> left(scores.begin(), scores.end());
  const auto forbid = [&](std::size_t site) { std::fill_n(&left[site * types_], types_, kMinusInfinity); };
  while (found.size() < k) {
    const Derivation path = spanloom::best(*lattice, left);
    if (path.score <= above) break;
    found.push_back(read(n, *lattice, path));
    for (const std::size_t i : found.back().tokens) {
      forbid(start(n, i));
      for (std::size_t j = i > gap(n) + 1 ? i - gap(n) - 1 : 0; j < i; ++j) forbid(step(n, j, i));
    }
  }
  return found;
}

}  // namespace spanloom
