#pragma once
#include "spanloom/inference/lattice_structure.hpp"

namespace spanloom {

// Sets of segments of one type: at every gap it is decided whether mentions start there, and for every start a chain of
// decisions says at which gaps they end (the segmental hypergraph of Wang & Lu 2018, one chain a start). A start also
// sees the furthest end of all that started before it, M, the largest of these ends:
//
//   score(set) = sum over gaps g of scores[gap(g), c_g]
//              + sum over segments (i, j) of the set of
//                    the scores[r, kMention] of all rows r that (i, j) reads (see SegmentLayout; gap(j) is one of them)
//                  + the scores[r, kNested] of the same rows, if M > i at gap i
//                  + global[kShorter], unless (i, j) is the longest from i
//              + sum over starts i with M > i, with j the furthest end from i: global[kCommonEnd] if j = M,
//                    global[kCrossing] if j > M
//
// c_g is X (0) + 1 if a mention starts at g, + 2 if M = g at gap g (the last one ends here), + 4 if M > g (one goes
// on). Every set has exactly one derivation; anything may overlap. States are the values of M: O(segments). The kernel
// works with scaled probabilities; a sentence whose scores span too much for them is given to the general engine.
//
// A mask speaks of segments in its column kMention: 0 for those that no set may have, 2 for those that all must have.
class SegmentalStructure final : public LatticeStructure {
 public:
  enum Column : std::size_t { kX, kS, kE, kES, kC, kCS, kNested, kMention, kColumns };
  enum Global : std::size_t { kShorter, kCommonEnd, kCrossing, kGlobals };

  // What a mask says of one segment; without a mask all are free.
  enum class Choice : std::uint8_t { out, free, in };
  static Choice choice(const std::uint8_t* mask, std::int32_t segment) {
    const std::uint8_t value = mask == nullptr ? 1 : mask[static_cast<std::size_t>(segment) * kColumns + kMention];
    return value == 0 ? Choice::out : value == 2 ? Choice::in : Choice::free;
  }

  // Throws std::invalid_argument unless the lattices have rows for gaps.
  explicit SegmentalStructure(std::shared_ptr<const Lattices> lattices);

  std::size_t global_cells() const override { return kGlobals; }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  using LatticeStructure::graph;
  std::shared_ptr<const Graph> graph(Unit unit, const std::uint8_t* mask) const override;
};

}  // namespace spanloom
