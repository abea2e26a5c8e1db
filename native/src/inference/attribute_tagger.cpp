#include "spanloom/inference/attribute_tagger.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

constexpr std::int64_t kShardItems = 512;

// Runs of sequences [shards[s], shards[s + 1]) with about so many items.
std::vector<std::size_t> make_shards(const AttributeSequences& data) {
  std::vector<std::size_t> shards{0};
  while (shards.back() < data.groups()) {
    std::size_t last = shards.back() + 1;
    while (last < data.groups() && data.group_ptr[last] - data.group_ptr[shards.back()] < kShardItems) ++last;
    shards.push_back(last);
  }
  return shards;
}

std::size_t length(const AttributeSequences& data, std::size_t group) {
  return static_cast<std::size_t>(data.group_ptr[group + 1] - data.group_ptr[group]);
}

}  // namespace

ChainStructure free_chain(std::size_t labels) {
  return {labels, std::vector<std::uint8_t>(labels * labels, 1), std::vector<std::uint8_t>(labels, 1),
          std::vector<std::uint8_t>(labels, 1)};
}

void attribute_scores(const AttributeSequences& data, std::size_t group, std::span<const std::int64_t> ptr,
                      std::span<const std::uint32_t> labels, std::span<const double> weights, double scale,
                      std::size_t stride, std::vector<double>& table) {
  table.assign(length(data, group) * stride, 0.0);
  double* row = table.data();
  for (std::int64_t r = data.group_ptr[group]; r < data.group_ptr[group + 1]; ++r, row += stride) {
    for (std::int64_t e = data.row_ptr[r]; e < data.row_ptr[r + 1]; ++e) {
      const std::uint32_t a = data.ids[e];
      const double value = data.values[e];
      for (std::int64_t k = ptr[a]; k < ptr[a + std::size_t{1}]; ++k) row[labels[k]] += weights[k] * scale * value;
    }
  }
}

AttributeTagger::AttributeTagger(std::size_t label_count, std::vector<std::int64_t> ptr,
                                 std::vector<std::uint32_t> labels, std::vector<double> weights,
                                 std::vector<double> transitions)
    : structure_(free_chain(label_count)),
      ptr_(std::move(ptr)),
      labels_(std::move(labels)),
      weights_(std::move(weights)),
      transitions_(std::move(transitions)) {
  if (ptr_.empty() || ptr_.front() != 0 || ptr_.back() != static_cast<std::int64_t>(labels_.size()) ||
      !std::is_sorted(ptr_.begin(), ptr_.end()) || weights_.size() != labels_.size()) {
    throw std::invalid_argument("[AttributeTagger] pointers that ascend from 0 to " + std::to_string(labels_.size()) +
                                " labels with a weight each are needed; there are " + std::to_string(weights_.size()) +
                                " weights");
  }
  if (transitions_.size() != label_count * label_count) {
    throw std::invalid_argument("[AttributeTagger] " + std::to_string(label_count) + " labels have " +
                                std::to_string(label_count * label_count) + " transitions; received " +
                                std::to_string(transitions_.size()));
  }
  for (const std::uint32_t y : labels_) {
    if (y >= label_count) {
      throw std::invalid_argument("[AttributeTagger] label " + std::to_string(y) + " of " +
                                  std::to_string(label_count));
    }
  }
  const auto finite = [](double w) { return std::isfinite(w); };
  if (!std::all_of(weights_.begin(), weights_.end(), finite) ||
      !std::all_of(transitions_.begin(), transitions_.end(), finite)) {
    throw std::invalid_argument("[AttributeTagger] a weight is not a finite number");
  }
}

void AttributeTagger::check(const AttributeSequences& data) const {
  for (const std::uint32_t id : data.ids) {
    if (id >= attributes()) {
      throw std::invalid_argument("[AttributeTagger] attribute " + std::to_string(id) + " of " +
                                  std::to_string(attributes()));
    }
  }
  if (label_count() == 0 && data.items() > 0) throw std::invalid_argument("[AttributeTagger] a model without labels");
}

void AttributeTagger::scores(const AttributeSequences& data, std::size_t group, std::vector<double>& table) const {
  attribute_scores(data, group, ptr_, labels_, weights_, 1.0, structure_.stride(), table);
}

std::vector<std::int32_t> AttributeTagger::best(const AttributeSequences& data, int threads) const {
  check(data);
  std::vector<std::int32_t> out(data.items());
  const std::vector<std::size_t> shards = make_shards(data);
  const auto columns = static_cast<std::int32_t>(label_count());
  parallel_for(shards.size() - 1, threads, [&](std::size_t s) {
    const auto solver = structure_.solver(transitions_);
    std::vector<double> table;
    std::vector<std::int32_t> cells;
    for (std::size_t g = shards[s]; g < shards[s + 1]; ++g) {
      scores(data, g, table);
      solver->best({length(data, g), g}, table.data(), cells);
      for (std::size_t t = 0; t < cells.size(); ++t) out[data.group_ptr[g] + t] = cells[t] % columns;
    }
  });
  return out;
}

std::vector<double> AttributeTagger::marginals(const AttributeSequences& data, int threads) const {
  check(data);
  const std::size_t columns = label_count();
  const std::size_t stride = structure_.stride();
  std::vector<double> out(data.items() * columns);
  const std::vector<std::size_t> shards = make_shards(data);
  parallel_for(shards.size() - 1, threads, [&](std::size_t s) {
    const auto solver = structure_.solver(transitions_);
    std::vector<double> table;
    std::vector<double> expected;
    for (std::size_t g = shards[s]; g < shards[s + 1]; ++g) {
      scores(data, g, table);
      expected.assign(table.size(), 0.0);
      solver->expectations({length(data, g), g}, table.data(), expected.data());
      double* to = &out[static_cast<std::size_t>(data.group_ptr[g]) * columns];
      for (std::size_t t = 0; t < length(data, g); ++t) std::copy_n(&expected[t * stride], columns, to + t * columns);
    }
  });
  return out;
}

std::vector<double> AttributeTagger::log_probabilities(const AttributeSequences& data, int threads) const {
  check(data);
  data.check(attributes(), label_count());
  const std::size_t stride = structure_.stride();
  std::vector<double> out(data.groups());
  parallel_for(data.groups(), threads, [&](std::size_t g) {
    std::vector<double> table;
    scores(data, g, table);
    std::vector<double> expected(table.size());
    const double log_z =
        structure_.solver(transitions_)->expectations({length(data, g), g}, table.data(), expected.data());
    double score = 0;
    const std::int32_t* y = data.labels.data() + data.group_ptr[g];
    for (std::size_t t = 0; t < length(data, g); ++t) {
      score += table[t * stride + static_cast<std::size_t>(y[t])];
      if (t > 0)
        score += transitions_[static_cast<std::size_t>(y[t - 1]) * label_count() + static_cast<std::size_t>(y[t])];
    }
    out[g] = score - log_z;
  });
  return out;
}

}  // namespace spanloom
