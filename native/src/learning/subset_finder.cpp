#include "spanloom/learning/subset_finder.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"
#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kShardSentences = 16;

}  // namespace

SubsetFinder::SubsetFinder(PairProgram pairs, std::size_t types, std::size_t max_gap, SubsetWeights weights)
    : pairs_(std::move(pairs)),
      lattice_(types, max_gap),
      weights_(std::move(weights)),
      features_(weights_.tokens.size() / (kRoles * types)),
      stride_(kernels::padded(kRoles * types)) {
  pairs_.check();
  const std::size_t columns = kRoles * types;
  if (features_ * columns != weights_.tokens.size() || weights_.table->size() * types != weights_.pairs.size() ||
      weights_.distances.size() != (pairs_.distance ? kDistanceRanges * types : 0)) {
    throw std::invalid_argument("[SubsetFinder] " + std::to_string(weights_.tokens.size()) + " token weights, " +
                                std::to_string(weights_.pairs.size()) + " pair weights for " +
                                std::to_string(weights_.table->size()) + " features and " +
                                std::to_string(weights_.distances.size()) + " distance weights do not fit " +
                                std::to_string(types) + " types");
  }
  const auto finite = [](auto w) { return std::isfinite(w); };
  if (!std::ranges::all_of(weights_.tokens, finite) || !std::ranges::all_of(weights_.pairs, finite) ||
      !std::ranges::all_of(weights_.distances, finite)) {
    throw std::invalid_argument("[SubsetFinder] a weight is not finite");
  }
  padded_.assign(features_ * stride_, 0.0F);
  for (std::size_t f = 0; f < features_; ++f)
    std::copy_n(&weights_.tokens[f * columns], columns, &padded_[f * stride_]);
}

void SubsetFinder::check(const SparseRows& rows, const TokenInput& input) const {
  if (rows.width > features_ || !std::ranges::equal(rows.group_ptr, input.sentence_ptr)) {
    throw std::invalid_argument("[SubsetFinder] rows of " + std::to_string(rows.width) + " features for weights of " +
                                std::to_string(features_) + ", or other sentences in the rows than in the input");
  }
}

void SubsetFinder::score(const SparseRows& rows, const PairValues& values, std::size_t s, std::vector<double>& tokens,
                         std::vector<double>& scores) const {
  const auto first = static_cast<std::size_t>(rows.group_ptr[s]);
  const auto last = static_cast<std::size_t>(rows.group_ptr[s + 1]);
  const float* row_values = rows.values.empty() ? nullptr : rows.values.data();
  tokens.resize((last - first) * stride_);
  kernels::gather_rows(padded_.data(), stride_, rows.row_ptr.data(), rows.ids, row_values, first, last, tokens.data());
  PairReader reader(pairs_, values, first, last - first);
  subset_scores(
      lattice_, last - first, tokens.data(), stride_, weights_.distances, weights_.pairs.data(), reader,
      [&](std::uint32_t index, std::span<const std::uint32_t> key) { return weights_.table->find(index, key); },
      scores);
}

std::vector<double> SubsetFinder::scores(const SparseRows& rows, const TokenInput& input, std::size_t sentence) const {
  check(rows, input);
  if (sentence >= input.sentences()) throw std::out_of_range("no sentence " + std::to_string(sentence));
  std::vector<double> tokens, scores;
  score(rows, find_values(*weights_.table, input), sentence, tokens, scores);
  return scores;
}

std::vector<std::uint32_t> SubsetFinder::pair_ids(const TokenInput& input, std::size_t sentence, std::size_t j,
                                                  std::size_t i) const {
  if (sentence >= input.sentences()) throw std::out_of_range("no sentence " + std::to_string(sentence));
  const auto first = static_cast<std::size_t>(input.sentence_ptr[sentence]);
  const auto n = static_cast<std::size_t>(input.sentence_ptr[sentence + 1]) - first;
  if (i >= n || j + 1 >= i) {
    throw std::out_of_range("[SubsetFinder] tokens " + std::to_string(j) + " and " + std::to_string(i) + " of " +
                            std::to_string(n) + " are no pair that skips something");
  }
  const PairValues values = find_values(*weights_.table, input);
  PairReader reader(pairs_, values, first, n);
  reader.set_left(j);
  for (std::size_t m = j + 1; m < i; ++m) reader.add_between(m);
  std::vector<std::uint32_t> ids;
  reader.features(i, false, [&](std::uint32_t index, std::span<const std::uint32_t> key, bool) {
    const std::uint32_t id = weights_.table->find(index, key);
    if (id != kNone) ids.push_back(id);
  });
  return ids;
}

std::vector<std::vector<Subset>> SubsetFinder::find(const SparseRows& rows, const TokenInput& input, std::size_t k,
                                                    std::span<const double> thresholds, double above,
                                                    Restrictions restrictions, int threads) const {
  check(rows, input);
  const std::size_t types = lattice_.types();
  if (thresholds.size() != types) {
    throw std::invalid_argument("[SubsetFinder] " + std::to_string(thresholds.size()) + " thresholds for " +
                                std::to_string(types) + " types");
  }
  const PairValues values = find_values(*weights_.table, input);
  std::vector<std::vector<Subset>> found(input.sentences());
  parallel_for((found.size() + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    std::vector<double> tokens, scores;
    for (std::size_t s = shard * kShardSentences; s < std::min(found.size(), (shard + 1) * kShardSentences); ++s) {
      const std::size_t n = input.length(s);
      score(rows, values, s, tokens, scores);
      // A threshold is a score of its own at the end of a subset.
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t t = 0; t < types; ++t) scores[lattice_.end(n, i) * types + t] -= thresholds[t];
      }
      found[s] = lattice_.best(n, scores, k == 0 ? n : k, above, restrictions);
      for (Subset& one : found[s]) one.score += thresholds[one.type];
    }
  });
  return found;
}

std::vector<std::vector<Rescoring::Scored>> SubsetFinder::find_rescored(
    const SparseRows& rows, const TokenInput& input, std::size_t k, double least, const Rescoring& rescoring,
    const TokenSurface& surface, std::span<const std::uint8_t> tagged, Restrictions restrictions,
    std::span<const double> above, int threads) const {
  surface.check(static_cast<std::size_t>(input.sentence_ptr.back()));
  if (tagged.size() != input.sentences()) {
    throw std::invalid_argument("[SubsetFinder] it is said of " + std::to_string(tagged.size()) + " sentences, not " +
                                std::to_string(input.sentences()) + ", whether they have parts of speech");
  }
  const std::vector<double> nothing(lattice_.types(), 0.0);
  auto found = find(rows, input, k, nothing, least, {}, threads);
  std::vector<std::vector<Rescoring::Scored>> done(found.size());
  parallel_for((found.size() + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    for (std::size_t s = shard * kShardSentences; s < std::min(found.size(), (shard + 1) * kShardSentences); ++s) {
      const TokenSurface own = surface.part(static_cast<std::size_t>(input.sentence_ptr[s]), input.length(s));
      done[s] = rescoring.rescore(std::move(found[s]), own, tagged[s] != 0, restrictions, above);
    }
  });
  return done;
}

}  // namespace spanloom
