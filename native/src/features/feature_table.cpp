#include "spanloom/features/feature_table.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>

#include "spanloom/text/unicode.hpp"

namespace spanloom {
namespace {

[[noreturn]] void bad(const std::string& message) { throw std::invalid_argument("feature table: " + message); }

void check_strings(const std::vector<StringPool>& pools) {
  std::u32string scratch;
  for (const StringPool& pool : pools) {
    for (std::uint32_t i = 0; i < pool.size(); ++i) {
      decode_utf8(pool[i], scratch);
      if (i > 0 && pool[i - 1] >= pool[i]) bad("strings are not in ascending order");
    }
  }
}

}  // namespace

std::pair<std::size_t, std::size_t> next_key(const Template& t, std::span<const std::uint32_t> keys, std::size_t& at) {
  std::size_t length = t.atoms.size();
  if (t.counted()) {
    if (at >= keys.size()) bad("the keys end within a feature");
    length = keys[at++];
  }
  if (length > keys.size() - at) bad("the keys end within a feature");
  at += length;
  return {at - length, at};
}

FeatureTable::FeatureTable(std::shared_ptr<const Program> program, std::vector<StringPool> pools,
                           std::vector<std::uint32_t> template_of, std::span<const std::uint32_t> keys)
    : program_(std::move(program)), pools_(std::move(pools)), template_of_(std::move(template_of)) {
  const auto& templates = program_->templates;
  if (pools_.size() != program_->pools())
    bad(std::to_string(pools_.size()) + " string pools instead of " + std::to_string(program_->pools()));
  if (template_of_.size() >= kNone) throw std::length_error("more than 4294967295 features");
  if (keys.size() >= kNone) throw std::length_error("more than 4294967295 values of features");
  check_strings(pools_);

  std::vector<std::size_t> features_of(templates.size());
  values_.reserve(keys.size());
  ptr_.reserve(template_of_.size() + 1);
  std::size_t at = 0;
  for (const std::uint32_t index : template_of_) {
    if (index >= templates.size())
      bad("template " + std::to_string(index) + " of " + std::to_string(templates.size()) + " does not exist");
    const Template& t = templates[index];
    const auto [start, end] = next_key(t, keys, at);
    for (std::size_t k = start; k < end; ++k) {
      const std::size_t pool = t.kind == TemplateKind::conjunction ? t.atoms[k - start].view : program_->pool_of(t);
      if (keys[k] >= pools_[pool].size())
        bad("value " + std::to_string(keys[k]) + " of " + std::to_string(pools_[pool].size()) + " does not exist");
      if (t.kind == TemplateKind::bag && k > start && keys[k - 1] > keys[k]) bad("the values of a bag do not ascend");
      values_.push_back(keys[k]);
    }
    ptr_.push_back(static_cast<std::uint32_t>(values_.size()));
    ++features_of[index];
  }
  if (at != keys.size()) bad(std::to_string(keys.size() - at) + " values too many in the keys");

  lookups_.resize(templates.size());
  std::size_t hashed = 0;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const std::size_t values = templates[i].single() ? pools_[program_->pool_of(templates[i])].size() : 0;
    // A direct table costs 4 bytes a value and no hash, slots about 19 a feature.
    if (values > 0 && values <= 8 * features_of[i]) {
      lookups_[i].dense.assign(values, kNone);
    } else {
      lookups_[i].slots.reserve(features_of[i]);
      hashed += features_of[i];
    }
    lookups_[i].verify = templates[i].counted() || templates[i].atoms.size() > 2;
  }
  filter_.assign(std::bit_ceil(hashed / 8 + 1), 0);  // a byte for each: one in eight new conjunctions slips through
  filter_mask_ = 64 * filter_.size() - 1;
  for (std::uint32_t f = 0; f < template_of_.size(); ++f) {
    const std::uint32_t index = template_of_[f];
    const auto values = key(f);
    if (find(index, values) != kNone) bad("feature " + std::to_string(f) + " occurs twice");
    if (values.size() == 1 && !lookups_[index].dense.empty()) {
      lookups_[index].dense[values[0]] = f;
    } else {
      lookups_[index].slots.insert(tag(values), f);
      const std::uint64_t bit = filter_bit(index, tag(values));
      filter_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
  }
}

KeyStream FeatureTable::key_stream() const {
  KeyStream keys;
  keys.reserve(values_.size());
  for (std::uint32_t f = 0; f < size(); ++f) {
    const auto values = key(f);
    if (program_->templates[template_of_[f]].counted()) keys.push_back(static_cast<std::uint32_t>(values.size()));
    keys.insert(keys.end(), values.begin(), values.end());
  }
  return keys;
}

std::string FeatureTable::name(std::uint32_t feature) const {
  if (feature >= size())
    throw std::out_of_range("feature " + std::to_string(feature) + " of " + std::to_string(size()) + " does not exist");
  const Template& t = program_->templates[template_of_[feature]];
  const auto values = key(feature);
  std::string text;
  if (t.kind == TemplateKind::bias) return t.labels[0];
  if (t.kind == TemplateKind::bag) text = t.labels[0] + "={";
  if (t.kind == TemplateKind::sequence) text = t.labels[0] + "=";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (t.counted())
      text.append(i == 0 ? "" : " ");
    else
      text.append(i == 0 ? "" : " & ").append(t.labels[i]).append("=");
    text.append(pools_[t.kind == TemplateKind::conjunction ? t.atoms[i].view : program_->pool_of(t)][values[i]]);
  }
  if (t.kind == TemplateKind::bag) text.append("}");
  return text;
}

std::vector<std::uint32_t> FeatureTable::numbers_in(const FeatureTable& other) const {
  const auto& templates = program_->templates;
  const auto& theirs = other.program_->templates;
  std::vector<std::uint32_t> same(templates.size(), kNone);
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const auto found = std::ranges::find_if(theirs, [&](const Template& t) {
      return t.kind == templates[i].kind && t.labels == templates[i].labels && t.part == templates[i].part &&
             t.index == templates[i].index && t.atoms.size() == templates[i].atoms.size();
    });
    if (found != theirs.end()) same[i] = static_cast<std::uint32_t>(found - theirs.begin());
  }
  // Values by (own pool, their pool), worked out once for each pair that a template asks for.
  const auto pool_of = [](const Program& program, const Template& t, std::size_t k) {
    return t.kind == TemplateKind::conjunction ? t.atoms[k].view : program.pool_of(t);
  };
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> known;
  const auto values_in = [&](std::size_t own, std::size_t their) -> const std::vector<std::uint32_t>& {
    auto [at, fresh] = known.try_emplace({own, their});
    if (fresh) {
      const StringPool& pool = pools_[own];
      for (std::uint32_t v = 0; v < pool.size(); ++v) at->second.push_back(other.pools_[their].find(pool[v]));
    }
    return at->second;
  };
  std::vector<std::uint32_t> out(size(), kNone);
  std::vector<std::uint32_t> values;
  for (std::uint32_t f = 0; f < size(); ++f) {
    const std::uint32_t index = same[template_of_[f]];
    if (index == kNone) continue;
    const Template& t = templates[template_of_[f]];
    const auto own = key(f);
    values.clear();
    for (std::size_t k = 0; k < own.size(); ++k) {
      values.push_back(values_in(pool_of(*program_, t, k), pool_of(*other.program_, theirs[index], k))[own[k]]);
    }
    if (std::ranges::find(values, kNone) == values.end()) out[f] = other.find(index, values);
  }
  return out;
}

FeatureTable FeatureTable::keep(std::span<const std::uint32_t> features) const {
  std::vector<std::uint32_t> template_of;
  KeyStream keys;
  for (const std::uint32_t f : features) {
    if (f >= size())
      throw std::out_of_range("feature " + std::to_string(f) + " of " + std::to_string(size()) + " does not exist");
    const auto values = key(f);
    template_of.push_back(template_of_[f]);
    if (program_->templates[template_of_[f]].counted()) keys.push_back(static_cast<std::uint32_t>(values.size()));
    keys.insert(keys.end(), values.begin(), values.end());
  }
  std::vector<const StringPool*> pools;
  for (const StringPool& pool : pools_) pools.push_back(&pool);
  return compact_table(program_, pools, std::move(template_of), std::move(keys));
}

FeatureTable compact_table(std::shared_ptr<const Program> program, const std::vector<const StringPool*>& pools,
                           std::vector<std::uint32_t> template_of, KeyStream keys) {
  std::vector<std::vector<std::uint32_t>> renamed(pools.size());  // renamed[pool][old value]: new value
  for (std::size_t p = 0; p < pools.size(); ++p) renamed[p].assign(pools[p]->size(), kNone);
  const auto each_value = [&](const auto& body) {
    std::size_t at = 0;
    for (const std::uint32_t index : template_of) {
      const Template& t = program->templates[index];
      const auto [start, end] = next_key(t, keys, at);
      for (std::size_t k = start; k < end; ++k)
        body(t.kind == TemplateKind::conjunction ? t.atoms[k - start].view : program->pool_of(t), keys[k]);
      if (t.kind == TemplateKind::bag) std::sort(keys.begin() + start, keys.begin() + end);
    }
  };
  each_value([&](std::size_t pool, std::uint32_t value) { renamed[pool][value] = 0; });

  std::vector<StringPool> sorted(pools.size());
  for (std::size_t p = 0; p < pools.size(); ++p) {
    std::vector<std::uint32_t> used;
    for (std::uint32_t v = 0; v < renamed[p].size(); ++v) {
      if (renamed[p][v] != kNone) used.push_back(v);
    }
    std::ranges::sort(used, [&](std::uint32_t a, std::uint32_t b) { return (*pools[p])[a] < (*pools[p])[b]; });
    for (const std::uint32_t v : used) renamed[p][v] = sorted[p].insert((*pools[p])[v]);
  }
  each_value([&](std::size_t pool, std::uint32_t& value) { value = renamed[pool][value]; });
  return FeatureTable(std::move(program), std::move(sorted), std::move(template_of), keys);
}

}  // namespace spanloom
