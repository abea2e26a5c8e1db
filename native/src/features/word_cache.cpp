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
constexpr std::size_t kAhead = 8;                       // words between the prefetch of a place and its use
constexpr std::size_t kNewWords = 256;                  // words that one task works out

// Works out entries; owns scratch memory.
class Evaluator {
 public:
  Evaluator(const FeatureTable& table, const WordLayout& layout, std::span<const std::uint32_t> numbers)
      : table_(table),
        layout_(layout),
        numbers_(numbers),
        transform_(table.program().resources),
        values_(table.program().views.size()) {
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
            if (id != kNone) entry_.push_back(numbers_.empty() ? id : numbers_[id]);
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
  std::span<const std::uint32_t> numbers_;
  Transformer transform_;
  std::vector<std::uint32_t> views_;                // of the column
  std::vector<std::vector<std::uint32_t>> values_;  // by view
  std::vector<std::uint32_t> entry_;
};

}  // namespace

WordEntry WordArena::add(std::string_view word, std::span<const std::uint32_t> entry) {
  const std::size_t before = (word.size() + 3) / 4 + 1, size = before + entry.size();
  if (used_ + size + kSlack > capacity_) {
    capacity_ = std::max(kBlock, size + kSlack);
    blocks_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(capacity_));
    used_ = 0;
  }
  std::uint32_t* at = blocks_.back().get() + used_;
  std::memcpy(at, word.data(), word.size());
  at[before - 1] = static_cast<std::uint32_t>(word.size());
  std::memcpy(at + before, entry.data(), entry.size() * sizeof(std::uint32_t));
  used_ += size;
  total_ += size;
  return at + before;
}

WordEntry WordSlots::find(std::string_view word, std::uint64_t hash) const {
  for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
    const Slot& slot = slots_[at];
    if (slot.entry == nullptr) return nullptr;
    if (slot.hash == hash && word_of(slot.entry) == word) return slot.entry;
  }
}

void WordSlots::insert(std::uint64_t hash, WordEntry entry) {
  if (2 * (used_ + 1) > slots_.size()) {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.entry != nullptr) put(slot);
    }
  }
  put({hash, entry});
  ++used_;
}

void WordSlots::put(const Slot& slot) {
  std::size_t at = slot.hash & mask();
  while (slots_[at].entry != nullptr) at = (at + 1) & mask();
  slots_[at] = slot;
}

WordCache::WordCache(const FeatureTable& table, const WordLayout& layout, std::span<const std::uint32_t> numbers)
    : table_(table), layout_(layout), numbers_(numbers) {
  Evaluator evaluate(table, layout, numbers);
  begin_ = boundary_.add(kSentenceBegin, evaluate.boundary(kSentenceBegin));
  end_ = boundary_.add(kSentenceEnd, evaluate.boundary(kSentenceEnd));
}

std::vector<WordEntry> WordCache::find(const StringList& words, int threads,
                                       std::vector<std::shared_ptr<WordArena>>& hold) {
  const std::size_t n = words.size();
  std::vector<WordEntry> entries(n);
  const std::size_t tasks = (n + kLookups - 1) / kLookups;
  {
    const std::shared_lock lock(mutex_);
    parallel_for(tasks, threads, [&](std::size_t task) {
      const std::size_t first = task * kLookups, size = std::min(n - first, kLookups);
      std::vector<std::uint64_t> hashes(size);
      for (std::size_t i = 0; i < size; ++i) hashes[i] = hash_bytes(words[first + i]);
      for (std::size_t i = 0; i < size; ++i) {
        if (i + 2 * kAhead < size) words_.prefetch_slot(hashes[i + 2 * kAhead]);
        if (i + kAhead < size) words_.prefetch_entry(hashes[i + kAhead]);
        entries[first + i] = words_.find(words[first + i], hashes[i]);
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
    Evaluator evaluate(table_, layout_, numbers_);
    for (std::size_t i = worker; i < unseen.size(); i += workers) {
      const std::string_view word = unseen[static_cast<std::uint32_t>(i)];
      made[i] = arenas[worker]->add(word, evaluate.word(word));
    }
  });
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (entries[i] == nullptr) entries[i] = made[unseen_id[next++]];
  }
  keep(made);
  hold.insert(hold.end(), arenas.begin(), arenas.end());
  return entries;
}

void WordCache::keep(const std::vector<WordEntry>& entries) {
  const std::unique_lock lock(mutex_);
  for (std::size_t i = 0; i < entries.size() && kept_.size() <= kLimit; ++i) {
    const std::string_view word = word_of(entries[i]);
    const std::uint64_t hash = hash_bytes(word);
    if (words_.find(word, hash) != nullptr) continue;  // another thread was quicker
    // Copied, so that calls which bring few new words do not leave an arena each.
    words_.insert(hash, kept_.add(word, {entries[i], entries[i][layout_.slots.size()]}));
  }
}

}  // namespace spanloom
