#pragma once
#include <memory>

#include "spanloom/features/feature_input.hpp"
#include "spanloom/features/feature_table.hpp"

namespace spanloom {

// Counts the features of training sentences and makes the table of those that reach their template's min_count.
// Ids go by descending frequency; ties by first occurrence: earlier row, then earlier template, then earlier value.
// The result does not depend on the number of threads.
FeatureTable count_features(std::shared_ptr<const Program> program, const TokenInput& input, Sites sites, int threads);

}  // namespace spanloom
