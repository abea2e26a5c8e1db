#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/features/feature_input.hpp"
#include "spanloom/features/feature_table.hpp"

namespace spanloom {

// Where an atom of a pair template reads: at an end of the pair (offsets count from there), every token between, or the
// tokens from the one end to the other.
enum class Side : std::uint8_t { left, right, between, whole };

// Templates over pairs of tokens (j, i), j < i. The program's templates are conjunctions, or sequences of what is
// between or of the whole, that say which views they read and how features are named; sides[t][a] says where atom a of
// template t reads.
struct PairProgram {
  // Longer sequences are no feature: they would not come again.
  static constexpr std::size_t kLongestSequence = 12;

  std::shared_ptr<const Program> program;
  std::vector<std::vector<Side>> sides;
  bool distance = false;  // whether the range of i - j counts too

  // Throws std::invalid_argument unless sides fit the templates and no template has two atoms between the ends.
  void check() const;
};

// Ranges of i - j, for pairs that skip something: 2, 3, 4, 5, 6-7, 8-10, 11-15, 16-25, 26 and more.
inline constexpr std::size_t kDistanceRanges = 9;
std::size_t distance_range(std::size_t distance);

// What the views of a program make of every token: token t has values[ptr[t] .. ptr[t + 1]].
struct ViewValues {
  std::vector<std::uint32_t> ptr{0};
  std::vector<std::uint32_t> values;
  std::uint32_t begin = kNone, end = kNone;  // what stands before and after the sentence; kNone: nothing

  std::span<const std::uint32_t> at(std::size_t token) const {
    return {values.data() + ptr[token], ptr[token + 1] - ptr[token]};
  }
};
using PairValues = std::vector<ViewValues>;  // by view

// Numbers the values of training sentences; `pools` (one a view, and one for own features, which pairs have none of)
// take in what is new.
PairValues learn_values(const Program& program, const TokenInput& input, std::vector<StringPool>& pools);

// Finds the values of sentences among those that a table knows.
PairValues find_values(const FeatureTable& table, const TokenInput& input);

// The pair features that learning has met: key (template, values) -> id. Grows; `freeze` makes a table.
class PairIndex {
 public:
  std::size_t size() const { return template_of_.size(); }
  std::uint32_t find(std::uint32_t index, std::span<const std::uint32_t> values) const;
  std::uint32_t insert(std::uint32_t index, std::span<const std::uint32_t> values);

  // The table of these features, numbered in the order given.
  FeatureTable freeze(const PairProgram& pairs, const std::vector<StringPool>& pools,
                      std::span<const std::uint32_t> features) const;

 private:
  static std::uint64_t tag(std::uint32_t index, std::span<const std::uint32_t> values) {
    return mix(FeatureTable::tag(values) ^ mix(index));
  }

  HashSlots slots_;
  std::vector<std::uint32_t> template_of_;
  std::vector<std::uint32_t> values_;
  std::vector<std::size_t> ptr_{0};  // values_[ptr_[f] .. ptr_[f + 1]]
};

// Reads the pair features of one sentence, whose tokens are first .. first + n of `values`. It has buffers: one a
// thread.
class PairReader {
 public:
  PairReader(const PairProgram& pairs, const PairValues& values, std::size_t first, std::size_t n);

  // From now on pairs have the left end j, and nothing lies between.
  void set_left(std::size_t j);
  // Token m joins what lies between; tokens come in order.
  void add_between(std::size_t m);

  // Calls each(template, values, stays) for every feature of the pair (j, i). Those of templates that read nothing but
  // what is between stay when i moves on; with `fresh`, only those of them that the last add_between() brought come.
  template <class Each>
  void features(std::size_t i, bool fresh, const Each& each);

 private:
  std::span<const std::uint32_t> end_values(std::uint32_t view, std::int64_t at) const;
  // Puts the first value of every token between the ends, or of these too, into key_; false if one has none.
  bool read_sequence(std::uint32_t view, std::size_t i, bool whole);

  const PairProgram& pairs_;
  const PairValues& values_;
  std::size_t first_, n_, left_ = 0;
  std::vector<std::vector<std::uint32_t>> between_;  // by view: the distinct values between the ends
  std::vector<std::size_t> old_;                     // by view: how many of them were there before the last token
  std::vector<std::uint8_t> read_between_;           // by view: whether a template reads it between the ends
  std::vector<std::span<const std::uint32_t>> lists_;
  std::vector<std::uint32_t> key_;
};

template <class Each>
void PairReader::features(std::size_t i, bool fresh, const Each& each) {
  const auto& templates = pairs_.program->templates;
  for (std::uint32_t index = 0; index < templates.size(); ++index) {
    const auto& atoms = templates[index].atoms;
    const auto& sides = pairs_.sides[index];
    lists_.clear();
    if (templates[index].kind == TemplateKind::sequence) {
      if (read_sequence(atoms[0].view, i, sides[0] == Side::whole)) {
        each(index, std::span<const std::uint32_t>(key_), false);
      }
      continue;
    }
    const bool stays = sides.size() == 1 && sides[0] == Side::between;
    bool empty = false;
    for (std::size_t a = 0; a < atoms.size() && !empty; ++a) {
      if (sides[a] == Side::between) {
        const auto& all = between_[atoms[a].view];
        const std::size_t skip = fresh && stays ? old_[atoms[a].view] : 0;
        lists_.emplace_back(all.data() + skip, all.size() - skip);
      } else {
        const std::size_t end = sides[a] == Side::left ? left_ : i;
        lists_.push_back(end_values(atoms[a].view, static_cast<std::int64_t>(end) + atoms[a].offset));
      }
      empty = lists_.back().empty();
    }
    if (empty) continue;
    key_.clear();
    each_combination(lists_, key_, [&] { each(index, std::span<const std::uint32_t>(key_), stays); });
  }
}

}  // namespace spanloom
