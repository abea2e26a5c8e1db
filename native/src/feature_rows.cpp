#include "spanloom/feature_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "spanloom/parallel.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kChunkTokens = 4096;

// Numbers that grow at the end, without the cost of initialising them first.
class Buffer {
 public:
  std::size_t size() const { return size_; }
  const std::uint32_t* data() const { return data_.get(); }
  void push_back(std::uint32_t value) {
    make_room(1);
    data_[size_++] = value;
  }
  // Copies in steps of kSlack, so that it reads up to kSlack - 1 numbers beyond the end.
  void append(const std::uint32_t* from, std::size_t n) {
    make_room(n + kSlack);
    std::uint32_t* to = data_.get() + size_;
    for (std::size_t i = 0; i < n; i += kSlack) std::memcpy(to + i, from + i, kSlack * sizeof(std::uint32_t));
    size_ += n;
  }

 private:
  void make_room(std::size_t n) {
    if (size_ + n <= capacity_) return;
    capacity_ = std::max(2 * capacity_, size_ + n + 4096);
    std::unique_ptr<std::uint32_t[]> larger(new std::uint32_t[capacity_]);
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_ * sizeof(std::uint32_t));
    data_ = std::move(larger);
  }

  std::unique_ptr<std::uint32_t[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace

// Some sentences in a row, and what becomes of them.
struct FeatureRows::Chunk {
  std::size_t first = 0, last = 0;  // sentences first .. last
  Buffer ids;
  std::vector<std::uint32_t> row_sizes;
  std::vector<float> values;  // where own features have values other than 1

  // Scratch: the lookups of one row, which wait for memory together.
  std::vector<Pending> pending;
  std::vector<std::uint32_t> key, keys;
  std::vector<std::span<const std::uint32_t>> lists;
};

FeatureRows::FeatureRows(std::shared_ptr<const FeatureTable> table, Sites sites)
    : table_(std::move(table)), sites_(sites), layouts_(table_->program().columns) {
  plan();
  for (const WordLayout& layout : layouts_) caches_.push_back(std::make_unique<WordCache>(*table_, layout));
}

std::uint32_t FeatureRows::view_slot(std::uint32_t view, bool bag) {
  using Kind = WordLayout::Slot::Kind;
  const Kind kind = bag ? Kind::bag_values : Kind::values;
  auto& slots = layouts_[table_->program().views[view].column].slots;
  for (std::uint32_t s = 0; s < slots.size(); ++s) {
    if (slots[s].kind == kind && slots[s].view == view) return s;
  }
  slots.push_back({kind, view, {}});
  return static_cast<std::uint32_t>(slots.size() - 1);
}

void FeatureRows::plan() {
  const Program& program = table_->program();
  for (std::uint32_t c = 0; c < layouts_.size(); ++c) layouts_[c].column = c;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::size_t> bundle_of;
  for (std::uint32_t index = 0; index < program.templates.size(); ++index) {
    const Template& t = program.templates[index];
    for (const Atom& atom : t.atoms) pad_ = std::max<std::int64_t>(pad_, std::abs(atom.offset));
    if (t.kind == TemplateKind::bias) {
      const std::uint32_t id = table_->find(index, {});
      if (id != kNone) bias_.push_back(id);
    } else if (t.kind == TemplateKind::own) {
      own_.push_back({index, t.atoms[0].offset});
    } else if (t.single()) {
      const std::uint32_t column = program.views[t.atoms[0].view].column;
      const auto [place, fresh] = bundle_of.try_emplace({column, t.atoms[0].offset}, bundles_.size());
      auto& slots = layouts_[column].slots;
      if (fresh) {
        bundles_.push_back({column, t.atoms[0].offset, static_cast<std::uint32_t>(slots.size())});
        slots.emplace_back();
      }
      slots[bundles_[place->second].slot].templates.push_back(index);
    } else {
      Joint joint{index, t.kind == TemplateKind::bag, {}};
      for (const Atom& atom : t.atoms)
        joint.atoms.push_back({program.views[atom.view].column, atom.offset, view_slot(atom.view, joint.bag)});
      joints_.push_back(std::move(joint));
    }
  }
}

void FeatureRows::append_joint(const std::vector<const WordEntry*>& at, std::int64_t row, Chunk& chunk) const {
  chunk.pending.clear();
  chunk.keys.clear();
  auto& key = chunk.key;
  for (const Joint& joint : joints_) {
    const auto values = [&](const Read& atom) {
      const WordEntry entry = at[atom.column][row + atom.offset];
      return std::span(entry + entry[atom.slot], entry[atom.slot + 1] - entry[atom.slot]);
    };
    const auto ask = [&] {
      const std::uint64_t tag = FeatureTable::tag(key);
      table_->prefetch(joint.index, tag);
      chunk.pending.push_back({joint.index, static_cast<std::uint32_t>(key.size()), tag});
      chunk.keys.insert(chunk.keys.end(), key.begin(), key.end());
    };
    key.clear();
    if (joint.bag) {
      for (const Read& atom : joint.atoms) {
        const auto some = values(atom);
        key.insert(key.end(), some.begin(), some.end());
      }
      std::ranges::sort(key);
      if (!key.empty() && key.back() != kNone) ask();
      continue;
    }
    chunk.lists.clear();
    for (const Read& atom : joint.atoms) chunk.lists.push_back(values(atom));
    if (std::ranges::all_of(chunk.lists, [](const auto& list) { return list.size() == 1; })) {
      for (const auto& list : chunk.lists) key.push_back(list[0]);
      ask();
    } else {
      each_combination(chunk.lists, key, ask);
    }
  }
  const std::uint32_t* values = chunk.keys.data();
  for (const Pending& p : chunk.pending) {
    const std::uint32_t id = table_->find(p.index, {values, p.length}, p.tag);
    if (id != kNone) chunk.ids.push_back(id);
    values += p.length;
  }
}

void FeatureRows::fill(const TokenInput& input, const std::vector<Entries>& words, Chunk& chunk) const {
  const Program& program = table_->program();
  const StringPool& own_pool = table_->pools().back();
  const bool real = !input.own_values.empty() && !own_.empty();
  // Entries of one sentence with what stands before and after it, so that reading beyond needs no test.
  std::vector<std::vector<WordEntry>> padded(program.columns);
  std::vector<const WordEntry*> at(program.columns);
  for (std::size_t s = chunk.first; s < chunk.last; ++s) {
    const auto first = static_cast<std::size_t>(input.sentence_ptr[s]);
    const auto n = static_cast<std::int64_t>(input.length(s));
    for (std::size_t c = 0; c < program.columns; ++c) {
      auto& row = padded[c];
      row.assign(static_cast<std::size_t>(pad_), caches_[c]->begin());
      row.insert(row.end(), words[c].begin() + first, words[c].begin() + first + n);
      row.insert(row.end(), static_cast<std::size_t>(pad_) + 1, caches_[c]->end());
      at[c] = row.data() + pad_;
    }
    const std::int64_t rows = n + (sites_ == Sites::gaps ? 1 : 0);
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::size_t before = chunk.ids.size();
      for (const std::uint32_t id : bias_) chunk.ids.push_back(id);
      for (const Read& bundle : bundles_) {
        const WordEntry entry = at[bundle.column][i + bundle.offset];
        chunk.ids.append(entry + entry[bundle.slot], entry[bundle.slot + 1] - entry[bundle.slot]);
      }
      append_joint(at, i, chunk);
      if (real) chunk.values.resize(chunk.ids.size(), 1.0f);
      for (const Own& own : own_) {
        const std::int64_t j = i + own.offset;
        if (j < 0 || j >= n || input.own_ptr.empty()) continue;
        const std::size_t token = first + static_cast<std::size_t>(j);
        for (auto k = static_cast<std::size_t>(input.own_ptr[token]);
             k < static_cast<std::size_t>(input.own_ptr[token + 1]); ++k) {
          const std::uint32_t value = own_pool.find(input.own_names[k]);
          const std::uint32_t id = value == kNone ? kNone : table_->find(own.index, {&value, 1});
          if (id == kNone) continue;
          chunk.ids.push_back(id);
          if (real) chunk.values.push_back(input.own_values[k]);
        }
      }
      chunk.row_sizes.push_back(static_cast<std::uint32_t>(chunk.ids.size() - before));
    }
  }
}

SparseRows FeatureRows::rows(const TokenInput& input, int threads) const {
  input.check(table_->program());
  std::vector<std::shared_ptr<WordArena>> hold;
  std::vector<Entries> words;
  for (std::size_t c = 0; c < caches_.size(); ++c) words.push_back(caches_[c]->find(input.columns[c], threads, hold));

  std::vector<Chunk> chunks;
  std::size_t tokens = kChunkTokens;
  for (std::size_t s = 0; s < input.sentences(); ++s) {
    if (tokens >= kChunkTokens) {
      chunks.emplace_back();
      chunks.back().first = s;
      tokens = 0;
    }
    chunks.back().last = s + 1;
    tokens += input.length(s) + 1;
  }
  parallel_for(chunks.size(), threads, [&](std::size_t k) { fill(input, words, chunks[k]); });

  SparseRows out;
  std::size_t entries = 0, values = 0;
  for (const Chunk& chunk : chunks) {
    entries += chunk.ids.size();
    values += chunk.values.size();
  }
  out.width = static_cast<std::uint32_t>(table_->size());
  out.ids.reserve(entries);
  out.values.reserve(values);
  out.row_ptr.reserve(input.rows(sites_) + 1);
  out.group_ptr.reserve(input.sentences() + 1);
  for (const Chunk& chunk : chunks) {
    out.ids.insert(out.ids.end(), chunk.ids.data(), chunk.ids.data() + chunk.ids.size());
    out.values.insert(out.values.end(), chunk.values.begin(), chunk.values.end());
    for (const std::uint32_t size : chunk.row_sizes) out.row_ptr.push_back(out.row_ptr.back() + size);
  }
  for (std::size_t s = 0; s < input.sentences(); ++s) {
    const auto rows = static_cast<std::int64_t>(input.length(s)) + (sites_ == Sites::gaps ? 1 : 0);
    out.group_ptr.push_back(out.group_ptr.back() + rows);
  }
  return out;
}

}  // namespace spanloom
