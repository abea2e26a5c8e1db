#include "spanloom/inference/segment_finder.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "spanloom/base/parallel.hpp"
#include "spanloom/inference/mention_probabilities.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kShardSentences = 64;

void check(const Decoder& decoder, const LatticeStructure& structure, std::span<const std::int32_t> labels,
           const SparseRows& rows) {
  decoder.check(rows);
  if (decoder.size() != 1 || decoder.structure(0).columns() != structure.columns() ||
      labels.size() != structure.columns() || structure.lattices().size() != rows.groups()) {
    throw std::invalid_argument("[find_segments] " + std::to_string(decoder.size()) + " structures, " +
                                std::to_string(structure.columns()) + " columns with " + std::to_string(labels.size()) +
                                " labels, or lattices of " + std::to_string(structure.lattices().size()) + " of " +
                                std::to_string(rows.groups()) + " sentences do not fit each other");
  }
}

// What cells are read as: the rows of segments themselves come last, by start, then end.
void read(const Lattice& lattice, std::span<const std::int32_t> cells, std::span<const std::int32_t> labels,
          std::vector<Found>& out) {
  const auto width = static_cast<std::int32_t>(labels.size());
  for (const std::int32_t cell : cells) {
    const std::int32_t segment = cell / width - lattice.span(0);
    if (segment < 0 || segment >= lattice.segments() || labels[static_cast<std::size_t>(cell % width)] < 0) continue;
    out.push_back({lattice.start_of(segment), lattice.end_of(segment), cell % width, 0.0});
  }
}

void read_above(const Lattice& lattice, const double* probs, std::size_t stride, double above,
                std::span<const std::int32_t> labels, std::vector<Found>& out) {
  for (std::int32_t s = 0; s < lattice.segments(); ++s) {
    const double* own = probs + static_cast<std::size_t>(s) * stride;
    for (std::size_t y = 0; y < labels.size(); ++y) {
      if (labels[y] < 0 || own[y] < above) continue;
      out.push_back({lattice.start_of(s), lattice.end_of(s), static_cast<std::int32_t>(y), std::min(own[y], 1.0)});
    }
  }
}

}  // namespace

SentenceMentions find_segments(const Decoder& decoder, const LatticeStructure& structure,
                               std::span<const std::int32_t> labels, const SparseRows& rows, Wanted wanted,
                               int threads) {
  check(decoder, structure, labels, rows);
  const bool best = !(wanted.above > 0);
  const std::size_t groups = rows.groups();
  std::vector<std::vector<Found>> found(groups);
  const Structure* const structures[] = {&structure};
  parallel_for((groups + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    Decoder::Pass pass(decoder, rows, structures);
    const auto beliefs = structure.beliefs(decoder.global(0));
    std::vector<std::int32_t> cells;
    for (std::size_t g = shard * kShardSentences; g < std::min(groups, (shard + 1) * kShardSentences); ++g) {
      std::vector<Found>& own = found[g];
      pass.load(g);
      const Lattice lattice = structure.lattices().of(g, pass.sites());
      if (best) {
        pass.best(0, cells);
        read(lattice, cells, labels, own);
        if (wanted.probabilities && !own.empty()) {
          look_up(structure, g, beliefs->probabilities({pass.sites(), g}, pass.scores(0)), own);
        }
      } else {
        const double* probs = beliefs->probabilities({pass.sites(), g}, pass.scores(0));
        read_above(lattice, probs, structure.stride(), wanted.above, labels, own);
      }
      for (Found& one : own) one.type = labels[static_cast<std::size_t>(one.type)];
      if (best) continue;
      std::sort(own.begin(), own.end(), [](const Found& a, const Found& b) {
        return std::tie(a.start, b.end, a.type) < std::tie(b.start, a.end, b.type);
      });
    }
  });
  return SentenceMentions::of(found);
}

}  // namespace spanloom
