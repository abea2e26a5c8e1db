#include "spanloom/inference/tree.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace spanloom {

TreeStructure::TreeStructure(std::size_t columns, std::shared_ptr<const Lattices> lattices,
                             std::vector<std::int32_t> next)
    : LatticeStructure(columns, std::move(lattices)), next_(std::move(next)) {
  if (next_.empty() || next_.size() % columns_ != 0) {
    throw std::invalid_argument("[TreeStructure] " + std::to_string(next_.size()) +
                                " entries are no table of contexts by " + std::to_string(columns_) + " columns");
  }
  last_.assign(next_.size() / columns_, -1);
  for (std::size_t at = 0; at < next_.size(); ++at) {
    const std::int32_t to = next_[at];
    const auto y = static_cast<std::int32_t>(at % columns_);
    if (to < 1 || to >= contexts() || (last(to) >= 0 && last(to) != y)) {
      throw std::invalid_argument("[TreeStructure] column " + std::to_string(y) + " leads to context " +
                                  std::to_string(to) + "; contexts are 1 to " + std::to_string(contexts() - 1) +
                                  ", each for one column");
    }
    last_[static_cast<std::size_t>(to)] = y;
  }
  by_last_.resize(last_.size() - 1);
  std::iota(by_last_.begin(), by_last_.end(), 1);
  std::stable_sort(by_last_.begin(), by_last_.end(), [&](auto a, auto b) { return last(a) < last(b); });
  if (by_last_.empty() || last(by_last_.front()) < 0) {
    throw std::invalid_argument("[TreeStructure] a context is the inside of no column");
  }
}

void TreeLimits::set(const Lattice& lattice, const std::uint8_t* mask, std::int32_t columns) {
  mask_ = mask;
  columns_ = columns;
  any_ = mask != nullptr && std::find(mask, mask + std::ptrdiff_t{lattice.segments()} * columns, std::uint8_t{2}) !=
                                mask + std::ptrdiff_t{lattice.segments()} * columns;
  if (!any_) return;
  const auto n = static_cast<std::size_t>(lattice.tokens);
  floor_.assign(n + 1, -1);
  reach_.assign(n + 1, lattice.tokens);
  single_.assign(n, 0);
  for (std::int32_t s = 0; s < lattice.segments(); ++s) {
    if (!must(s)) continue;
    const std::int32_t start = lattice.start_of(s);
    const std::int32_t end = lattice.end_of(s);
    if (end == start + 1) single_[static_cast<std::size_t>(start)] = 1;
    for (auto k = static_cast<std::size_t>(start) + 1; k < static_cast<std::size_t>(end); ++k) {
      floor_[k] = std::max(floor_[k], start);
      reach_[k] = std::min(reach_[k], end);
    }
  }
}

// The nodes of a boundary k of siblings that begin at i: for every context `rest` (more than one sibling, or a word),
// then those of the segment [i, k), then within(i, k, c). One more leaf stands for what is empty.
std::shared_ptr<const Graph> TreeStructure::graph(Unit unit, const std::uint8_t* mask) const {
  const Lattice lattice = lattices_->of(unit.number, unit.sites);
  const auto columns = static_cast<std::int32_t>(columns_);
  const std::int32_t n = lattice.tokens;
  const std::int32_t first_global = lattice.rows() * columns;
  TreeLimits limits;
  limits.set(lattice, mask, columns);
  GraphBuilder builder(static_cast<std::int64_t>(first_global) + static_cast<std::int64_t>(next_.size()));
  const auto inner = static_cast<std::size_t>(contexts() - 1);
  const auto global = [&](std::int32_t c, std::int32_t y) { return first_global + c * columns + y; };

  const std::int32_t empty = builder.node();
  builder.edge({}, {});
  // Nodes by segment: mention and child [segment, context - 1], top [segment]; within: [k - i - 1, context - 1] of one
  // i.
  const auto segments = static_cast<std::size_t>(lattice.segments());
  std::vector<std::int32_t> mention(segments * inner), child(segments * inner), top(segments), within, rest(inner);
  std::vector<std::int32_t> cells;
  for (std::int32_t i = n; i-- > 0;) {
    within.assign(static_cast<std::size_t>(lattice.longest_from(i)) * inner, empty);
    const auto before = [&](std::int32_t k, std::size_t c) {
      return k == i ? empty : within[static_cast<std::size_t>(k - i - 1) * inner + c];
    };
    std::int32_t s = lattice.first_segment(i);
    for (std::int32_t k = i + 1; k <= i + lattice.longest_from(i); ++k) {
      const bool blocked = limits.blocked(i, k);
      for (std::size_t c = 0; c < inner; ++c) {
        rest[c] = builder.node();
        if (blocked) continue;
        if (k == i + 1 || limits.word(k - 1)) {
          const std::int32_t tails[] = {before(k - 1, c)};
          builder.edge(tails, {});
        }
        for (std::int32_t q = 0; q < lattice.to(k - 1); ++q) {
          const std::int32_t other = lattice.nth_to(k - 1, q);
          if (lattice.start_of(other) <= i) break;
          const std::int32_t tails[] = {before(lattice.start_of(other), c),
                                        child[static_cast<std::size_t>(other) * inner + c]};
          builder.edge(tails, {});
        }
      }
      const bool candidate = s < lattice.first_segment(i + 1) && lattice.end_of(s) == k;
      const std::size_t own = static_cast<std::size_t>(s) * inner;
      if (candidate) {
        for (std::size_t at = inner; at-- > 0;) {
          const std::int32_t c = by_last_[at];
          const std::int32_t y = last(c);
          mention[own + static_cast<std::size_t>(c) - 1] = builder.node();
          if (limits.out(s, y)) continue;
          cells.clear();
          lattice.each_row(s, i, [&](std::int32_t row) { cells.push_back(row * columns + y); });
          if (limits.closes(s, y)) {
            const std::int32_t tails[] = {rest[static_cast<std::size_t>(c) - 1]};
            builder.edge(tails, cells);
          }
          cells.push_back(0);
          for (std::int32_t z = y + 1; z < columns; ++z) {
            if (!limits.follows(s, y, z)) continue;
            cells.back() = global(c, z);
            const std::int32_t tails[] = {mention[own + static_cast<std::size_t>(next(c, z)) - 1]};
            builder.edge(tails, cells);
          }
        }
        for (std::int32_t c = 0; c < contexts(); ++c) {
          (c == 0 ? top[static_cast<std::size_t>(s)] : child[own + static_cast<std::size_t>(c) - 1]) = builder.node();
          for (std::int32_t y = 0; y < columns; ++y) {
            if (!limits.begins(s, y)) continue;
            const std::int32_t tails[] = {mention[own + static_cast<std::size_t>(next(c, y)) - 1]};
            const std::int32_t pair[] = {global(c, y)};
            builder.edge(tails, pair);
          }
        }
      }
      for (std::size_t c = 0; c < inner; ++c) {
        within[static_cast<std::size_t>(k - i - 1) * inner + c] = builder.node();
        if (!candidate || !limits.must(s)) {
          const std::int32_t tails[] = {rest[c]};
          builder.edge(tails, {});
        }
        if (candidate) {
          const std::int32_t tails[] = {child[own + c]};
          builder.edge(tails, {});
        }
      }
      s += candidate ? 1 : 0;
    }
  }
  // What stands at the top, from left to right; the last node is the root.
  std::vector<std::int32_t> up_to{builder.node()};
  builder.edge({}, {});
  for (std::int32_t k = 1; k <= n; ++k) {
    up_to.push_back(builder.node());
    if (limits.blocked(-1, k)) continue;
    if (limits.word(k - 1)) {
      const std::int32_t tails[] = {up_to[static_cast<std::size_t>(k) - 1]};
      builder.edge(tails, {});
    }
    for (std::int32_t q = 0; q < lattice.to(k - 1); ++q) {
      const std::int32_t s = lattice.nth_to(k - 1, q);
      const std::int32_t tails[] = {up_to[static_cast<std::size_t>(lattice.start_of(s))],
                                    top[static_cast<std::size_t>(s)]};
      builder.edge(tails, {});
    }
  }
  return std::make_shared<const Graph>(builder.finish());
}

}  // namespace spanloom
