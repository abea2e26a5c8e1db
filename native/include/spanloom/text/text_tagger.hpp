#pragma once
#include <vector>

#include "spanloom/features/feature_rows.hpp"
#include "spanloom/inference/decoder.hpp"
#include "spanloom/text/reading.hpp"
#include "spanloom/text/tokenized_texts.hpp"

namespace spanloom::text {

// The mentions of documents, in reading order.
struct FoundMentions {
  std::vector<std::size_t> ptr{0};  // [documents + 1]: document d has mentions ptr[d] .. ptr[d + 1]
  std::vector<Span> spans;          // in tokens of the document
};

// A trained model at work on text: features, structures with their weights, and how each structure is read. May be used
// by several threads at once.
class TextTagger {
 public:
  // Features and decoder must outlive the tagger. Throws std::invalid_argument, with the values, unless the features
  // read words alone, their sites are tokens or gaps, and there is a reading that fits for each structure.
  TextTagger(const FeatureRows& features, const Decoder& decoder, std::vector<Reading> readings);

  // The mentions of the best structures. Mentions of one structure are in the order in which it is read; those of
  // several are sorted by start, longest first, then label, within a sentence. Memory beside the result is that of a
  // few thousand tokens a thread; the result does not depend on the number of threads.
  FoundMentions tag(const TokenizedTexts& texts, int threads) const;

 private:
  // Sentences in a row, and the mentions found in them.
  struct Shard {
    std::size_t first = 0, last = 0;
    std::vector<std::size_t> counts;  // mentions by sentence
    std::vector<Span> spans;
  };

  void tag(const TokenizedTexts& texts, Shard& shard) const;

  const FeatureRows& features_;
  const Decoder& decoder_;
  std::vector<Reading> readings_;
};

}  // namespace spanloom::text
