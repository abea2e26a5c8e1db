#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/base/sparse.hpp"
#include "spanloom/features/feature_input.hpp"
#include "spanloom/features/feature_table.hpp"
#include "spanloom/features/word_cache.hpp"

namespace spanloom {

// Turns sentences into rows of features of a frozen table. What a row needs of a word is worked out once and
// remembered: for every (column, offset), the ids of all single-atom features, to be copied as they are; and the values
// of the views that conjunctions and bags combine. May be used by several threads at once.
class FeatureRows {
 public:
  // Rows have numbers[f] for feature f where there are numbers: features with equal weights may share one. Throws
  // std::invalid_argument unless there is one for each feature.
  FeatureRows(std::shared_ptr<const FeatureTable> table, Sites sites, std::vector<std::uint32_t> numbers = {});
  FeatureRows(const FeatureRows&) = delete;
  FeatureRows& operator=(const FeatureRows&) = delete;

  const FeatureTable& table() const { return *table_; }
  const std::shared_ptr<const FeatureTable>& shared_table() const { return table_; }
  Sites sites() const { return sites_; }
  // One more than the largest number that a row may have.
  std::uint32_t width() const { return width_; }

  // Unknown words, values and features are skipped. The result does not depend on the number of threads. In a row:
  // bias, then what single words bring, by (column, offset), then conjunctions, bags and own features in the order of
  // their templates.
  SparseRows rows(const TokenInput& input, int threads) const;

  // The word entries of all tokens of a column, in order.
  using Entries = std::vector<WordEntry>;
  // Words that were looked up once, for features that read words alone. Must not outlive the features.
  struct LookedUp {
    Entries entries;  // [words]
    std::vector<std::shared_ptr<WordArena>> hold;
  };
  LookedUp look_up(const StringList& words, int threads) const;
  // The rows of sentences whose words were looked up: sentence s has tokens sentence_ptr[s] .. [s + 1] of `words`.
  SparseRows rows(std::vector<std::int64_t> sentence_ptr, Entries words, int threads) const;

 private:
  static constexpr std::size_t kPlain = 4;  // atoms of a plain conjunction, at most

  struct Chunk;
  class Ids;

  // A slot of the word at an offset from the row.
  struct Read {
    std::uint32_t column;  // or View::kSize
    std::int32_t offset;
    std::uint32_t slot;  // of the size: the view
    bool from_last = false;
  };
  struct Joint {
    std::uint32_t index;  // of the template
    TemplateKind kind;
    std::vector<Read> atoms;
    bool plain;  // a conjunction of a few atoms that read words
  };
  struct Pending {
    std::uint32_t index, length;  // template, or kNone where there is no such feature; number of values
    std::uint64_t tag;
  };
  struct Own {
    std::uint32_t index;
    std::int32_t offset;
  };

  // What goes into one kind of row.
  struct Plan {
    std::vector<std::uint32_t> bias;
    std::vector<Read> words;
    std::vector<Joint> joints;
    std::vector<Own> own;
  };
  // One sentence: the word entries of each column, with what stands before and after it.
  struct Padded;

  std::uint32_t number(std::uint32_t feature) const { return numbers_.empty() ? feature : numbers_[feature]; }
  void plan();
  Joint plan_joint(std::uint32_t index);
  std::size_t plan_of(const Template& t) const;
  std::uint32_t view_slot(std::uint32_t view, bool bag);
  SparseRows rows(const TokenInput& input, const std::vector<Entries>& words, int threads) const;
  void fill(const TokenInput& input, const std::vector<Entries>& words, Chunk& chunk) const;
  void fill_segments(const Lattice& lattice, const Padded& sentence, Chunk& chunk) const;
  // Appends the row of the tokens from .. to, both included, which are the same where the site is not a segment.
  void append_row(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to, Chunk& chunk) const;
  // The same without ending the row.
  void append_plan(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to, Chunk& chunk) const;
  // The rows of all sites of a sentence that are no segments.
  void append_rows(const Plan& plan, const Padded& sentence, std::int64_t rows, Chunk& chunk) const;
  // The row whose conjunctions were asked for, up to `end` of the lookups.
  void append_answered(const Plan& plan, const Padded& sentence, std::int64_t from, std::size_t end,
                       Chunk& chunk) const;

  // Conjunctions, bags and sequences: what a row asks the table for, what of it may be there, and the answers. Each
  // step asks for the memory that the next one reads.
  void ask_joints(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to, Chunk& chunk) const;
  // False if an atom has several values, so that there are several keys.
  bool ask_plain(const Joint& joint, const Padded& sentence, std::int64_t from, std::int64_t to, Chunk& chunk) const;
  void ask(const Joint& joint, std::span<const std::uint32_t> key, Chunk& chunk) const;
  void sift(Chunk& chunk) const;
  void answer(std::size_t end, Chunk& chunk) const;

  std::shared_ptr<const FeatureTable> table_;
  Sites sites_;
  std::vector<std::uint32_t> numbers_;  // by feature, or empty
  std::uint32_t width_;
  // One plan for tokens and gaps; for segments: first, last, inside, span, then left 1, 2, …, then right 1, 2, …
  std::vector<Plan> plans_;
  std::vector<std::vector<std::uint32_t>> sizes_;   // [view][tokens]: value of a size; kNone if unknown
  bool own_ = false;                                // whether a template reads own features
  std::int64_t pad_ = 0;                            // how far beyond a sentence an atom reads
  std::vector<WordLayout> layouts_;                 // by column
  std::vector<std::unique_ptr<WordCache>> caches_;  // by column
};

}  // namespace spanloom
