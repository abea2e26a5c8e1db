#include "spanloom/text/text_tagger.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/base/parallel.hpp"
#include "spanloom/base/runs.hpp"

namespace spanloom::text {
namespace {

constexpr std::size_t kShardTokens = 4096;  // small, so that rows are still in the cache when they are decoded

}  // namespace

TextTagger::TextTagger(const FeatureRows& features, const MentionFinder& finder)
    : features_(features), finder_(finder) {
  const Program& program = features_.table().program();
  if (program.columns != 1 || program.uses_own())
    throw std::invalid_argument("[TextTagger] the features read " + std::to_string(program.columns) +
                                " columns; text has words alone");
  if (features_.sites() == Sites::segments)
    throw std::invalid_argument("[TextTagger] the sites are segments; they must be tokens or gaps");
  if (features_.width() > finder_.decoder().features())
    throw std::invalid_argument("[TextTagger] " + std::to_string(features_.width()) +
                                " features do not fit weights for " + std::to_string(finder_.decoder().features()));
}

SparseRows TextTagger::rows(const TokenizedTexts& texts, const FeatureRows::LookedUp& words, const Shard& shard) const {
  if (texts.word_numbers.empty()) return features_.rows(texts.input(shard.first, shard.last), 1);
  const std::size_t first = texts.token_ptr[shard.first], last = texts.token_ptr[shard.last];
  FeatureRows::Entries entries(last - first);
  for (std::size_t t = first; t < last; ++t) {
    entries[t - first] = words.entries[texts.word_numbers[t]];
    prefetch_entry(entries[t - first]);
  }
  std::vector<std::int64_t> ends;
  for (std::size_t s = shard.first; s <= shard.last; ++s)
    ends.push_back(static_cast<std::int64_t>(texts.token_ptr[s] - first));
  return features_.rows(std::move(ends), std::move(entries), 1);
}

void TextTagger::tag(const TokenizedTexts& texts, const FeatureRows::LookedUp& words, Wanted wanted,
                     Shard& shard) const {
  shard.found = finder_.find(rows(texts, words, shard), wanted, 1);
  std::size_t document = texts.document_of(shard.first);
  for (std::size_t s = shard.first; s < shard.last; ++s) {
    while (texts.sentence_ptr[document + 1] <= s) ++document;
    const auto shift = static_cast<std::int32_t>(texts.token_ptr[s] - texts.first_token(document));
    const auto& ptr = shard.found.ptr;
    for (std::int64_t m = ptr[s - shard.first]; m < ptr[s - shard.first + 1]; ++m) {
      shard.found.mentions[static_cast<std::size_t>(m)].start += shift;
      shard.found.mentions[static_cast<std::size_t>(m)].end += shift;
    }
  }
}

FoundMentions TextTagger::tag(const TokenizedTexts& texts, Wanted wanted, int threads) const {
  std::vector<Shard> shards;
  const auto tokens = [&](std::size_t s) { return texts.token_ptr[s + 1] - texts.token_ptr[s]; };
  for (const auto& [first, last] : runs(texts.sentences(), kShardTokens, tokens)) {
    Shard& shard = shards.emplace_back();
    shard.first = first;
    shard.last = last;
  }
  const FeatureRows::LookedUp words = features_.look_up(texts.words, threads);
  parallel_for(shards.size(), threads, [&](std::size_t k) { tag(texts, words, wanted, shards[k]); });

  FoundMentions found;
  found.probable = wanted.believed();
  std::vector<std::size_t> counts;  // mentions by sentence
  for (const Shard& shard : shards) {
    found.spans.insert(found.spans.end(), shard.found.mentions.begin(), shard.found.mentions.end());
    for (std::size_t s = 0; s + 1 < shard.found.ptr.size(); ++s) {
      counts.push_back(static_cast<std::size_t>(shard.found.ptr[s + 1] - shard.found.ptr[s]));
    }
  }
  for (std::size_t d = 0, s = 0; d < texts.documents(); ++d) {
    std::size_t count = 0;
    for (; s < texts.sentence_ptr[d + 1]; ++s) count += counts[s];
    found.ptr.push_back(found.ptr.back() + count);
  }
  return found;
}

Surfaces surfaces(const TokenizedTexts& texts, const FoundMentions& found) {
  Surfaces made;
  for (std::size_t d = 0; d < texts.documents(); ++d) {
    for (std::size_t m = found.ptr[d]; m < found.ptr[d + 1]; ++m) {
      const std::size_t start = texts.bytes[texts.first_token(d) + found.spans[m].start].start;
      const std::size_t end = texts.bytes[texts.first_token(d) + found.spans[m].end - 1].end;
      const std::string_view written = texts.texts[d].substr(start, end - start);
      made.bytes.insert(made.bytes.end(), written.begin(), written.end());
      made.offsets.push_back(static_cast<std::int64_t>(made.bytes.size()));
    }
  }
  return made;
}

}  // namespace spanloom::text
