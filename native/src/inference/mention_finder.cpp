#include "spanloom/inference/mention_finder.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "spanloom/base/parallel.hpp"
#include "spanloom/inference/mention_beliefs.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kShardSentences = 64;

// Sentences in a row, and the mentions found in them.
struct Shard {
  std::vector<std::int64_t> counts;
  std::vector<Found> mentions;
};

}  // namespace

SentenceMentions SentenceMentions::of(const std::vector<std::vector<Found>>& found) {
  SentenceMentions all;
  all.ptr.reserve(found.size() + 1);
  for (const std::vector<Found>& own : found) {
    all.mentions.insert(all.mentions.end(), own.begin(), own.end());
    all.ptr.push_back(static_cast<std::int64_t>(all.mentions.size()));
  }
  return all;
}

MentionFinder::MentionFinder(const Decoder& decoder, std::vector<ChainPart> parts)
    : decoder_(decoder), parts_(std::move(parts)) {
  if (parts_.size() != decoder_.size()) {
    throw std::invalid_argument("[MentionFinder] " + std::to_string(parts_.size()) + " parts for " +
                                std::to_string(decoder_.size()) + " structures");
  }
  std::set<std::int32_t> labels;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const ChainPart& part = parts_[p];
    const std::size_t columns = decoder_.structure(p).columns();
    const auto types = std::visit([](const auto& reading) { return reading.types(); }, part.reading);
    const auto read = std::visit([](const auto& reading) { return reading.columns(); }, part.reading);
    if (part.chain->columns() != columns || read != columns || part.transitions.size() != columns * columns ||
        part.labels.size() != static_cast<std::size_t>(types)) {
      throw std::invalid_argument("[MentionFinder] structure " + std::to_string(p) + " has " + std::to_string(columns) +
                                  " columns; its chain has " + std::to_string(part.chain->columns()) +
                                  ", its reading " + std::to_string(read) + " and " + std::to_string(types) +
                                  " types; " + std::to_string(part.transitions.size()) + " transitions, " +
                                  std::to_string(part.labels.size()) + " labels");
    }
    for (const std::int32_t label : part.labels) {
      if (label < 0 || !labels.insert(label).second) {
        throw std::invalid_argument("[MentionFinder] label " + std::to_string(label) +
                                    " is negative, or belongs to two parts");
      }
    }
  }
}

SentenceMentions MentionFinder::find(const SparseRows& rows, Wanted wanted, int threads) const {
  const bool best = !(wanted.above > 0);
  const bool beliefs = wanted.probabilities || !best;
  const std::size_t groups = rows.groups();
  std::vector<Shard> shards((groups + kShardSentences - 1) / kShardSentences);
  decoder_.check(rows);
  parallel_for(shards.size(), threads, [&](std::size_t k) {
    Shard& shard = shards[k];
    Decoder::Pass pass(decoder_, rows);
    std::vector<std::unique_ptr<MentionBeliefs>> believing;
    if (beliefs) {
      for (const ChainPart& part : parts_) {
        believing.push_back(
            std::visit([&](const auto& reading) { return mention_beliefs(*part.chain, part.transitions, reading); },
                       part.reading));
      }
    }
    std::vector<std::int32_t> cells;
    std::vector<Found> own;
    for (std::size_t g = k * kShardSentences; g < std::min(groups, (k + 1) * kShardSentences); ++g) {
      const auto before = static_cast<std::ptrdiff_t>(shard.mentions.size());
      pass.load(g);
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        own.clear();
        if (best) {
          pass.best(p, cells);
          std::visit([&](const auto& reading) { reading.read(cells, own); }, parts_[p].reading);
        }
        if (beliefs && (!best || !own.empty())) {
          believing[p]->read(pass.scores(p), pass.sites(), decoder_.structure(p).stride());
          if (best) {
            believing[p]->probabilities(own);
          } else {
            own = believing[p]->mentions_above(wanted.above);
          }
        }
        for (Found& one : own) one.type = parts_[p].labels[static_cast<std::size_t>(one.type)];
        shard.mentions.insert(shard.mentions.end(), own.begin(), own.end());
      }
      if (parts_.size() > 1 || !best) {
        std::stable_sort(shard.mentions.begin() + before, shard.mentions.end(), [](const Found& a, const Found& b) {
          return std::tie(a.start, b.end, a.type) < std::tie(b.start, a.end, b.type);
        });
      }
      shard.counts.push_back(static_cast<std::int64_t>(shard.mentions.size()) - before);
    }
  });
  SentenceMentions found;
  found.ptr.reserve(groups + 1);
  for (const Shard& shard : shards) {
    for (const std::int64_t count : shard.counts) found.ptr.push_back(found.ptr.back() + count);
    found.mentions.insert(found.mentions.end(), shard.mentions.begin(), shard.mentions.end());
  }
  return found;
}

}  // namespace spanloom
