#include "spanloom/features/feature_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <tuple>

#include "spanloom/base/parallel.hpp"

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
  std::size_t row_begin = 0;

  void end_row() {
    row_sizes.push_back(static_cast<std::uint32_t>(ids.size() - row_begin));
    row_begin = ids.size();
  }

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

// The columns of one sentence, so that reading beyond its ends needs no test.
struct FeatureRows::Padded {
  const TokenInput* input = nullptr;
  std::size_t first = 0;  // its first token
  std::int64_t tokens = 0;
  std::vector<const WordEntry*> at;  // by column: the entry of token 0
};

std::size_t FeatureRows::plan_of(const Template& t) const {
  if (sites_ != Sites::segments) return 0;
  switch (t.part) {
    case Part::left:
      return 3 + t.index;
    case Part::right:
      return 2 + table_->program().layout().left + t.index;
    case Part::span:
      return 3;
    case Part::gap:
      return plans_.size() - 1;
    default:
      return static_cast<std::size_t>(t.part);
  }
}

void FeatureRows::plan() {
  const Program& program = table_->program();
  const SegmentLayout layout = program.layout();
  plans_.resize(sites_ == Sites::segments ? std::size_t{3} + layout.left + layout.right : 1);
  for (std::uint32_t c = 0; c < layouts_.size(); ++c) layouts_[c].column = c;
  sizes_.resize(program.views.size());
  for (std::uint32_t v = 0; v < program.views.size(); ++v) {
    if (!program.views[v].size()) continue;
    const StringPool& pool = table_->pools()[v];
    for (std::uint32_t value = 0; value < pool.size(); ++value) {
      std::size_t size = 0;
      for (const char digit : pool[value]) {
        if (digit < '0' || digit > '9' || size > 100000000) throw std::invalid_argument("a size is not a number");
        size = 10 * size + static_cast<std::size_t>(digit - '0');
      }
      if (size >= sizes_[v].size()) sizes_[v].resize(size + 1, kNone);
      sizes_[v][size] = value;
    }
  }
  std::map<std::tuple<std::size_t, std::uint32_t, std::int32_t>, std::size_t> word_of;
  for (std::uint32_t index = 0; index < program.templates.size(); ++index) {
    const Template& t = program.templates[index];
    Plan& plan = plans_[plan_of(t)];
    for (const Atom& atom : t.atoms) pad_ = std::max<std::int64_t>(pad_, std::abs(atom.offset));
    if (t.kind == TemplateKind::bias) {
      const std::uint32_t id = table_->find(index, {});
      if (id != kNone) plan.bias.push_back(id);
    } else if (t.kind == TemplateKind::own) {
      plan.own.push_back({index, t.atoms[0].offset});
      own_ = true;
    } else if (t.single() && !(sites_ == Sites::segments && t.part == Part::span)) {
      const std::uint32_t column = program.views[t.atoms[0].view].column;
      const auto [place, fresh] = word_of.try_emplace({plan_of(t), column, t.atoms[0].offset}, plan.words.size());
      auto& slots = layouts_[column].slots;
      if (fresh) {
        plan.words.push_back({column, t.atoms[0].offset, static_cast<std::uint32_t>(slots.size())});
        slots.emplace_back();
      }
      slots[plan.words[place->second].slot].templates.push_back(index);
    } else {
      Joint joint{index, t.kind, {}};
      for (const Atom& atom : t.atoms) {
        const View& view = program.views[atom.view];
        const std::uint32_t slot = view.size() ? atom.view : view_slot(atom.view, t.kind == TemplateKind::bag);
        joint.atoms.push_back({view.column, atom.offset, slot, atom.from_last});
      }
      plan.joints.push_back(std::move(joint));
    }
  }
}

void FeatureRows::append_joints(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to,
                                Chunk& chunk) const {
  chunk.pending.clear();
  chunk.keys.clear();
  auto& key = chunk.key;
  for (const Joint& joint : plan.joints) {
    const auto values_at = [&](const Read& atom, std::int64_t position) -> std::span<const std::uint32_t> {
      const WordEntry entry = sentence.at[atom.column][position];
      return {entry + entry[atom.slot], entry[atom.slot + 1] - entry[atom.slot]};
    };
    const auto values = [&](const Read& atom) -> std::span<const std::uint32_t> {
      if (atom.column != View::kSize) return values_at(atom, (atom.from_last ? to : from) + atom.offset);
      const auto size = static_cast<std::size_t>(to - from + 1);
      const auto& known = sizes_[atom.slot];
      if (size >= known.size() || known[size] == kNone) return {};
      return {&known[size], 1};
    };
    const auto ask = [&] {
      const std::uint64_t tag = FeatureTable::tag(key);
      if (key.size() > 1) {
        if (!table_->may_have(joint.index, tag)) return;
        table_->prefetch(joint.index, tag);
      }
      chunk.pending.push_back({joint.index, static_cast<std::uint32_t>(key.size()), tag});
      chunk.keys.insert(chunk.keys.end(), key.begin(), key.end());
    };
    key.clear();
    if (joint.kind == TemplateKind::sequence) {
      for (std::int64_t position = from; position <= to; ++position) {
        const auto some = values_at(joint.atoms[0], position);
        if (some.empty()) break;
        key.push_back(some[0]);
      }
      if (key.size() == static_cast<std::size_t>(to - from + 1)) ask();
      continue;
    }
    if (joint.kind == TemplateKind::bag) {
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
    const std::uint32_t id =
        p.length == 1 ? table_->find(p.index, {values, 1}) : table_->find(p.index, {values, p.length}, p.tag);
    if (id != kNone) chunk.ids.push_back(id);
    values += p.length;
  }
}

void FeatureRows::append_row(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to,
                             Chunk& chunk) const {
  append_plan(plan, sentence, from, to, chunk);
  chunk.end_row();
}

void FeatureRows::append_plan(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to,
                              Chunk& chunk) const {
  const TokenInput& input = *sentence.input;
  const bool real = !input.own_values.empty() && own_;
  for (const std::uint32_t id : plan.bias) chunk.ids.push_back(id);
  for (const Read& word : plan.words) {
    const WordEntry entry = sentence.at[word.column][from + word.offset];
    chunk.ids.append(entry + entry[word.slot], entry[word.slot + 1] - entry[word.slot]);
  }
  append_joints(plan, sentence, from, to, chunk);
  if (real) chunk.values.resize(chunk.ids.size(), 1.0f);
  for (const Own& own : plan.own) {
    const std::int64_t j = from + own.offset;
    if (j < 0 || j >= sentence.tokens || input.own_ptr.empty()) continue;
    const std::size_t token = sentence.first + static_cast<std::size_t>(j);
    for (auto k = static_cast<std::size_t>(input.own_ptr[token]);
         k < static_cast<std::size_t>(input.own_ptr[token + 1]); ++k) {
      const std::uint32_t value = table_->pools().back().find(input.own_names[k]);
      const std::uint32_t id = value == kNone ? kNone : table_->find(own.index, {&value, 1});
      if (id == kNone) continue;
      chunk.ids.push_back(id);
      if (real) chunk.values.push_back(input.own_values[k]);
    }
  }
}

// Rows in the order of SegmentLayout.
void FeatureRows::fill_segments(const Lattice& lattice, const Padded& sentence, Chunk& chunk) const {
  const std::int32_t n = lattice.tokens;
  const auto plan_at = [&](Part part) -> const Plan& { return plans_[static_cast<std::size_t>(part)]; };
  for (std::int32_t g = 0; g < lattice.gaps(); ++g) append_row(plans_.back(), sentence, g, g, chunk);
  for (std::int32_t i = 0; lattice.layout.inside && i < n; ++i)
    append_row(plan_at(Part::inside), sentence, i, i, chunk);
  // What the tokens bring that the q-th shortest segment at i has more than the next shorter one.
  const auto append_left = [&](std::int32_t i, std::int32_t q) {
    if (q == 0) append_plan(plan_at(Part::first), sentence, i, i, chunk);
    const std::int32_t end = std::min(lattice.length_from(i, q), static_cast<std::int32_t>(lattice.layout.left));
    for (std::int32_t k = q == 0 ? 1 : lattice.length_from(i, q - 1); k < end; ++k) {
      append_plan(plans_[static_cast<std::size_t>(3 + k)], sentence, i, i, chunk);
    }
  };
  const auto append_right = [&](std::int32_t t, std::int32_t q) {
    if (q == 0) append_plan(plan_at(Part::last), sentence, t, t, chunk);
    const std::int32_t end = std::min(lattice.length_to(t, q), static_cast<std::int32_t>(lattice.layout.right));
    for (std::int32_t k = q == 0 ? 1 : lattice.length_to(t, q - 1); k < end; ++k) {
      append_plan(plans_[2 + lattice.layout.left + static_cast<std::size_t>(k)], sentence, t, t, chunk);
    }
  };
  const auto append_shared = [&](const std::int32_t* rows, const auto& append) {
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t q = 0; q < rows[i + 1] - rows[i]; ++q) {
        append(i, q);
        chunk.end_row();
      }
    }
  };
  append_shared(lattice.left_row, append_left);
  append_shared(lattice.right_row, append_right);
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t q = 0; q < lattice.from(i); ++q) {
      const std::int32_t s = lattice.nth_from(i, q);
      const std::int32_t t = lattice.end_of(s) - 1;
      append_plan(plans_[3], sentence, i, t, chunk);
      if (q + 1 == lattice.from(i)) append_left(i, q);
      if (const std::int32_t last = lattice.to(t) - 1; lattice.nth_to(t, last) == s) append_right(t, last);
      chunk.end_row();
    }
  }
}

void FeatureRows::fill(const TokenInput& input, const std::vector<Entries>& words, Chunk& chunk) const {
  const std::size_t columns = table_->program().columns;
  std::vector<std::vector<WordEntry>> padded(columns);
  Padded sentence;
  sentence.input = &input;
  sentence.at.resize(columns);
  for (std::size_t s = chunk.first; s < chunk.last; ++s) {
    sentence.first = static_cast<std::size_t>(input.sentence_ptr[s]);
    sentence.tokens = static_cast<std::int64_t>(input.length(s));
    for (std::size_t c = 0; c < columns; ++c) {
      auto& row = padded[c];
      const auto first = words[c].begin() + static_cast<std::ptrdiff_t>(sentence.first);
      row.assign(static_cast<std::size_t>(pad_), caches_[c]->begin());
      row.insert(row.end(), first, first + sentence.tokens);
      row.insert(row.end(), static_cast<std::size_t>(pad_) + 1, caches_[c]->end());
      sentence.at[c] = row.data() + pad_;
    }
    if (sites_ == Sites::segments) {
      fill_segments((*input.lattices)[s], sentence, chunk);
      continue;
    }
    const std::int64_t rows = sentence.tokens + (sites_ == Sites::gaps ? 1 : 0);
    for (std::int64_t i = 0; i < rows; ++i) append_row(plans_[0], sentence, i, i, chunk);
  }
}

SparseRows FeatureRows::rows(const TokenInput& input, int threads) const {
  input.check(table_->program(), sites_);
  std::vector<std::shared_ptr<WordArena>> hold;
  std::vector<Entries> words;
  for (std::size_t c = 0; c < caches_.size(); ++c) {
    const std::span<const std::uint64_t> hashes = c == 0 ? std::span(input.hashes) : std::span<const std::uint64_t>();
    words.push_back(caches_[c]->find(input.columns[c], hashes, threads, hold));
  }

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
    const std::int64_t rows = sites_ == Sites::segments
                                  ? (*input.lattices)[s].rows()
                                  : static_cast<std::int64_t>(input.length(s)) + (sites_ == Sites::gaps ? 1 : 0);
    out.group_ptr.push_back(out.group_ptr.back() + rows);
  }
  return out;
}

}  // namespace spanloom
