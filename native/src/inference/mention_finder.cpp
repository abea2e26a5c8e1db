#include "spanloom/inference/mention_finder.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "spanloom/base/parallel.hpp"

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

MentionFinder::MentionFinder(const Decoder& decoder, std::vector<FinderPart> parts)
    : decoder_(decoder), parts_(std::move(parts)) {
  if (parts_.size() != decoder_.size()) {
    throw std::invalid_argument("[MentionFinder] " + std::to_string(parts_.size()) + " parts for " +
                                std::to_string(decoder_.size()) + " structures");
  }
  std::set<std::int32_t> labels;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const FinderPart& part = parts_[p];
    const std::size_t columns = decoder_.structure(p).columns();
    const auto types = static_cast<std::size_t>(part.reader->types());
    if (part.reader->columns() != columns || part.labels.size() != types) {
      throw std::invalid_argument("[MentionFinder] structure " + std::to_string(p) + " has " + std::to_string(columns) +
                                  " columns; its reader has " + std::to_string(part.reader->columns()) + " and " +
                                  std::to_string(types) + " types, for " + std::to_string(part.labels.size()) +
                                  " labels");
    }
    for (std::size_t type = 0; type < part.labels.size(); ++type) {
      const std::int32_t label = part.labels[type];
      if (label < 0 || !labels.insert(label).second) {
        throw std::invalid_argument("[MentionFinder] label " + std::to_string(label) +
                                    " is negative, or belongs to two parts");
      }
      const auto at = static_cast<std::size_t>(label);
      if (origins_.size() <= at) origins_.resize(at + 1);
      origins_[at] = {p, static_cast<std::int32_t>(type)};
    }
  }
}

class MentionFinder::Work {
 public:
  Work(const MentionFinder& finder, const SparseRows& rows)
      : pass(finder.decoder_, rows), finder_(finder), believing_(finder.parts_.size()) {}

  // What part p believes of the sentence that the pass is at.
  MentionBeliefs& beliefs(std::size_t p) {
    auto& made = believing_[p];
    if (!made) made = finder_.parts_[p].reader->beliefs();
    made->read(pass.scores(p), pass.sites(), finder_.decoder_.structure(p).stride());
    return *made;
  }

  // Of sorted mentions with the same tokens, leaves the most probable one; the first of those that are equal.
  void leave_one_label(std::vector<Found>& mentions, std::size_t first, bool probable) {
    const auto same = [](const Found& a, const Found& b) { return a.start == b.start && a.end == b.end; };
    const auto begin = mentions.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::adjacent_find(begin, mentions.end(), same) == mentions.end()) return;
    if (!probable) judge_repeated(std::span(mentions).subspan(first), same);
    std::size_t kept = first;
    for (std::size_t i = first + 1; i < mentions.size(); ++i) {
      if (!same(mentions[kept], mentions[i])) {
        mentions[++kept] = mentions[i];
      } else if (mentions[i].prob > mentions[kept].prob) {
        mentions[kept] = mentions[i];
      }
    }
    mentions.resize(kept + 1);
  }

  Decoder::Pass pass;

 private:
  // Fills in the probabilities of mentions that have the tokens of a neighbour.
  template <class Same>
  void judge_repeated(std::span<Found> mentions, const Same& same) {
    for (std::size_t p = 0; p < believing_.size(); ++p) {
      MentionBeliefs* own = nullptr;
      for (std::size_t i = 0; i < mentions.size(); ++i) {
        const auto [part, type] = finder_.origins_[static_cast<std::size_t>(mentions[i].type)];
        const bool repeated = (i > 0 && same(mentions[i - 1], mentions[i])) ||
                              (i + 1 < mentions.size() && same(mentions[i], mentions[i + 1]));
        if (part != p || !repeated) continue;
        if (own == nullptr) own = &beliefs(p);
        Found one{mentions[i].start, mentions[i].end, type, 0.0};
        own->probabilities({&one, 1});
        mentions[i].prob = one.prob;
      }
    }
  }

  const MentionFinder& finder_;
  std::vector<std::unique_ptr<MentionBeliefs>> believing_;
};

SentenceMentions MentionFinder::find(const SparseRows& rows, Wanted wanted, int threads) const {
  const bool best = !(wanted.above > 0);
  const bool beliefs = wanted.probabilities || !best;
  const std::size_t groups = rows.groups();
  std::vector<Shard> shards((groups + kShardSentences - 1) / kShardSentences);
  decoder_.check(rows);
  parallel_for(shards.size(), threads, [&](std::size_t k) {
    Shard& shard = shards[k];
    Work work(*this, rows);
    std::vector<std::int32_t> cells;
    std::vector<Found> own;
    for (std::size_t g = k * kShardSentences; g < std::min(groups, (k + 1) * kShardSentences); ++g) {
      const auto before = static_cast<std::ptrdiff_t>(shard.mentions.size());
      work.pass.load(g);
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        own.clear();
        if (best) {
          work.pass.best(p, cells);
          parts_[p].reader->read(cells, work.pass.sites(), own);
        }
        if (beliefs && (!best || !own.empty())) {
          MentionBeliefs& believed = work.beliefs(p);
          if (best) {
            believed.probabilities(own);
          } else {
            own = believed.mentions_above(wanted.above);
          }
        }
        for (Found& one : own) one.type = parts_[p].labels[static_cast<std::size_t>(one.type)];
        shard.mentions.insert(shard.mentions.end(), own.begin(), own.end());
      }
      if (parts_.size() > 1 || !best) {
        std::stable_sort(shard.mentions.begin() + before, shard.mentions.end(), [](const Found& a, const Found& b) {
          return std::tie(a.start, b.end, a.type) < std::tie(b.start, a.end, b.type);
        });
        if (best && wanted.exclusive) {
          work.leave_one_label(shard.mentions, static_cast<std::size_t>(before), beliefs);
        }
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
