#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "joint_counter.hpp"
#include "spanloom/base/parallel.hpp"
#include "spanloom/features/feature_count.hpp"

namespace spanloom {
namespace {

[[noreturn]] void bad(const std::string& message) { throw std::invalid_argument("feature counts: " + message); }

// The pool that value k of a feature's key stands in.
std::size_t pool_at(const Program& program, const Template& t, std::size_t k) {
  return t.kind == TemplateKind::conjunction ? t.atoms[k].view : program.pool_of(t);
}

// Stable sort of `items` by key(item) in [0, limit): by counting, unless the keys are much sparser than the items.
template <class Item, class Key>
void stable_sort_by(std::vector<Item>& items, std::size_t limit, const Key& key) {
  if (limit / 16 > items.size()) {
    std::ranges::stable_sort(items, {}, key);
    return;
  }
  std::vector<std::size_t> place(limit + 1, 0);
  for (const Item& item : items) ++place[key(item) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<Item> sorted(items.size());
  for (const Item& item : items) sorted[place[key(item)]++] = item;
  items.swap(sorted);
}

// One set of strings for all parts, and what the values of each part are called there: renamed[part][pool][value].
struct Union {
  std::vector<StringPool> pools;
  std::vector<std::vector<std::vector<Id>>> renamed;

  Union(std::span<const FeatureCounts* const> parts, int threads)
      : pools(parts[0]->pools.size()), renamed(parts.size(), std::vector<std::vector<Id>>(pools.size())) {
    parallel_for(pools.size(), threads, [&](std::size_t p) {
      for (std::size_t part = 0; part < parts.size(); ++part) {
        const StringPool& from = parts[part]->pools[p];
        renamed[part][p].reserve(from.size());
        for (Id value = 0; value < from.size(); ++value) renamed[part][p].push_back(pools[p].insert(from[value]));
      }
    });
  }
};

}  // namespace

void FeatureCounts::check() const {
  if (pools.size() != program->pools())
    bad(std::to_string(pools.size()) + " string pools instead of " + std::to_string(program->pools()));
  if (candidates.size() != program->templates.size())
    bad(std::to_string(candidates.size()) + " templates instead of " + std::to_string(program->templates.size()));
  if (rows >= kNone) bad(std::to_string(rows) + " rows; at most 4294967294 are possible");
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    const Template& t = program->templates[index];
    const auto& [keys, counts, first_row] = candidates[index];
    if (counts.size() != first_row.size()) bad("there are more counts than first rows, or fewer");
    if (std::ranges::any_of(counts, [](Id count) { return count == 0 || count == kNone; }))
      bad("a count is out of range");
    if (std::ranges::any_of(first_row, [&](Id row) { return row >= rows; }))
      bad("a first row is not below " + std::to_string(rows));
    std::size_t at = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto [start, end] = next_key(t, keys, at);
      for (std::size_t k = start; k < end; ++k) {
        if (keys[k] >= pools[pool_at(*program, t, k - start)].size())
          bad("value " + std::to_string(keys[k]) + " does not exist");
      }
    }
    if (at != keys.size()) bad(std::to_string(keys.size() - at) + " values too many in the keys");
  }
}

FeatureCounts merge_counts(std::span<const FeatureCounts* const> parts, int threads) {
  if (parts.empty()) bad("there is nothing to merge");
  std::vector<Id> base;  // of the rows of each part
  std::size_t rows = 0;
  for (const FeatureCounts* part : parts) {
    if (part->program != parts[0]->program) bad("parts of different programs cannot be merged");
    base.push_back(static_cast<Id>(rows));
    rows += part->rows;
    if (rows >= kNone) throw std::length_error("more than 4294967294 rows in all");
  }
  const Program& program = *parts[0]->program;
  Union all(parts, threads);
  FeatureCounts merged{parts[0]->program, rows, {}, std::vector<Candidates>(program.templates.size())};
  parallel_for(program.templates.size(), threads, [&](std::size_t index) {
    const Template& t = program.templates[index];
    JointCounter counter(t, merged.candidates[index]);
    std::vector<Id> key;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const auto& [keys, counts, first_row] = parts[part]->candidates[index];
      std::size_t at = 0;
      for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto [start, end] = next_key(t, keys, at);
        key.clear();
        for (std::size_t k = start; k < end; ++k)
          key.push_back(all.renamed[part][pool_at(program, t, k - start)][keys[k]]);
        if (t.kind == TemplateKind::bag) std::ranges::sort(key);
        counter.add(key, base[part] + first_row[i], counts[i]);
      }
    }
    counter.flush();
  });
  merged.pools = std::move(all.pools);
  return merged;
}

FeatureTable make_table(FeatureCounts counts) {
  const auto& templates = counts.program->templates;
  struct Item {
    Id index, count, first_row;
    std::size_t key;  // where its key starts in the candidates of its template
  };
  std::vector<Item> items;
  Id most = 0;
  for (Id index = 0; index < templates.size(); ++index) {
    const Candidates& candidates = counts.candidates[index];
    std::size_t at = 0;
    for (std::size_t i = 0; i < candidates.counts.size(); ++i) {
      const std::size_t key = at;
      next_key(templates[index], candidates.keys, at);
      const Id count = candidates.counts[i];
      if (count >= templates[index].min_count) items.push_back({index, count, candidates.first_row[i], key});
      most = std::max(most, count);
    }
  }
  stable_sort_by(items, counts.rows, [](const Item& item) { return item.first_row; });
  stable_sort_by(items, most + std::size_t{1}, [most](const Item& item) { return most - item.count; });

  std::vector<Id> template_of;
  template_of.reserve(items.size());
  KeyStream keys;
  for (const Item& item : items) {
    const KeyStream& from = counts.candidates[item.index].keys;
    std::size_t at = item.key;
    next_key(templates[item.index], from, at);
    template_of.push_back(item.index);
    keys.insert(keys.end(), from.begin() + static_cast<std::ptrdiff_t>(item.key),
                from.begin() + static_cast<std::ptrdiff_t>(at));
  }
  counts.candidates.clear();
  std::vector<const StringPool*> pools;
  for (const StringPool& pool : counts.pools) pools.push_back(&pool);
  return compact_table(counts.program, pools, std::move(template_of), std::move(keys));
}

}  // namespace spanloom
