#include "spanloom/text/text_tagger.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>

#include "spanloom/base/parallel.hpp"

namespace spanloom::text {
namespace {

constexpr std::size_t kShardTokens = 4096;  // small, so that rows are still in the cache when they are decoded

}  // namespace

TextTagger::TextTagger(const FeatureRows& features, const Decoder& decoder, std::vector<Reading> readings)
    : features_(features), decoder_(decoder), readings_(std::move(readings)) {
  const Program& program = features_.table().program();
  if (program.columns != 1 || program.uses_own())
    throw std::invalid_argument("[TextTagger] the features read " + std::to_string(program.columns) +
                                " columns; text has words alone");
  if (features_.sites() == Sites::segments)
    throw std::invalid_argument("[TextTagger] the sites are segments; they must be tokens or gaps");
  if (readings_.size() != decoder_.size() || features_.table().size() > decoder_.features())
    throw std::invalid_argument("[TextTagger] " + std::to_string(readings_.size()) + " readings and " +
                                std::to_string(features_.table().size()) + " features do not fit " +
                                std::to_string(decoder_.size()) + " structures and weights for " +
                                std::to_string(decoder_.features()) + " features");
}

void TextTagger::tag(const TokenizedTexts& texts, Shard& shard) const {
  const TokenInput input = texts.input(shard.first, shard.last);
  const std::vector<Structures> best = decoder_.best(features_.rows(input, 1), 1);
  std::size_t document = texts.document_of(shard.first);
  for (std::size_t s = shard.first; s < shard.last; ++s) {
    while (texts.sentence_ptr[document + 1] <= s) ++document;
    const auto shift = static_cast<std::uint32_t>(texts.token_ptr[s] - texts.first_token(document));
    const std::size_t before = shard.spans.size();
    for (std::size_t p = 0; p < readings_.size(); ++p) {
      const auto first = static_cast<std::size_t>(best[p].ptr[s - shard.first]);
      const auto last = static_cast<std::size_t>(best[p].ptr[s - shard.first + 1]);
      readings_[p].read(std::span(best[p].cells).subspan(first, last - first), shift, shard.spans);
    }
    if (readings_.size() > 1) {
      const auto order = [](const Span& a, const Span& b) {
        return std::tie(a.start, b.end, a.label) < std::tie(b.start, a.end, b.label);
      };
      std::stable_sort(shard.spans.begin() + static_cast<std::ptrdiff_t>(before), shard.spans.end(), order);
    }
    shard.counts.push_back(shard.spans.size() - before);
  }
}

FoundMentions TextTagger::tag(const TokenizedTexts& texts, int threads) const {
  std::vector<Shard> shards;
  std::size_t tokens = kShardTokens;
  for (std::size_t s = 0; s < texts.sentences(); ++s) {
    if (tokens >= kShardTokens) {
      shards.emplace_back().first = s;
      tokens = 0;
    }
    shards.back().last = s + 1;
    tokens += texts.token_ptr[s + 1] - texts.token_ptr[s];
  }
  parallel_for(shards.size(), threads, [&](std::size_t k) { tag(texts, shards[k]); });

  FoundMentions found;
  std::vector<std::size_t> counts;
  for (Shard& shard : shards) {
    found.spans.insert(found.spans.end(), shard.spans.begin(), shard.spans.end());
    counts.insert(counts.end(), shard.counts.begin(), shard.counts.end());
  }
  for (std::size_t d = 0, s = 0; d < texts.documents(); ++d) {
    std::size_t count = 0;
    for (; s < texts.sentence_ptr[d + 1]; ++s) count += counts[s];
    found.ptr.push_back(found.ptr.back() + count);
  }
  return found;
}

}  // namespace spanloom::text
