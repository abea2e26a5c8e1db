#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/features/feature_input.hpp"
#include "spanloom/features/feature_table.hpp"

namespace spanloom {

// The features of one template, in the order in which the sentences bring them.
struct Candidates {
  KeyStream keys;
  std::vector<std::uint32_t> counts, first_row;
};

// How often each feature occurs in some sentences, and where first: what a table is made from, and what the tables of
// several shards of a corpus are merged by.
struct FeatureCounts {
  std::shared_ptr<const Program> program;
  std::size_t rows = 0;                // of the sentences
  std::vector<StringPool> pools;       // by view, then own features: the strings that values stand for, in any order
  std::vector<Candidates> candidates;  // by template

  // Throws std::invalid_argument unless everything fits together.
  void check() const;
};

// Counts the features of sentences. The result does not depend on the number of threads.
FeatureCounts count_features(std::shared_ptr<const Program> program, const TokenInput& input, Sites sites, int threads);

// What count_features would say of the sentences of all parts, one part after the other. The parts must be of one
// program. Throws std::length_error if there are more rows, or more of one feature, than a table can count.
FeatureCounts merge_counts(std::span<const FeatureCounts* const> parts, int threads);

// The table of the features that reach their template's min_count. Ids go by descending frequency; ties by first
// occurrence: earlier row, then earlier template, then earlier value.
FeatureTable make_table(FeatureCounts counts);

}  // namespace spanloom
