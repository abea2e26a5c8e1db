#include "spanloom/features/feature_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

#include "row_chunk.hpp"
#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kChunkTokens = 4096;
constexpr std::int64_t kRows = 64;  // whose lookups wait for memory together

}  // namespace

FeatureRows::FeatureRows(std::shared_ptr<const FeatureTable> table, Sites sites, std::vector<std::uint32_t> numbers)
    : table_(std::move(table)),
      sites_(sites),
      numbers_(std::move(numbers)),
      width_(static_cast<std::uint32_t>(table_->size())),
      layouts_(table_->program().columns) {
  if (!numbers_.empty()) {
    if (numbers_.size() != table_->size())
      throw std::invalid_argument(std::to_string(numbers_.size()) + " numbers for " + std::to_string(table_->size()) +
                                  " features");
    const std::uint32_t last = *std::ranges::max_element(numbers_);
    if (last == kNone) throw std::invalid_argument("the number of a feature is 4294967295");
    width_ = last + 1;
  }
  plan();
  for (const WordLayout& layout : layouts_) caches_.push_back(std::make_unique<WordCache>(*table_, layout, numbers_));
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
  const auto joined = [&](const Template& t) {
    if (t.kind == TemplateKind::bias || t.kind == TemplateKind::own) return false;
    return !t.single() || (sites_ == Sites::segments && t.part == Part::span);
  };
  // The slots of values come first: what conjunctions read stands together at the beginning of an entry.
  for (std::uint32_t index = 0; index < program.templates.size(); ++index) {
    const Template& t = program.templates[index];
    for (const Atom& atom : t.atoms) pad_ = std::max<std::int64_t>(pad_, std::abs(atom.offset));
    if (joined(t)) plans_[plan_of(t)].joints.push_back(plan_joint(index));
  }
  std::map<std::tuple<std::size_t, std::uint32_t, std::int32_t>, std::size_t> word_of;
  for (std::uint32_t index = 0; index < program.templates.size(); ++index) {
    const Template& t = program.templates[index];
    Plan& plan = plans_[plan_of(t)];
    if (joined(t)) continue;
    if (t.kind == TemplateKind::bias) {
      const std::uint32_t id = table_->find(index, {});
      if (id != kNone) plan.bias.push_back(number(id));
    } else if (t.kind == TemplateKind::own) {
      plan.own.push_back({index, t.atoms[0].offset});
      own_ = true;
    } else {
      const std::uint32_t column = program.views[t.atoms[0].view].column;
      const auto [place, fresh] = word_of.try_emplace({plan_of(t), column, t.atoms[0].offset}, plan.words.size());
      auto& slots = layouts_[column].slots;
      if (fresh) {
        plan.words.push_back({column, t.atoms[0].offset, static_cast<std::uint32_t>(slots.size())});
        slots.emplace_back();
      }
      slots[plan.words[place->second].slot].templates.push_back(index);
    }
  }
}

FeatureRows::Joint FeatureRows::plan_joint(std::uint32_t index) {
  const Template& t = table_->program().templates[index];
  Joint joint{index, t.kind, {}, t.kind == TemplateKind::conjunction && t.atoms.size() <= kPlain};
  for (const Atom& atom : t.atoms) {
    const View& view = table_->program().views[atom.view];
    const std::uint32_t slot = view.size() ? atom.view : view_slot(atom.view, t.kind == TemplateKind::bag);
    joint.atoms.push_back({view.column, atom.offset, slot, atom.from_last});
    joint.plain = joint.plain && !view.size();
  }
  return joint;
}

void FeatureRows::append_row(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to,
                             Chunk& chunk) const {
  append_plan(plan, sentence, from, to, chunk);
  chunk.end_row();
}

void FeatureRows::append_plan(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to,
                              Chunk& chunk) const {
  chunk.forget();
  ask_joints(plan, sentence, from, to, chunk);
  sift(chunk);
  append_answered(plan, sentence, from, chunk.pending.size(), chunk);
}

void FeatureRows::append_rows(const Plan& plan, const Padded& sentence, std::int64_t rows, Chunk& chunk) const {
  for (std::int64_t first = 0; first < rows; first += kRows) {
    const std::int64_t last = std::min(rows, first + kRows);
    chunk.forget();
    for (std::int64_t i = first; i < last; ++i) {
      ask_joints(plan, sentence, i, i, chunk);
      chunk.ends.push_back(chunk.pending.size());
    }
    sift(chunk);
    for (std::int64_t i = first; i < last; ++i) {
      append_answered(plan, sentence, i, chunk.ends[static_cast<std::size_t>(i - first)], chunk);
      chunk.end_row();
    }
  }
}

void FeatureRows::append_answered(const Plan& plan, const Padded& sentence, std::int64_t from, std::size_t end,
                                  Chunk& chunk) const {
  const TokenInput& input = *sentence.input;
  const bool real = !input.own_values.empty() && own_;
  for (const std::uint32_t id : plan.bias) chunk.ids.push_back(id);
  for (const Read& word : plan.words) {
    const WordEntry entry = sentence.at[word.column][from + word.offset];
    chunk.ids.append(entry + entry[word.slot], entry[word.slot + 1] - entry[word.slot]);
  }
  answer(end, chunk);
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
      chunk.ids.push_back(number(id));
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
    append_rows(plans_[0], sentence, rows, chunk);
  }
}

SparseRows FeatureRows::rows(const TokenInput& input, int threads) const {
  input.check(table_->program(), sites_);
  std::vector<std::shared_ptr<WordArena>> hold;
  std::vector<Entries> words;
  for (std::size_t c = 0; c < caches_.size(); ++c) words.push_back(caches_[c]->find(input.columns[c], threads, hold));
  return rows(input, words, threads);
}

FeatureRows::LookedUp FeatureRows::look_up(const StringList& words, int threads) const {
  const Program& program = table_->program();
  if (program.columns != 1 || program.uses_own() || sites_ == Sites::segments)
    throw std::invalid_argument("features of tokens or gaps that read words alone can be looked up by words");
  LookedUp found;
  found.entries = caches_[0]->find(words, threads, found.hold);
  return found;
}

SparseRows FeatureRows::rows(std::vector<std::int64_t> sentence_ptr, Entries words, int threads) const {
  TokenInput input;
  input.sentence_ptr = std::move(sentence_ptr);
  if (input.tokens() != words.size())
    throw std::invalid_argument(std::to_string(words.size()) + " words for " + std::to_string(input.tokens()) +
                                " tokens");
  std::vector<Entries> columns;
  columns.push_back(std::move(words));
  return rows(input, columns, threads);
}

SparseRows FeatureRows::rows(const TokenInput& input, const std::vector<Entries>& words, int threads) const {
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
  out.width = width_;
  out.row_ptr.reserve(input.rows(sites_) + 1);
  out.group_ptr.reserve(input.sentences() + 1);
  if (chunks.size() == 1) {
    out.ids = chunks[0].ids.take();
    out.values = std::move(chunks[0].values);
  } else {
    out.ids.reserve(entries);
    out.values.reserve(values);
    for (const Chunk& chunk : chunks) {
      out.ids.insert(out.ids.end(), chunk.ids.data(), chunk.ids.data() + chunk.ids.size());
      out.values.insert(out.values.end(), chunk.values.begin(), chunk.values.end());
    }
  }
  for (const Chunk& chunk : chunks) {
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
