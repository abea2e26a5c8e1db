#pragma once
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
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
// beyond.
using WordEntry = const std::uint32_t*;
inline constexpr std::size_t kSlack = 4;

// Entries that stay where they are; filled by one thread.
class WordArena {
 public:
  WordEntry add(std::span<const std::uint32_t> entry);
  std::size_t size() const { return total_; }

 private:
  std::vector<std::unique_ptr<std::uint32_t[]>> blocks_;
  std::size_t used_ = 0, capacity_ = 0, total_ = 0;
};

// Remembers the entries of words. Never forgets, so that entries stay valid, but stops taking in words at a limit.
class WordCache {
 public:
  static constexpr std::size_t kLimit = std::size_t{1} << 24;  // numbers, i.e. 64 MB a column

  WordCache(const FeatureTable& table, const WordLayout& layout);

  WordEntry begin() const { return begin_; }
  WordEntry end() const { return end_; }

  // The entries of `words`, one each; they are valid as long as the cache and what is added to `hold`. `hashes` are
  // those of the words, or empty.
  std::vector<WordEntry> find(const StringList& words, std::span<const std::uint64_t> hashes, int threads,
                              std::vector<std::shared_ptr<WordArena>>& hold);

 private:
  void keep(const StringList& words, const std::vector<WordEntry>& entries);

  const FeatureTable& table_;
  const WordLayout& layout_;
  std::shared_mutex mutex_;  // guards the words and what belongs to them
  StringPool words_;
  std::vector<WordEntry> entries_;  // by number of the word
  WordArena kept_;

  WordEntry begin_ = nullptr, end_ = nullptr;
  WordArena boundary_;
};

}  // namespace spanloom
