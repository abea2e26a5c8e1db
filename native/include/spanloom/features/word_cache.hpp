#pragma once
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <vector>

#include "spanloom/features/feature_table.hpp"
#include "spanloom/text/strings.hpp"

namespace spanloom {

// What is worked out for each word of a column: a list of numbers per slot.
struct WordLayout {
  struct Slot {
    enum class Kind : std::uint8_t {
      features,    // ids of the features of `templates`, each with one atom over a view of this column
      values,      // known values of `view`
      bag_values,  // all values of `view`, kNone for an unknown one
    };
    Kind kind = Kind::features;
    std::uint32_t view = 0;
    std::vector<std::uint32_t> templates;
  };
  std::uint32_t column = 0;
  std::vector<Slot> slots;
};

// An entry: slot s of a word holds entry[entry[s]] .. entry[entry[s + 1]] (exclusive). kSlack numbers may be read
// beyond. The word itself stands before it, so that what finds an entry has fetched it too.
using WordEntry = const std::uint32_t*;
inline constexpr std::size_t kSlack = 4;

inline std::string_view word_of(WordEntry entry) {
  const std::size_t size = entry[-1];
  return {reinterpret_cast<const char*>(entry - 1 - (size + 3) / 4), size};
}

// Hints that an entry will be read.
SPANLOOM_INLINE void prefetch_entry(WordEntry entry) {
  constexpr std::size_t kLine = 64 / sizeof(std::uint32_t);
  for (std::size_t i = 0; i < 4; ++i) prefetch(entry + i * kLine);  // as long as most are
}

// Entries that stay where they are; filled by one thread.
class WordArena {
 public:
  WordEntry add(std::string_view word, std::span<const std::uint32_t> entry);
  std::size_t size() const { return total_; }

 private:
  std::vector<std::unique_ptr<std::uint32_t[]>> blocks_;
  std::size_t used_ = 0, capacity_ = 0, total_ = 0;
};

// Entries by the hashes of their words.
class WordSlots {
 public:
  // The entry of a word, or nullptr; `hash` is that of the word.
  WordEntry find(std::string_view word, std::uint64_t hash) const;
  // The caller has made sure that the word is not there yet.
  void insert(std::uint64_t hash, WordEntry entry);

  // Hints that a word will be sought: first for its slot, some words later for the entry there.
  SPANLOOM_INLINE void prefetch_slot(std::uint64_t hash) const { spanloom::prefetch(&slots_[hash & mask()]); }
  SPANLOOM_INLINE void prefetch_entry(std::uint64_t hash) const {
    const Slot& slot = slots_[hash & mask()];
    if (slot.hash == hash && slot.entry != nullptr) spanloom::prefetch_entry(slot.entry);
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    WordEntry entry = nullptr;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  void put(const Slot& slot);

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two
  std::size_t used_ = 0;
};

// Remembers the entries of words. Never forgets, so that entries stay valid, but stops taking in words at a limit.
class WordCache {
 public:
  static constexpr std::size_t kLimit = std::size_t{1} << 23;  // numbers, i.e. 32 MB a column

  // All must outlive the cache. Entries have numbers[f] for feature f where there are numbers.
  WordCache(const FeatureTable& table, const WordLayout& layout, std::span<const std::uint32_t> numbers);

  WordEntry begin() const { return begin_; }
  WordEntry end() const { return end_; }

  // The entries of `words`, one each; they are valid as long as the cache and what is added to `hold`.
  std::vector<WordEntry> find(const StringList& words, int threads, std::vector<std::shared_ptr<WordArena>>& hold);

 private:
  void keep(const std::vector<WordEntry>& entries);

  const FeatureTable& table_;
  const WordLayout& layout_;
  std::span<const std::uint32_t> numbers_;
  std::shared_mutex mutex_;  // guards the words and what belongs to them
  WordSlots words_;
  WordArena kept_;

  WordEntry begin_ = nullptr, end_ = nullptr;
  WordArena boundary_;
};

}  // namespace spanloom
