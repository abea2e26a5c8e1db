#include "spanloom/inference/skip_lattice.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <stdexcept>
#include <string>

#include "spanloom/inference/best_stream.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

// Subsets that are looked at one by one for each that is wanted. A good subset may hide exponentially many within it,
// none of which may stand beside it; when these are used up, the search goes on by regions.
constexpr std::size_t kLooks = 64;

bool contains(const Subset& outer, const Subset& inner) { return std::ranges::includes(outer.tokens, inner.tokens); }

// Whether one of two subsets is embedded in the other, and may not be.
bool forbids(Restrictions restrictions, const Subset& a, const Subset& b) {
  return (restrictions.no_embedding || (restrictions.no_self_embedding && a.type == b.type)) &&
         (contains(a, b) || contains(b, a));
}

using Tokens = std::vector<std::uint32_t>;

// The subsets of one type with all tokens of `needed` and none of `barred`, and the best of them.
struct Region {
  Tokens needed, barred;
  Subset best;

  bool operator<(const Region& other) const { return best.score < other.best.score; }
};

bool has(const Tokens& tokens, std::uint32_t token) { return std::ranges::find(tokens, token) != tokens.end(); }

// Parts of a region, disjoint, with all of its subsets that neither have all tokens of `kept` (if the best one does)
// nor have none but those (else).
std::vector<Region> split(const Region& region, const Subset& kept, std::size_t n) {
  std::vector<Region> parts;
  const bool above = contains(region.best, kept);
  Region rest{region.needed, region.barred, {}};
  for (std::uint32_t token = 0; token < n; ++token) {
    if (has(kept.tokens, token) != above || has(region.needed, token) || has(region.barred, token)) continue;
    // By the first token of `kept` that is missing, or the first one beside it that is there.
    Region part = rest;
    (above ? part.barred : part.needed).push_back(token);
    (above ? rest.needed : rest.barred).push_back(token);
    parts.push_back(std::move(part));
  }
  return parts;
}

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
  const std::size_t looks = restrictions.any() ? kLooks * k : k;
  for (std::size_t look = 0; found.size() < k; ++look) {
    if (look == looks) {
      add_apart(n, scores, k, above, restrictions, found);
      break;
    }
    const auto path = stream.next();
    if (!path || path->score <= above) break;
    Subset subset = read(n, *lattice, *path);
    if (std::ranges::any_of(found, [&](const Subset& kept) { return forbids(restrictions, kept, subset); })) continue;
    found.push_back(std::move(subset));
  }
  return found;
}

// Goes on from what was found, best first: a region whose best subset may not stand is split into parts without any
// subset that the same one forbids for the same reason. A region is a lattice with fewer edges.
void SkipLattice::add_apart(std::size_t n, std::span<const double> scores, std::size_t k, double above,
                            Restrictions restrictions, std::vector<Subset>& found) const {
  const auto lattice = graph(n);
  std::vector<double> left;
  std::priority_queue<Region> regions;
  const auto push = [&](Region region, std::uint32_t type) {
    left.assign(scores.begin(), scores.end());
    const auto forbid = [&](std::size_t site) { left[site * types_ + type] = kMinusInfinity; };
    const auto each_step = [&](const auto& body) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = j + 1; i < reach(n, j); ++i) body(j, i);
      }
    };
    for (std::size_t i = 0; i < n; ++i) {
      for (std::uint32_t t = 0; t < types_; ++t) {
        if (t != type) left[start(n, i) * types_ + t] = kMinusInfinity;
      }
    }
    for (const std::size_t token : region.barred) {
      forbid(start(n, token));
      each_step([&](std::size_t j, std::size_t i) {
        if (i == token) forbid(step(n, j, i));
      });
    }
    for (const std::size_t token : region.needed) {
      for (std::size_t i = 0; i < n; ++i) {
        if (i > token) forbid(start(n, i));
        if (i < token) forbid(end(n, i));
      }
      each_step([&](std::size_t j, std::size_t i) {
        if (j < token && token < i) forbid(step(n, j, i));
      });
    }
    const Derivation path = spanloom::best(*lattice, left);
    if (path.score <= above || path.score == kMinusInfinity) return;
    region.best = read(n, *lattice, path);
    regions.push(std::move(region));
  };
  for (std::uint32_t type = 0; type < types_; ++type) push({}, type);
  while (found.size() < k && !regions.empty()) {
    const Region region = regions.top();
    const auto kept =
        std::ranges::find_if(found, [&](const Subset& one) { return forbids(restrictions, one, region.best); });
    if (kept == found.end()) {
      found.push_back(region.best);  // the region stays, and is split when it comes up again
      continue;
    }
    regions.pop();
    for (Region& part : split(region, *kept, n)) push(std::move(part), region.best.type);
  }
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
