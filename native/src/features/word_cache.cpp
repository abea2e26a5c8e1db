#include "spanloom/features/word_cache.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string_view>

#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;    // numbers in a block of an arena
constexpr std::size_t kLookups = std::size_t{1} << 13;  // words that one task looks up
constexpr std::size_t kAhead = 16;                      // words between the prefetch of a place and its use
constexpr std::size_t kNewWords = 256;                  // words that one task works out

// Works out entries; owns scratch memory.
class Evaluator {
 public:
  Evaluator(const FeatureTable& table, const WordLayout& layout)
      : table_(table), layout_(layout), transform_(table.program().resources), values_(table.program().views.size()) {
    const auto& all = table.program().views;
    for (std::uint32_t v = 0; v < all.size(); ++v) {
      if (all[v].column == layout.column) views_.push_back(v);
    }
  }

  const std::vector<std::uint32_t>& word(std::string_view text) {
    for (const std::uint32_t view : views_) {
      const StringList& strings = transform_.apply(table_.program().views[view].ops, text);
      values_[view].clear();
      for (std::size_t i = 0; i < strings.size(); ++i) values_[view].push_back(table_.pools()[view].find(strings[i]));
    }
    return lay_out(false);
  }

  const std::vector<std::uint32_t>& boundary(std::string_view text) {
    for (const std::uint32_t view : views_) {
      values_[view].clear();
      if (table_.program().views[view].passes_boundary()) values_[view].push_back(table_.pools()[view].find(text));
    }
    return lay_out(true);
  }

 private:
  const std::vector<std::uint32_t>& lay_out(bool outside) {
    using Kind = WordLayout::Slot::Kind;
    entry_.assign(layout_.slots.size() + 1, 0);
    entry_[0] = static_cast<std::uint32_t>(entry_.size());
    for (std::size_t s = 0; s < layout_.slots.size(); ++s) {
      const WordLayout::Slot& slot = layout_.slots[s];
      if (slot.kind == Kind::features) {
        for (const std::uint32_t index : slot.templates) {
          for (const std::uint32_t value : values_[table_.program().templates[index].atoms[0].view]) {
            const std::uint32_t id = value == kNone ? kNone : table_.find(index, {&value, 1});
            if (id != kNone) entry_.push_back(id);
          }
        }
      } else if (!(slot.kind == Kind::bag_values && outside)) {
        for (const std::uint32_t value : values_[slot.view]) {
          if (value != kNone || slot.kind == Kind::bag_values) entry_.push_back(value);
        }
      }
      entry_[s + 1] = static_cast<std::uint32_t>(entry_.size());
    }
    return entry_;
  }

  const FeatureTable& table_;
  const WordLayout& layout_;
  Transformer transform_;
  std::vector<std::uint32_t> views_;                // of the column
  std::vector<std::vector<std::uint32_t>> values_;  // by view
  std::vector<std::uint32_t> entry_;
};

}  // namespace

WordEntry WordArena::add(std::span<const std::uint32_t> entry) {
  if (used_ + entry.size() + kSlack > capacity_) {
    capacity_ = std::max(kBlock, entry.size() + kSlack);
    blocks_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(capacity_));
    used_ = 0;
  }
  std::uint32_t* at = blocks_.back().get() + used_;
  std::memcpy(at, entry.data(), entry.size() * sizeof(std::uint32_t));
  used_ += entry.size();
  total_ += entry.size();
  return at;
}

WordCache::WordCache(const FeatureTable& table, const WordLayout& layout) : table_(table), layout_(layout) {
  Evaluator evaluate(table, layout);
  begin_ = boundary_.add(evaluate.boundary(kSentenceBegin));
  end_ = boundary_.add(evaluate.boundary(kSentenceEnd));
}

std::vector<WordEntry> WordCache::find(const StringList& words, std::span<const std::uint64_t> hashes, int threads,
                                       std::vector<std::shared_ptr<WordArena>>& hold) {
  const std::size_t n = words.size();
  std::vector<WordEntry> entries(n);
  const std::size_t tasks = (n + kLookups - 1) / kLookups;
  {
    const std::shared_lock lock(mutex_);
    parallel_for(tasks, threads, [&](std::size_t task) {
      for (std::size_t i = task * kLookups; i < std::min(n, (task + 1) * kLookups); ++i) {
        if (i + kAhead < hashes.size()) words_.prefetch(hashes[i + kAhead]);
        const std::uint32_t id = hashes.empty() ? words_.find(words[i]) : words_.find(words[i], hashes[i]);
        entries[i] = id == kNone ? nullptr : entries_[id];
      }
    });
  }
  StringPool unseen;
  std::vector<std::uint32_t> unseen_id;  // of the tokens without an entry, in order
  for (std::size_t i = 0; i < n; ++i) {
    if (entries[i] == nullptr) unseen_id.push_back(unseen.insert(words[i]));
  }
  if (unseen.size() == 0) return entries;

  std::vector<WordEntry> made(unseen.size());
  const std::size_t batches = (unseen.size() + kNewWords - 1) / kNewWords;
  const auto workers = std::min<std::size_t>(batches, static_cast<std::size_t>(thread_count(threads)));
  std::vector<std::shared_ptr<WordArena>> arenas(workers);
  parallel_for(workers, threads, [&](std::size_t worker) {
    arenas[worker] = std::make_shared<WordArena>();
    Evaluator evaluate(table_, layout_);
    for (std::size_t i = worker; i < unseen.size(); i += workers)
      made[i] = arenas[worker]->add(evaluate.word(unseen[static_cast<std::uint32_t>(i)]));
  });
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (entries[i] == nullptr) entries[i] = made[unseen_id[next++]];
  }
  keep(unseen.strings(), made);
  hold.insert(hold.end(), arenas.begin(), arenas.end());
  return entries;
}

void WordCache::keep(const StringList& words, const std::vector<WordEntry>& entries) {
  const std::unique_lock lock(mutex_);
  for (std::size_t i = 0; i < words.size() && kept_.size() <= kLimit; ++i) {
    if (words_.insert(words[i]) != entries_.size()) continue;  // another thread was quicker
    // Copied, so that calls which bring few new words do not leave an arena each.
    entries_.push_back(kept_.add({entries[i], entries[i][layout_.slots.size()]}));
  }
}

}  // namespace spanloom
