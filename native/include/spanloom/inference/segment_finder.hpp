#pragma once
#include <cstdint>
#include <span>

#include "spanloom/inference/decoder.hpp"
#include "spanloom/inference/lattice_structure.hpp"
#include "spanloom/inference/mention_finder.hpp"

namespace spanloom {

// From features to mentions for a decoder of one structure over segments, in one pass over the sentences: what
// MentionFinder is for chains. `structure` has the lattices of the sentences at hand; labels[column] is the label of
// the segments with a column, or -1 for what is no mention. Throws std::invalid_argument, with the values, if they do
// not fit.
//
// Mentions of the best structure are by start, then end; those above a probability by start, longest first, then label.
SentenceMentions find_segments(const Decoder& decoder, const LatticeStructure& structure,
                               std::span<const std::int32_t> labels, const SparseRows& rows, Wanted wanted,
                               int threads);

}  // namespace spanloom
