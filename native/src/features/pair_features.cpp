#include "spanloom/features/pair_features.hpp"

#include <algorithm>
#include <stdexcept>

namespace spanloom {
namespace {

// The views of all tokens, each distinct word seen once; number(view, string) gives a value or kNone.
template <class Number>
PairValues view_values(const Program& program, const TokenInput& input, const Number& number) {
  PairValues out(program.views.size());
  std::vector<StringPool> words(program.columns);
  std::vector<std::vector<std::uint32_t>> word_of(program.columns);
  for (std::size_t c = 0; c < program.columns; ++c) {
    word_of[c].reserve(input.tokens());
    for (std::size_t t = 0; t < input.tokens(); ++t) word_of[c].push_back(words[c].insert(input.columns[c][t]));
  }
  Transformer transform(program.resources);
  for (std::uint32_t v = 0; v < out.size(); ++v) {
    const View& view = program.views[v];
    const StringPool& distinct = words[view.column];
    ViewValues of_words;
    for (std::uint32_t w = 0; w < distinct.size(); ++w) {
      const StringList& values = transform.apply(view.ops, distinct[w]);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint32_t value = number(v, values[i]);
        if (value != kNone) of_words.values.push_back(value);
      }
      of_words.ptr.push_back(static_cast<std::uint32_t>(of_words.values.size()));
    }
    for (const std::uint32_t w : word_of[view.column]) {
      const auto values = of_words.at(w);
      out[v].values.insert(out[v].values.end(), values.begin(), values.end());
      if (out[v].values.size() >= kNone) throw std::length_error("too many pair values in one batch");
      out[v].ptr.push_back(static_cast<std::uint32_t>(out[v].values.size()));
    }
    if (view.passes_boundary()) {
      out[v].begin = number(v, kSentenceBegin);
      out[v].end = number(v, kSentenceEnd);
    }
  }
  return out;
}

}  // namespace

void PairProgram::check() const {
  program->check();
  if (sides.size() != program->templates.size()) {
    throw std::invalid_argument("pair templates: sides for " + std::to_string(sides.size()) + " of " +
                                std::to_string(program->templates.size()) + " templates");
  }
  for (std::size_t t = 0; t < sides.size(); ++t) {
    const Template& form = program->templates[t];
    const bool sequence = form.kind == TemplateKind::sequence;
    if ((form.kind != TemplateKind::conjunction && !sequence) || sides[t].size() != form.atoms.size()) {
      throw std::invalid_argument("pair template " + std::to_string(t) + " is no conjunction with a side an atom");
    }
    if (sequence ? sides[t][0] < Side::between : std::ranges::count(sides[t], Side::whole) > 0) {
      throw std::invalid_argument("pair template " + std::to_string(t) + " has a side that its kind cannot have");
    }
    if (std::ranges::count(sides[t], Side::between) > 1) {
      throw std::invalid_argument("pair template " + std::to_string(t) + " reads what is between twice");
    }
  }
}

std::size_t distance_range(std::size_t distance) {
  constexpr std::size_t last[] = {2, 3, 4, 5, 7, 10, 15, 25};
  std::size_t range = 0;
  while (range + 1 < kDistanceRanges && distance > last[range]) ++range;
  return range;
}

PairValues learn_values(const Program& program, const TokenInput& input, std::vector<StringPool>& pools) {
  input.check(program, Sites::tokens);
  pools.resize(program.pools());
  return view_values(program, input,
                     [&](std::uint32_t view, std::string_view text) { return pools[view].insert(text); });
}

PairValues find_values(const FeatureTable& table, const TokenInput& input) {
  input.check(table.program(), Sites::tokens);
  return view_values(table.program(), input,
                     [&](std::uint32_t view, std::string_view text) { return table.pools()[view].find(text); });
}

std::uint32_t PairIndex::find(std::uint32_t index, std::span<const std::uint32_t> values) const {
  return slots_.find(tag(index, values), [&](std::uint32_t id) {
    return template_of_[id] == index &&
           std::ranges::equal(values, std::span(values_.data() + ptr_[id], ptr_[id + 1] - ptr_[id]));
  });
}

std::uint32_t PairIndex::insert(std::uint32_t index, std::span<const std::uint32_t> values) {
  std::uint32_t id = find(index, values);
  if (id != kNone) return id;
  id = static_cast<std::uint32_t>(template_of_.size());
  if (id == kNone) throw std::length_error("more than 4294967295 pair features");
  slots_.insert(tag(index, values), id);
  template_of_.push_back(index);
  values_.insert(values_.end(), values.begin(), values.end());
  ptr_.push_back(values_.size());
  return id;
}

FeatureTable PairIndex::freeze(const PairProgram& pairs, const std::vector<StringPool>& pools,
                               std::span<const std::uint32_t> features) const {
  std::vector<std::uint32_t> template_of;
  KeyStream keys;
  for (const std::uint32_t f : features) {
    template_of.push_back(template_of_[f]);
    if (pairs.program->templates[template_of_[f]].counted()) {
      keys.push_back(static_cast<std::uint32_t>(ptr_[f + 1] - ptr_[f]));
    }
    keys.insert(keys.end(), values_.begin() + static_cast<std::ptrdiff_t>(ptr_[f]),
                values_.begin() + static_cast<std::ptrdiff_t>(ptr_[f + 1]));
  }
  std::vector<const StringPool*> some;
  for (const StringPool& pool : pools) some.push_back(&pool);
  return compact_table(pairs.program, some, std::move(template_of), std::move(keys));
}

PairReader::PairReader(const PairProgram& pairs, const PairValues& values, std::size_t first, std::size_t n)
    : pairs_(pairs),
      values_(values),
      first_(first),
      n_(n),
      between_(values.size()),
      old_(values.size(), 0),
      read_between_(values.size(), 0) {
  for (std::size_t t = 0; t < pairs.sides.size(); ++t) {
    for (std::size_t a = 0; a < pairs.sides[t].size(); ++a) {
      if (pairs.sides[t][a] == Side::between) read_between_[pairs.program->templates[t].atoms[a].view] = 1;
    }
  }
}

void PairReader::set_left(std::size_t j) {
  left_ = j;
  for (auto& values : between_) values.clear();
  std::ranges::fill(old_, 0);
}

void PairReader::add_between(std::size_t m) {
  for (std::size_t v = 0; v < between_.size(); ++v) {
    if (!read_between_[v]) continue;
    auto& seen = between_[v];
    old_[v] = seen.size();
    for (const std::uint32_t value : values_[v].at(first_ + m)) {
      if (std::ranges::find(seen, value) == seen.end()) seen.push_back(value);
    }
  }
}

bool PairReader::read_sequence(std::uint32_t view, std::size_t i, bool whole) {
  const std::size_t from = whole ? left_ : left_ + 1, to = whole ? i + 1 : i;
  if (to - from > PairProgram::kLongestSequence) return false;
  key_.clear();
  for (std::size_t m = from; m < to; ++m) {
    const auto values = values_[view].at(first_ + m);
    if (values.empty()) return false;
    key_.push_back(values.front());
  }
  return true;
}

std::span<const std::uint32_t> PairReader::end_values(std::uint32_t view, std::int64_t at) const {
  const ViewValues& values = values_[view];
  if (at < 0) return {&values.begin, values.begin == kNone ? std::size_t{0} : 1};
  if (at >= static_cast<std::int64_t>(n_)) return {&values.end, values.end == kNone ? std::size_t{0} : 1};
  return values.at(first_ + static_cast<std::size_t>(at));
}

}  // namespace spanloom
