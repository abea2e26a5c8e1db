#pragma once
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "spanloom/inference/chain.hpp"
#include "spanloom/inference/decoder.hpp"
#include "spanloom/inference/readings.hpp"

namespace spanloom {

// One structure of a decoder as a chain, and how its columns are read as mentions.
struct ChainPart {
  std::shared_ptr<const ChainStructure> chain;  // with the columns of the decoder's structure
  std::vector<double> transitions;              // [columns * columns], from * columns + to
  std::variant<FlatReading, SeparatorReading> reading;
  std::vector<std::int32_t> labels;  // the label of each type of the reading
};

// What is wanted of mentions.
struct Wanted {
  bool probabilities = false;
  double above = 0;  // if above 0: every mention with at least this probability, instead of those of the best structure
};

// The mentions of sentences: those of sentence s are mentions[ptr[s] .. ptr[s + 1]), their type is their label.
struct SentenceMentions {
  std::vector<std::int64_t> ptr{0};
  std::vector<Found> mentions;

  static SentenceMentions of(const std::vector<std::vector<Found>>& found);
};

// From features to mentions, in one pass over the sentences. May be used by several threads at once.
class MentionFinder {
 public:
  // The decoder must outlive the finder. Throws std::invalid_argument, with the values, unless there is a part that
  // fits for each structure, and every label belongs to one part.
  MentionFinder(const Decoder& decoder, std::vector<ChainPart> parts);

  const Decoder& decoder() const { return decoder_; }

  // Mentions of the best structure of one part are in the order in which it is read; those of several parts, and those
  // above a probability, by start, longest first, then label. Probabilities are those without the decoder's offsets.
  SentenceMentions find(const SparseRows& rows, Wanted wanted, int threads) const;

 private:
  const Decoder& decoder_;
  std::vector<ChainPart> parts_;
};

}  // namespace spanloom
