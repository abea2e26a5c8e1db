#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spanloom/base/memory.hpp"
#include "spanloom/features/feature_program.hpp"
#include "spanloom/text/strings.hpp"

namespace spanloom {

// Keys in one array, feature after feature: the value of each atom; for a bag the number of its values, then the
// values.
using KeyStream = std::vector<std::uint32_t>;

// Where the values of a template's feature at `at` in the stream start and end; `at` moves behind them.
std::pair<std::size_t, std::size_t> next_key(const Template& t, std::span<const std::uint32_t> keys, std::size_t& at);

// The known features: key (template, values) -> id, exactly. Knows nothing of sentences or sites. Frozen: it never
// changes, so any number of threads may ask.
class FeatureTable {
 public:
  // pools[p]: the strings that the values of view p (at the end: of own features) stand for, in ascending byte order;
  // template_of[f] and `keys`: the features by id. Throws std::invalid_argument if anything does not fit together.
  FeatureTable(std::shared_ptr<const Program> program, std::vector<StringPool> pools,
               std::vector<std::uint32_t> template_of, std::span<const std::uint32_t> keys);

  std::size_t size() const { return template_of_.size(); }
  const Program& program() const { return *program_; }
  const std::shared_ptr<const Program>& shared_program() const { return program_; }
  const std::vector<StringPool>& pools() const { return pools_; }
  const std::vector<std::uint32_t>& template_of() const { return template_of_; }
  std::span<const std::uint32_t> key(std::uint32_t feature) const {
    return {values_.data() + ptr_[feature], ptr_[feature + 1] - ptr_[feature]};
  }
  KeyStream key_stream() const;

  // The feature of a template with these values, or kNone. Values of a bag must be ascending.
  std::uint32_t find(std::uint32_t index, std::span<const std::uint32_t> values) const {
    const Lookup& lookup = lookups_[index];
    if (values.size() == 1 && !lookup.dense.empty()) return lookup.dense[values[0]];
    return find(index, values, tag(values));
  }

  // The same for a template that is not single(), with the tag worked out before; and a hint that this will be asked.
  std::uint32_t find(std::uint32_t index, std::span<const std::uint32_t> values, std::uint64_t tag) const {
    const Lookup& lookup = lookups_[index];
    return lookup.slots.find(tag,
                             [&](std::uint32_t id) { return !lookup.verify || std::ranges::equal(values, key(id)); });
  }
  SPANLOOM_INLINE void prefetch(std::uint32_t index, std::uint64_t tag) const { lookups_[index].slots.prefetch(tag); }

  // False if there is surely no such feature; most conjunctions in new text are new. Reads a small table that stays in
  // the cache of the processor, where a lookup would go to memory.
  bool may_have(std::uint32_t index, std::uint64_t tag) const {
    const std::uint64_t bit = filter_bit(index, tag);
    return (filter_[bit / 64] >> (bit % 64) & 1) != 0;
  }

  SPANLOOM_INLINE void prefetch_filter(std::uint32_t index, std::uint64_t tag) const {
    spanloom::prefetch(&filter_[filter_bit(index, tag) / 64]);
  }

  // "word[-1]=the & word[0]=gene"
  std::string name(std::uint32_t feature) const;

  // For each feature the one of the same name in another table, or kNone: templates are the same if they are named the
  // same and read the same part of a segment.
  std::vector<std::uint32_t> numbers_in(const FeatureTable& other) const;

  // The table of these features only, renumbered in the order given. Throws unless they are distinct and known.
  FeatureTable keep(std::span<const std::uint32_t> features) const;

  // What stands for a key in a hash map: the key itself if there are at most two values, else a hash of it.
  static std::uint64_t tag(std::span<const std::uint32_t> values) {
    if (values.size() == 1) return values[0];
    if (values.size() == 2) return static_cast<std::uint64_t>(values[0]) << 32 | values[1];
    std::uint64_t h = values.size();
    for (const std::uint32_t value : values) h = mix(h ^ value);
    return h;
  }

 private:
  std::uint64_t filter_bit(std::uint32_t index, std::uint64_t tag) const {
    return mix(tag ^ (index + std::uint64_t{1}) * 0x9E3779B97F4A7C15u) & filter_mask_;
  }

  struct Lookup {
    std::vector<std::uint32_t> dense;  // feature by value; empty where few values have a feature
    HashSlots slots;
    bool verify = false;  // whether tags are not the keys themselves: bags, and more than two atoms
  };

  std::shared_ptr<const Program> program_;
  std::vector<StringPool> pools_;
  std::vector<std::uint32_t> template_of_;
  LargeVector<std::uint32_t> values_;  // values_[ptr_[f] .. ptr_[f + 1]]: the values of feature f
  LargeVector<std::uint32_t> ptr_{0};
  std::vector<Lookup> lookups_;        // by template
  std::vector<std::uint64_t> filter_;  // bits, set at filter_bit of every feature that is not in a dense table
  std::uint64_t filter_mask_ = 0;
};

// Makes a table from values that are numbered in any order: strings that no feature uses are left out, the rest sorted.
FeatureTable compact_table(std::shared_ptr<const Program> program, const std::vector<const StringPool*>& pools,
                           std::vector<std::uint32_t> template_of, KeyStream keys);

}  // namespace spanloom
