#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/base/sparse.hpp"

namespace spanloom {

// Sequences of items with ready attributes, as CRFsuite takes them: numbers of names, each with a value. An attribute
// that an item has twice counts twice. Values are double, so that a model scores them as CRFsuite does.
struct AttributeSequences {
  std::vector<std::int64_t> group_ptr{0};  // [sequences + 1]: sequence g owns items group_ptr[g] .. group_ptr[g + 1]
  std::vector<std::int64_t> row_ptr{0};    // [items + 1]: item r owns entries row_ptr[r] .. row_ptr[r + 1] of:
  std::vector<std::uint32_t> ids;          //   attributes
  std::vector<double> values;              //   and their values
  std::vector<std::int32_t> labels;        // [items], or empty

  std::size_t groups() const { return group_ptr.size() - 1; }
  std::size_t items() const { return row_ptr.size() - 1; }

  void add(std::uint32_t id, double value) {
    ids.push_back(id);
    values.push_back(value);
  }
  void close_item() { row_ptr.push_back(static_cast<std::int64_t>(ids.size())); }
  void close_sequence() { group_ptr.push_back(static_cast<std::int64_t>(items())); }
  // Drops what was added since the last closed sequence.
  void undo();

  // These sequences in this order. Throws std::invalid_argument for a number that there is not.
  AttributeSequences select(std::span<const std::int64_t> groups) const;

  // The same as rows for training: values in single precision, none of 0, which say nothing and are many (a dict's
  // False). Throws unless every id < width.
  SparseRows rows(std::uint32_t width) const;

  // Throws std::invalid_argument unless there is a label in [0, labels) for every item, and every id < width.
  void check(std::size_t width, std::size_t label_count) const;
};

}  // namespace spanloom
