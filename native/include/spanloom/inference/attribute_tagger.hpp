#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/features/attribute_sequences.hpp"
#include "spanloom/inference/chain.hpp"

namespace spanloom {

// A trained first-order chain over ready attributes:
//
//   score(y) = sum_t sum over attributes (a, v) of item t of v * weight[a, y_t]  +  sum_t transition[y_{t-1}, y_t]
//
// Weights are double and sparse, summed in the order of the attributes, as CRFsuite does: of two sequences of labels
// with equal scores both take the same.
class AttributeTagger {
 public:
  // labels[ptr[a] .. ptr[a + 1]) and weights: what attribute a says; transitions: [labels * labels], from * labels +
  // to. Throws std::invalid_argument if they do not fit together.
  AttributeTagger(std::size_t label_count, std::vector<std::int64_t> ptr, std::vector<std::uint32_t> labels,
                  std::vector<double> weights, std::vector<double> transitions);

  std::size_t label_count() const { return structure_.columns(); }
  std::size_t attributes() const { return ptr_.size() - 1; }

  // The label of every item in the best sequences.
  std::vector<std::int32_t> best(const AttributeSequences& data, int threads) const;
  // P(label | sequence) for every item: [items * labels].
  std::vector<double> marginals(const AttributeSequences& data, int threads) const;
  // log P(data.labels) of every sequence.
  std::vector<double> log_probabilities(const AttributeSequences& data, int threads) const;

 private:
  void check(const AttributeSequences& data) const;
  // The padded score table of one sequence.
  void scores(const AttributeSequences& data, std::size_t group, std::vector<double>& table) const;

  ChainStructure structure_;
  std::vector<std::int64_t> ptr_;
  std::vector<std::uint32_t> labels_;
  std::vector<double> weights_;
  std::vector<double> transitions_;
};

// A chain in which every label may start, end and follow every other.
ChainStructure free_chain(std::size_t labels);

// table[t, y] = sum of v * weights[k] over the attributes (a, v) of item t, k in [ptr[a], ptr[a + 1]), y = labels[k];
// rows padded to the stride.
void attribute_scores(const AttributeSequences& data, std::size_t group, std::span<const std::int64_t> ptr,
                      std::span<const std::uint32_t> labels, std::span<const double> weights, double scale,
                      std::size_t stride, std::vector<double>& table);

}  // namespace spanloom
