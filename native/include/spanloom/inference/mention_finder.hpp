#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/inference/decoder.hpp"
#include "spanloom/inference/mention_reader.hpp"

namespace spanloom {

// How one structure of a decoder is read as mentions.
struct FinderPart {
  std::shared_ptr<const MentionReader> reader;  // with the columns of the decoder's structure
  std::vector<std::int32_t> labels;             // the label of each of its types
};

// What is wanted of mentions.
struct Wanted {
  bool probabilities = false;
  double above = 0;  // if above 0: every mention with at least this probability, instead of those of the best structure
  bool exclusive = false;   // of mentions with the same tokens, only the most probable one; not with `above`
  bool flat = false;        // of those that share a token, too
  bool flat_types = false;  // of those of one label that share a token
  // [label], if not empty and without `above`: every mention with at least the probability of its label.
  std::span<const double> thresholds = {};

  // Whether mentions are those above thresholds, those of the best structure, and whether they get probabilities.
  bool by_label() const { return !(above > 0) && !thresholds.empty(); }
  bool best() const { return !(above > 0) && !by_label(); }
  bool believed() const { return probabilities || !best(); }
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
  MentionFinder(const Decoder& decoder, std::vector<FinderPart> parts);

  const Decoder& decoder() const { return decoder_; }

  // Mentions of the best structure of one part are in the order in which it is read; those of several parts, and those
  // above a probability, by start, longest first, then label. Probabilities are those without the decoder's offsets,
  // and of the parts each for itself: what `exclusive` and `flat` leave out does not change those of the rest. Throws
  // std::invalid_argument, with the values, unless there are no thresholds or one for each label.
  SentenceMentions find(const SparseRows& rows, Wanted wanted, int threads) const;

 private:
  // What one thread has beside the sentences: beliefs of each part are made when they are asked for.
  class Work;

  const Decoder& decoder_;
  std::vector<FinderPart> parts_;
  struct Origin {
    std::size_t part = 0;
    std::int32_t type = -1;
  };
  std::vector<Origin> origins_;  // [label]: its part, and its type there
};

}  // namespace spanloom
