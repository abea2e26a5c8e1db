#include "spanloom/learning/chain_features.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace spanloom {
namespace {

constexpr std::size_t kFewPairs = std::size_t{1} << 20;  // of attribute and label; so many always have a counter

}  // namespace

ChainFeatures ChainFeatures::observe(const AttributeSequences& data, std::size_t attributes, std::size_t label_count,
                                     Options options) {
  data.check(attributes, label_count);
  ChainFeatures out;
  out.label_count = label_count;

  if (attributes * label_count <= std::max(kFewPairs, 2 * data.ids.size())) {
    out.count_pairs(data, attributes, options);
  } else {
    out.sort_pairs(data, attributes, options);
  }

  std::vector<double> pairs(label_count * label_count, 0.0);
  for (std::size_t g = 0; g < data.groups(); ++g) {
    for (std::int64_t r = data.group_ptr[g] + 1; r < data.group_ptr[g + 1]; ++r) {
      pairs[static_cast<std::size_t>(data.labels[r - 1]) * label_count + static_cast<std::size_t>(data.labels[r])] += 1;
    }
  }
  out.transition_of.assign(pairs.size(), -1);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if ((pairs[i] > 0 || options.all_transitions) && options.min_freq <= pairs[i]) {
      out.transition_of[i] = static_cast<std::int32_t>(out.transitions++);
    }
  }
  return out;
}

// With a counter for every pair.
void ChainFeatures::count_pairs(const AttributeSequences& data, std::size_t attributes, Options options) {
  std::vector<double> frequency(attributes * label_count, 0.0);
  std::vector<std::uint8_t> seen(frequency.size(), 0);
  for (std::size_t r = 0; r < data.items(); ++r) {
    const auto label = static_cast<std::size_t>(data.labels[r]);
    for (std::int64_t e = data.row_ptr[r]; e < data.row_ptr[r + 1]; ++e) {
      const std::size_t at = data.ids[e] * label_count + label;
      frequency[at] += data.values[e];
      seen[at] = 1;
    }
  }
  for (std::size_t a = 0; a < attributes; ++a) {
    const std::uint8_t* own = &seen[a * label_count];
    const bool all = options.all_states && std::find(own, own + label_count, 1) != own + label_count;
    for (std::size_t y = 0; y < label_count; ++y) {
      if ((own[y] || all) && options.min_freq <= frequency[a * label_count + y]) {
        labels.push_back(static_cast<std::uint32_t>(y));
      }
    }
    ptr.push_back(static_cast<std::int64_t>(labels.size()));
  }
}

// With the entries sorted by attribute, where most pairs do not occur.
void ChainFeatures::sort_pairs(const AttributeSequences& data, std::size_t attributes, Options options) {
  std::vector<std::int64_t> first(attributes + 1, 0);
  for (const std::uint32_t id : data.ids) ++first[id + std::size_t{1}];
  for (std::size_t a = 0; a < attributes; ++a) first[a + 1] += first[a];
  std::vector<std::int32_t> entry_label(data.ids.size());
  std::vector<double> entry_value(data.ids.size());
  std::vector<std::int64_t> next(first.begin(), first.end() - 1);
  for (std::size_t r = 0; r < data.items(); ++r) {
    for (std::int64_t e = data.row_ptr[r]; e < data.row_ptr[r + 1]; ++e) {
      const std::int64_t at = next[data.ids[e]]++;
      entry_label[at] = data.labels[r];
      entry_value[at] = data.values[e];
    }
  }
  std::vector<double> frequency(label_count, 0.0);
  std::vector<std::uint8_t> seen(label_count, 0);
  for (std::size_t a = 0; a < attributes; ++a) {
    for (std::int64_t i = first[a]; i < first[a + 1]; ++i) {
      frequency[entry_label[i]] += entry_value[i];
      seen[entry_label[i]] = 1;
    }
    const bool all = options.all_states && first[a] < first[a + 1];
    for (std::size_t y = 0; y < label_count; ++y) {
      if ((seen[y] || all) && options.min_freq <= frequency[y]) labels.push_back(static_cast<std::uint32_t>(y));
      frequency[y] = 0;
      seen[y] = 0;
    }
    ptr.push_back(static_cast<std::int64_t>(labels.size()));
  }
}

std::vector<std::uint32_t> ChainFeatures::label_sets() const {
  std::unordered_map<std::string_view, std::uint32_t> known;
  std::vector<std::uint32_t> out;
  out.reserve(attributes());
  for (std::size_t a = 0; a < attributes(); ++a) {
    const std::string_view set(reinterpret_cast<const char*>(labels.data() + ptr[a]),
                               static_cast<std::size_t>(ptr[a + 1] - ptr[a]) * sizeof(std::uint32_t));
    out.push_back(known.emplace(set, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return out;
}

}  // namespace spanloom
