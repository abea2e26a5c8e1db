#include "spanloom/features/attribute_sequences.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace spanloom {

void AttributeSequences::undo() {
  row_ptr.resize(static_cast<std::size_t>(group_ptr.back()) + 1);
  ids.resize(static_cast<std::size_t>(row_ptr.back()));
  values.resize(ids.size());
  labels.resize(std::min(labels.size(), items()));
}

AttributeSequences AttributeSequences::select(std::span<const std::int64_t> groups_wanted) const {
  AttributeSequences out;
  for (const std::int64_t g : groups_wanted) {
    if (g < 0 || static_cast<std::size_t>(g) >= groups()) {
      throw std::invalid_argument("[AttributeSequences] there is no sequence " + std::to_string(g) + " among " +
                                  std::to_string(groups()));
    }
    for (std::int64_t r = group_ptr[g]; r < group_ptr[g + 1]; ++r) {
      out.ids.insert(out.ids.end(), ids.begin() + row_ptr[r], ids.begin() + row_ptr[r + 1]);
      out.values.insert(out.values.end(), values.begin() + row_ptr[r], values.begin() + row_ptr[r + 1]);
      out.close_item();
      if (!labels.empty()) out.labels.push_back(labels[r]);
    }
    out.close_sequence();
  }
  return out;
}

SparseRows AttributeSequences::rows(std::uint32_t width) const {
  SparseRows out;
  out.group_ptr = group_ptr;
  out.width = width;
  const bool ones = std::all_of(values.begin(), values.end(), [](double v) { return v == 0.0 || v == 1.0; });
  out.row_ptr.reserve(row_ptr.size());
  out.ids.reserve(ids.size());
  for (std::size_t r = 0; r < items(); ++r) {
    for (std::int64_t e = row_ptr[r]; e < row_ptr[r + 1]; ++e) {
      if (values[e] == 0.0) continue;
      out.ids.push_back(ids[e]);
      if (!ones) out.values.push_back(static_cast<float>(values[e]));
    }
    out.row_ptr.push_back(static_cast<std::int64_t>(out.ids.size()));
  }
  out.check();
  return out;
}

void AttributeSequences::check(std::size_t width, std::size_t label_count) const {
  for (const std::uint32_t id : ids) {
    if (id >= width) {
      throw std::invalid_argument("[AttributeSequences] attribute " + std::to_string(id) + " of " +
                                  std::to_string(width));
    }
  }
  if (labels.size() != items()) {
    throw std::invalid_argument("[AttributeSequences] " + std::to_string(labels.size()) + " labels for " +
                                std::to_string(items()) + " items");
  }
  for (const std::int32_t label : labels) {
    if (label < 0 || static_cast<std::size_t>(label) >= label_count) {
      throw std::invalid_argument("[AttributeSequences] label " + std::to_string(label) + " of " +
                                  std::to_string(label_count));
    }
  }
}

}  // namespace spanloom
