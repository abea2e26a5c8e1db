#pragma once
#include <cstdint>
#include <vector>

#include "spanloom/features/feature_rows.hpp"
#include "spanloom/inference/mention_finder.hpp"
#include "spanloom/text/tokenized_texts.hpp"

namespace spanloom::text {

// The mentions of documents, in reading order.
struct FoundMentions {
  std::vector<std::size_t> ptr{0};  // [documents + 1]: document d has mentions ptr[d] .. ptr[d + 1]
  std::vector<Found> spans;         // in tokens of the document; their type is their label
  bool probable = false;            // whether they have probabilities
};

// A trained model at work on text: features, and what finds mentions by them. May be used by several threads at once.
class TextTagger {
 public:
  // Features and finder must outlive the tagger. Throws std::invalid_argument, with the values, unless the features
  // read words alone and their sites are tokens or gaps.
  TextTagger(const FeatureRows& features, const MentionFinder& finder);

  // The mentions of sentences, in the order of MentionFinder. Memory beside the result is that of a few thousand tokens
  // a thread; the result does not depend on the number of threads.
  FoundMentions tag(const TokenizedTexts& texts, Wanted wanted, int threads) const;

 private:
  // Sentences in a row, and the mentions found in them.
  struct Shard {
    std::size_t first = 0, last = 0;
    SentenceMentions found;
  };

  // The features of a shard; words that texts know by numbers are among those that were looked up.
  SparseRows rows(const TokenizedTexts& texts, const FeatureRows::LookedUp& words, const Shard& shard) const;
  void tag(const TokenizedTexts& texts, const FeatureRows::LookedUp& words, Wanted wanted, Shard& shard) const;

  const FeatureRows& features_;
  const MentionFinder& finder_;
};

// Mentions as they are written, one after the other in UTF-8.
struct Surfaces {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> offsets{0};  // [mentions + 1]
};

Surfaces surfaces(const TokenizedTexts& texts, const FoundMentions& found);

}  // namespace spanloom::text
