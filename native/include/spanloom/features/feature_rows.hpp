#pragma once
#include <cstdint>
#include <memory>
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
  FeatureRows(std::shared_ptr<const FeatureTable> table, Sites sites);
  FeatureRows(const FeatureRows&) = delete;
  FeatureRows& operator=(const FeatureRows&) = delete;

  const FeatureTable& table() const { return *table_; }
  Sites sites() const { return sites_; }

  // Unknown words, values and features are skipped. The result does not depend on the number of threads. In a row:
  // bias, then what single words bring, by (column, offset), then conjunctions, bags and own features in the order of
  // their templates.
  SparseRows rows(const TokenInput& input, int threads) const;

 private:
  struct Chunk;

  // The word entries of all tokens of a column, in order.
  using Entries = std::vector<WordEntry>;

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
  };
  struct Pending {
    std::uint32_t index, length;  // template, number of values
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

  void plan();
  std::size_t plan_of(const Template& t) const;
  std::uint32_t view_slot(std::uint32_t view, bool bag);
  void fill(const TokenInput& input, const std::vector<Entries>& words, Chunk& chunk) const;
  void fill_segments(const Lattice& lattice, const Padded& sentence, Chunk& chunk) const;
  // Appends the row of the tokens from .. to, both included, which are the same where the site is not a segment.
  void append_row(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to, Chunk& chunk) const;
  // The same without ending the row.
  void append_plan(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to, Chunk& chunk) const;
  void append_joints(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to, Chunk& chunk) const;

  std::shared_ptr<const FeatureTable> table_;
  Sites sites_;
  // One plan for tokens and gaps; for segments: first, last, inside, span, then left 1, 2, …, then right 1, 2, …
  std::vector<Plan> plans_;
  std::vector<std::vector<std::uint32_t>> sizes_;   // [view][tokens]: value of a size; kNone if unknown
  bool own_ = false;                                // whether a template reads own features
  std::int64_t pad_ = 0;                            // how far beyond a sentence an atom reads
  std::vector<WordLayout> layouts_;                 // by column
  std::vector<std::unique_ptr<WordCache>> caches_;  // by column
};

}  // namespace spanloom
