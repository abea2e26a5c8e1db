#include "spanloom/inference/mention_finder.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
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

// Which mentions exclude each other: those with the same tokens, those that share a token, those of one label that do.
enum class Excluding { same_tokens, overlap, overlap_of_label };

bool exclude(const Found& a, const Found& b, Excluding which) {
  if (which == Excluding::same_tokens) return a.start == b.start && a.end == b.end;
  return b.start < a.end && a.start < b.end && (which == Excluding::overlap || a.type == b.type);
}

// By start, the longest first, then by label.
bool before(const Found& a, const Found& b) {
  return std::tie(a.start, b.end, a.type) < std::tie(b.start, a.end, b.type);
}

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

  // Of mentions that exclude each other, leaves the most probable ones, in the order in which they are; of those that
  // are equal the first by start, the longest, the first label. `believed`: whether they have probabilities already.
  void leave_most_probable(std::vector<Found>& mentions, std::size_t first, Excluding which, bool believed) {
    const std::span<Found> own = std::span(mentions).subspan(first);
    order_.resize(own.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::sort(order_, [&](std::size_t a, std::size_t b) { return before(own[a], own[b]); });
    rivals_.assign(own.size(), 0);
    bool any = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Found& one = own[order_[i]];
      for (std::size_t j = i + 1; j < order_.size() && own[order_[j]].start < one.end; ++j) {
        if (!exclude(one, own[order_[j]], which)) continue;
        rivals_[order_[i]] = rivals_[order_[j]] = 1;
        any = true;
      }
    }
    if (!any) return;
    if (!believed) judge_rivals(own);
    std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) { return own[a].prob > own[b].prob; });
    std::vector<std::size_t> kept;
    for (const std::size_t i : order_) {
      if (rivals_[i] == 0) continue;
      const bool free =
          std::ranges::none_of(kept, [&](std::size_t other) { return exclude(own[i], own[other], which); });
      if (free) kept.push_back(i);
      rivals_[i] = free ? 0 : 1;
    }
    std::size_t left = first;
    for (std::size_t i = 0; i < rivals_.size(); ++i) {
      if (rivals_[i] == 0) mentions[left++] = mentions[first + i];
    }
    mentions.resize(left);
  }

  Decoder::Pass pass;

 private:
  // Fills in the probabilities of mentions that exclude others.
  void judge_rivals(std::span<Found> mentions) {
    for (std::size_t p = 0; p < believing_.size(); ++p) {
      MentionBeliefs* own = nullptr;
      for (std::size_t i = 0; i < mentions.size(); ++i) {
        const auto [part, type] = finder_.origins_[static_cast<std::size_t>(mentions[i].type)];
        if (part != p || rivals_[i] == 0) continue;
        if (own == nullptr) own = &beliefs(p);
        Found one{mentions[i].start, mentions[i].end, type, 0.0};
        own->probabilities({&one, 1});
        mentions[i].prob = one.prob;
      }
    }
  }

  const MentionFinder& finder_;
  std::vector<std::unique_ptr<MentionBeliefs>> believing_;
  std::vector<std::size_t> order_;    // of the mentions of a sentence
  std::vector<std::uint8_t> rivals_;  // whether a mention excludes others
};

SentenceMentions MentionFinder::find(const SparseRows& rows, Wanted wanted, int threads) const {
  const bool best = wanted.best();
  if (!wanted.thresholds.empty() && wanted.thresholds.size() != origins_.size()) {
    throw std::invalid_argument("[MentionFinder] " + std::to_string(wanted.thresholds.size()) + " thresholds for " +
                                std::to_string(origins_.size()) + " labels");
  }
  const auto threshold = [&](std::int32_t label) { return wanted.thresholds[static_cast<std::size_t>(label)]; };
  std::vector<double> least(parts_.size(), wanted.above);  // of each part
  for (std::size_t p = 0; p < parts_.size() && wanted.by_label(); ++p) {
    least[p] = std::ranges::min(parts_[p].labels | std::views::transform(threshold));
  }
  const std::size_t groups = rows.groups();
  std::vector<Shard> shards((groups + kShardSentences - 1) / kShardSentences);
  decoder_.check(rows);
  parallel_for(shards.size(), threads, [&](std::size_t k) {
    Shard& shard = shards[k];
    Work work(*this, rows);
    std::vector<std::int32_t> cells;
    std::vector<Found> own;
    for (std::size_t g = k * kShardSentences; g < std::min(groups, (k + 1) * kShardSentences); ++g) {
      const auto first = static_cast<std::ptrdiff_t>(shard.mentions.size());
      work.pass.load(g);
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        own.clear();
        if (best) {
          work.pass.best(p, cells);
          parts_[p].reader->read(cells, work.pass.sites(), own);
        }
        if (wanted.believed() && (best ? !own.empty() : least[p] <= 1)) {
          MentionBeliefs& believed = work.beliefs(p);
          if (best) {
            believed.probabilities(own);
          } else {
            own = believed.mentions_above(least[p]);
          }
        }
        for (Found& one : own) one.type = parts_[p].labels[static_cast<std::size_t>(one.type)];
        if (wanted.by_label()) {
          std::erase_if(own, [&](const Found& one) { return one.prob < threshold(one.type); });
        }
        shard.mentions.insert(shard.mentions.end(), own.begin(), own.end());
      }
      if (parts_.size() > 1 || !best) {
        std::stable_sort(shard.mentions.begin() + first, shard.mentions.end(), before);
      }
      const auto leave = [&](Excluding which) {
        work.leave_most_probable(shard.mentions, static_cast<std::size_t>(first), which, wanted.believed());
      };
      if (wanted.flat && !(wanted.above > 0)) {
        leave(Excluding::overlap);
      } else if (!(wanted.above > 0)) {
        if (wanted.exclusive) leave(Excluding::same_tokens);
        if (wanted.flat_types) leave(Excluding::overlap_of_label);
      }
      shard.counts.push_back(static_cast<std::int64_t>(shard.mentions.size()) - first);
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
