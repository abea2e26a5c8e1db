#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/inference/lattice_structure.hpp"
#include "spanloom/inference/mention_reader.hpp"

namespace spanloom {

// The mentions of many sentences: those of sentence s are mentions[ptr[s] .. ptr[s + 1]).
struct MentionLists {
  std::span<const std::int64_t> ptr;
  std::vector<Found> mentions;
};

// Fills in the probabilities of given mentions, sentence by sentence on several threads.
// scores: [sites of all sentences, columns]; site_ptr: [sentences + 1]. Throws std::invalid_argument if they do not
// fit.
void mention_probabilities(const MentionReader& reader, std::span<const double> scores,
                           std::span<const std::int64_t> site_ptr, MentionLists& lists, int threads);

// The same for segments with columns, chosen along a path or each for itself; the type of a mention is its column.
void segment_probabilities(const LatticeStructure& structure, std::span<const double> global,
                           std::span<const double> scores, std::span<const std::int64_t> site_ptr, MentionLists& lists,
                           int threads);

// Fills in the probabilities of mentions of one sentence from those of all its segments; see SegmentBeliefs.
void look_up(const LatticeStructure& structure, std::size_t number, const double* probs, std::span<Found> mentions);

// The scores of the segments of one sentence, each the sum of its rows: [segments, columns].
std::vector<double> segment_scores(const LatticeStructure& structure, std::size_t number,
                                   std::span<const double> scores);

}  // namespace spanloom
