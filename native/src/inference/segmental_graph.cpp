#include <initializer_list>
#include <utility>
#include <vector>

#include "spanloom/inference/segmental.hpp"

namespace spanloom {
namespace {

using S = SegmentalStructure;
using Choice = SegmentalStructure::Choice;

// Builds the graph of one sentence from gap to gap. A node -1 does not exist.
class SegmentalGraph {
 public:
  SegmentalGraph(const Lattice& lattice, const std::uint8_t* mask)
      : lattice_(lattice),
        mask_(mask),
        first_global_(lattice.rows() * kWidth),
        builder_(static_cast<std::int64_t>(first_global_) + S::kGlobals) {
    for (std::int32_t i = 0; i < lattice.tokens; ++i) longest_ = std::max(longest_, lattice.longest_from(i));
  }

  Graph build() {
    states_.assign(static_cast<std::size_t>(longest_) + 2, -1);
    states_[0] = builder_.node();
    builder_.edge({}, {});
    for (std::int32_t i = 0; i < lattice_.tokens; ++i) decide(i);
    add(lattice_.tokens, {{states_[0], S::kX}, {states_[1], S::kE}}, true);
    return builder_.finish();
  }

 private:
  static constexpr auto kWidth = static_cast<std::int32_t>(S::kColumns);
  using Nodes = std::vector<std::int32_t>;
  struct Way {
    std::int32_t from;
    std::size_t column;
  };
  struct Edge {
    Nodes tails, cells;
  };

  // A node of the ways from other nodes with a column of a gap; -1 if there is none.
  std::int32_t add(std::int32_t gap, std::initializer_list<Way> ways, bool always = false) {
    std::vector<Edge> edges;
    for (const Way& way : ways) {
      if (way.from >= 0) edges.push_back({{way.from}, {cell(gap, way.column)}});
    }
    return add(edges, always);
  }
  std::int32_t add(const std::vector<Edge>& edges, bool always = false) {
    if (edges.empty() && !always) return -1;
    const std::int32_t node = builder_.node();
    for (const Edge& edge : edges) builder_.edge(edge.tails, edge.cells);
    return node;
  }
  std::int32_t cell(std::int32_t gap, std::size_t column) const {
    return lattice_.gap(gap) * kWidth + static_cast<std::int32_t>(column);
  }
  Nodes mention(std::int32_t segment, std::int32_t i, bool in, std::initializer_list<std::size_t> globals = {}) const {
    Nodes cells;
    lattice_.each_row(segment, i, [&](std::int32_t row) {
      if (in) cells.push_back(row * kWidth + static_cast<std::int32_t>(S::kNested));
      cells.push_back(row * kWidth + static_cast<std::int32_t>(S::kMention));
    });
    for (const std::size_t g : globals) cells.push_back(first_global_ + static_cast<std::int32_t>(g));
    return cells;
  }

  // What comes before each segment from i as the furthest end: the shorter ones, each a mention or not.
  Nodes shorter(std::int32_t i, bool in) {
    Nodes found;
    std::int32_t now = add({Edge{}});
    for (std::int32_t s = lattice_.first_segment(i); s < lattice_.first_segment(i + 1); ++s) {
      found.push_back(now);
      const Choice choice = S::choice(mask_, s);
      if (choice == Choice::out) continue;
      std::vector<Edge> edges;
      if (choice == Choice::free) edges.push_back({{now}, {}});
      edges.push_back({{now}, mention(s, i, in, {S::kShorter})});
      now = add(edges);
    }
    return found;
  }

  void decide(std::int32_t i) {
    const std::int32_t first = lattice_.first_segment(i), last = lattice_.first_segment(i + 1);
    std::int32_t least = -1;
    for (std::int32_t s = first; s < last; ++s) {
      if (S::choice(mask_, s) == Choice::in) least = s;
    }
    const bool free = least < 0;
    const auto none = [&](std::int32_t node) { return free ? node : -1; };
    const Nodes out = shorter(i, false), in = shorter(i, true);
    const std::int32_t start = add(i, {{states_[0], S::kS}, {states_[1], S::kES}});
    Nodes next(states_.size(), -1);
    next[0] = add(i, {{none(states_[0]), S::kX}, {none(states_[1]), S::kE}});
    std::int32_t inner = -1, open = -1;
    std::int32_t s = first;
    for (std::int32_t m = 1; m <= longest_; ++m) {
      const std::int32_t now = states_[m + 1];
      const bool here = s < last && lattice_.end_of(s) == i + m;
      const bool end = here && s >= least && S::choice(mask_, s) != Choice::out;
      std::vector<Edge> edges;
      if (none(now) >= 0) edges.push_back({{now}, {cell(i, S::kC)}});
      if (now >= 0 && inner >= 0) edges.push_back({{now, inner}, {cell(i, S::kCS)}});
      const std::int32_t before_out = here ? out[s - first] : -1, before_in = here ? in[s - first] : -1;
      if (end && start >= 0) edges.push_back({{start, before_out}, mention(s, i, false)});
      for (const auto& [from, relation] : {std::pair{now, S::kCommonEnd}, std::pair{open, S::kCrossing}}) {
        if (!end || from < 0) continue;
        edges.push_back({{from, before_in}, mention(s, i, true, {relation})});
        edges.back().cells.push_back(cell(i, S::kCS));
      }
      next[m] = add(edges);
      if (end) {
        std::vector<Edge> more;
        if (inner >= 0) more.push_back({{inner}, {}});
        more.push_back({{before_in}, mention(s, i, true)});
        inner = add(more);
      }
      if (now >= 0) {
        std::vector<Edge> more;
        if (open >= 0) more.push_back({{open}, {}});
        more.push_back({{now}, {}});
        open = add(more);
      }
      if (here) ++s;
    }
    states_ = next;
  }

  const Lattice& lattice_;
  const std::uint8_t* mask_;
  std::int32_t first_global_;
  GraphBuilder builder_;
  std::int32_t longest_ = 0;
  Nodes states_;
};

}  // namespace

std::shared_ptr<const Graph> SegmentalStructure::graph(Unit unit, const std::uint8_t* mask) const {
  const Lattice lattice = lattices_->of(unit.number, unit.sites);
  return std::make_shared<const Graph>(SegmentalGraph(lattice, mask).build());
}

}  // namespace spanloom
