#pragma once
#include <cstdint>
#include <vector>

#include "spanloom/features/attribute_sequences.hpp"

namespace spanloom {

// What has a weight in a first-order chain over ready attributes: pairs of attribute and label, by attribute, then
// pairs of neighbouring labels. Numbered in this order, which is CRFsuite's.
struct ChainFeatures {
  struct Options {
    double min_freq = 0;           // pairs whose frequency is below it have no weight
    bool all_states = false;       // also pairs of attribute and label that do not occur
    bool all_transitions = false;  // also pairs of labels that do not occur
  };

  std::vector<std::int64_t> ptr{0};         // [attributes + 1]: attribute a owns entries ptr[a] .. ptr[a + 1] of:
  std::vector<std::uint32_t> labels;        //   labels, ascending
  std::vector<std::int32_t> transition_of;  // [labels * labels], from * labels + to: its number, or -1
  std::size_t transitions = 0;
  std::size_t label_count = 0;

  std::size_t attributes() const { return ptr.size() - 1; }
  std::size_t states() const { return labels.size(); }
  std::size_t size() const { return states() + transitions; }

  // [attributes]: a number for the set of labels of each; equal sets have the same.
  std::vector<std::uint32_t> label_sets() const;

  // The features of labelled sequences. The frequency of a pair is the sum of the attribute's values where the label
  // stands, which may be negative; that of two labels is how often they are neighbours.
  static ChainFeatures observe(const AttributeSequences& data, std::size_t attributes, std::size_t labels,
                               Options options);

 private:
  // Fill ptr and labels; the result is the same.
  void count_pairs(const AttributeSequences& data, std::size_t attributes, Options options);
  void sort_pairs(const AttributeSequences& data, std::size_t attributes, Options options);
};

}  // namespace spanloom
