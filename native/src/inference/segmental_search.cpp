#include "segmental_search.hpp"

#include <algorithm>

#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

using S = SegmentalStructure;
constexpr std::size_t kStride = kernels::padded(S::kColumns);

}  // namespace

void SegmentalEnds::read(const Lattice& lattice, const SegmentSums& sums, const std::uint8_t* mask) {
  const auto n = static_cast<std::size_t>(lattice.tokens);
  first.assign(n + 1, 0);
  size.resize(n);
  least.assign(n, -1);
  longest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    size[i] = lattice.longest_from(static_cast<std::int32_t>(i));
    longest = std::max(longest, size[i]);
    first[i + 1] = first[i] + static_cast<std::size_t>(size[i]);
  }
  for (auto& own : score) own.assign(first[n], kMinusInfinity);
  must.assign(first[n], 0);
  for (std::int32_t s = 0; s < lattice.segments(); ++s) {
    const auto choice = S::choice(mask, s);
    if (choice == S::Choice::out) continue;
    const std::int32_t i = lattice.start_of(s);
    const std::int32_t d = lattice.end_of(s) - i - 1;
    const std::size_t slot = first[i] + static_cast<std::size_t>(d);
    score[0][slot] = sums[s][S::kMention];
    score[1][slot] = sums[s][S::kMention] + sums[s][S::kNested];
    must[slot] = choice == S::Choice::in;
    if (must[slot]) least[i] = std::max(least[i], d);
  }
}

double SegmentalSearch::best(const Lattice& lattice, const double* scores, const SegmentalEnds& ends,
                             const Globals& global, bool with_global, std::vector<std::int32_t>& cells) {
  const std::int32_t n = lattice.tokens;
  cells.clear();
  width_ = static_cast<std::size_t>(ends.longest) + 2;
  const auto row = [&](std::int32_t g) { return scores + static_cast<std::size_t>(lattice.gap(g)) * kStride; };
  value_.assign(width_, kMinusInfinity);
  later_.assign(width_, kMinusInfinity);
  steps_.assign(at(n + 1), Step{});
  value_[0] = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    step(i, row(i), ends, global);
    std::swap(value_, later_);
  }
  const double outside = value_[0] + row(n)[S::kX];
  const double ended = value_[1] + row(n)[S::kE];
  const double top = std::max(outside, ended);
  if (top == kMinusInfinity) return top;
  std::vector<std::int32_t> globals;
  auto column = static_cast<std::int32_t>(outside >= ended ? S::kX : S::kE);
  std::int32_t state = outside >= ended ? 0 : 1;
  constexpr auto columns = static_cast<std::int32_t>(S::kColumns);
  cells.push_back(lattice.gap(n) * columns + column);
  for (std::int32_t i = n; i-- > 0;) {
    const Step& taken = steps_[at(i + 1) + static_cast<std::size_t>(state)];
    cells.push_back(lattice.gap(i) * columns + taken.column);
    if (taken.end >= 0) add_mentions(lattice, i, taken, ends, global, cells, globals);
    state = taken.before;
  }
  std::sort(cells.begin(), cells.end());
  for (const std::int32_t g : globals) {
    if (with_global) cells.push_back(lattice.rows() * columns + g);
  }
  return top;
}

void SegmentalSearch::step(std::int32_t i, const double* row, const SegmentalEnds& ends, const Globals& global) {
  const std::int32_t size = ends.size[i], least = ends.least[i];
  Step* steps = &steps_[at(i + 1)];
  // chains_[in][d]: the best chain whose furthest end is d.
  for (const std::size_t in : {0, 1}) {
    chains_[in].assign(static_cast<std::size_t>(size), kMinusInfinity);
    double before = 0;
    for (std::int32_t d = 0; d < size; ++d) {
      const std::size_t slot = ends.first[i] + static_cast<std::size_t>(d);
      if (d >= least) chains_[in][d] = before + ends.score[in][slot];
      const double shorter = ends.score[in][slot] + global[S::kShorter];
      before += ends.must[slot] ? shorter : std::max(0.0, shorter);
    }
  }
  const bool free = least < 0;
  std::fill(later_.begin(), later_.end(), kMinusInfinity);
  const auto offer = [&](std::int32_t state, double score, Step way) {
    if (score > later_[state]) {
      later_[state] = score;
      steps[state] = way;
    }
  };
  if (free) {
    offer(0, value_[0] + row[S::kX], {S::kX, -1, 0});
    offer(0, value_[1] + row[S::kE], {S::kE, -1, 1});
  }
  const double fresh = value_[0] + row[S::kS], after = value_[1] + row[S::kES];
  const Step start{static_cast<std::uint8_t>(fresh >= after ? S::kS : S::kES), -1, fresh >= after ? 0 : 1};
  double inner = kMinusInfinity, open = kMinusInfinity;
  std::int32_t inner_end = -1, open_state = -1;
  for (std::int32_t m = 1; m <= ends.longest; ++m) {
    const double now = value_[m + 1];
    if (free) offer(m, now + row[S::kC], {S::kC, -1, m + 1});
    offer(m, now + row[S::kCS] + inner, {S::kCS, inner_end, m + 1});
    if (m <= size) {
      const double in = chains_[1][m - 1] + row[S::kCS];
      offer(m, std::max(fresh, after) + chains_[0][m - 1], {start.column, m - 1, start.before});
      offer(m, now + in + global[S::kCommonEnd], {S::kCS, m - 1, m + 1});
      offer(m, open + in + global[S::kCrossing], {S::kCS, m - 1, open_state});
      if (chains_[1][m - 1] > inner) {
        inner = chains_[1][m - 1];
        inner_end = m - 1;
      }
    }
    if (now > open) {
      open = now;
      open_state = m + 1;
    }
  }
}

void SegmentalSearch::add_mentions(const Lattice& lattice, std::int32_t i, const Step& step, const SegmentalEnds& ends,
                                   const Globals& global, std::vector<std::int32_t>& cells,
                                   std::vector<std::int32_t>& globals) {
  constexpr auto columns = static_cast<std::int32_t>(S::kColumns);
  const bool in = step.column == S::kCS;
  for (std::int32_t s = lattice.first_segment(i); s < lattice.first_segment(i + 1); ++s) {
    const std::int32_t d = lattice.end_of(s) - i - 1;
    if (d > step.end) break;
    const std::size_t slot = ends.first[i] + static_cast<std::size_t>(d);
    if (d < step.end) {
      if (!ends.must[slot] && !(ends.score[in][slot] + global[S::kShorter] > 0)) continue;
      globals.push_back(S::kShorter);
    }
    lattice.each_row(s, i, [&](std::int32_t row) {
      if (in) cells.push_back(row * columns + static_cast<std::int32_t>(S::kNested));
      cells.push_back(row * columns + static_cast<std::int32_t>(S::kMention));
    });
  }
  // M = i + before - 1, and the furthest end is i + 1 + end.
  if (in && step.end + 2 == step.before) globals.push_back(S::kCommonEnd);
  if (in && step.end + 2 > step.before) globals.push_back(S::kCrossing);
}

}  // namespace spanloom
