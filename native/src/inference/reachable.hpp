#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/base/aligned.hpp"

namespace spanloom {

// Which labels can stand at step 0, 1, 2 … from one end of a sentence. A scaled value that is too small although its
// label can stand there has lost what could matter further on; one that is 0 because its label cannot has not.
class Reachable {
 public:
  using Word = std::uint64_t;  // labels are bits of one or more words

  // first: [labels]; step: [labels, labels], from * labels + to. `too_small` is the threshold of sound().
  Reachable(std::size_t labels, std::size_t stride, double too_small, const std::vector<std::uint8_t>& first,
            const std::vector<std::uint8_t>& step)
      : labels_(labels),
        stride_(stride),
        words_((labels + 63) / 64),
        too_small_(too_small),
        first_(words_, 0),
        step_(labels * words_, 0),
        next_(words_) {
    for (std::size_t y = 0; y < labels; ++y) add(y, first[y] != 0, first_.data());
    for (std::size_t x = 0; x < labels; ++x) {
      for (std::size_t y = 0; y < labels; ++y) add(y, step[x * labels + y] != 0, &step_[x * words_]);
    }
    rows_.push_back(first_);
    add_limits(first_);
  }

  std::size_t words() const { return words_; }
  static void add(std::size_t label, bool allowed, Word* set) {
    set[label / 64] |= static_cast<Word>(allowed ? 1 : 0) << (label % 64);
  }

  // Without a mask: what a row of values at step 0, 1, 2 … must be above; the last row is that of all later steps.
  std::span<const double> limits(std::size_t steps) {
    while (steps > rows_.size() && !settled_) {
      std::vector<Word> next = rows_.back();
      advance(next.data());
      settled_ = next == rows_.back();
      if (!settled_) {
        add_limits(next);
        rows_.push_back(std::move(next));
      }
    }
    return limits_;
  }

  // With a mask: the set of labels at step 0, and from it those of the following steps; the mask is the caller's.
  void start(Word* set) const { std::copy(first_.begin(), first_.end(), set); }
  void advance(Word* set) {
    std::fill(next_.begin(), next_.end(), Word{0});
    each(set, [&](std::size_t x) {
      for (std::size_t w = 0; w < words_; ++w) next_[w] |= step_[x * words_ + w];
    });
    std::copy(next_.begin(), next_.end(), set);
  }
  // Takes the labels that are not allowed out of a set; false if none is left.
  static bool keep(const Word* allowed, std::span<Word> set) {
    Word any = 0;
    for (std::size_t w = 0; w < set.size(); ++w) any |= set[w] &= allowed[w];
    return any != 0;
  }
  // Whether a row of values is large enough for all labels of a set.
  bool sound(const double* row, const Word* set) const {
    bool good = true;
    each(set, [&](std::size_t y) { good &= row[y] > too_small_; });
    return good;
  }

 private:
  template <class Body>
  void each(const Word* set, const Body& body) const {
    for (std::size_t w = 0; w < words_; ++w) {
      for (Word rest = set[w]; rest != 0; rest &= rest - 1) {
        body(w * 64 + static_cast<std::size_t>(__builtin_ctzll(rest)));
      }
    }
  }

  void add_limits(const std::vector<Word>& set) {
    const std::size_t first = limits_.size();
    limits_.resize(first + stride_, -1.0);
    each(set.data(), [&](std::size_t y) { limits_[first + y] = too_small_; });
  }

  std::size_t labels_, stride_, words_;
  double too_small_;
  std::vector<Word> first_, step_, next_;
  std::vector<std::vector<Word>> rows_;  // sets without a mask, until they stay the same
  AlignedVector<double> limits_;         // [step, stride]: too_small where a label can stand, else -1
  bool settled_ = false;
};

}  // namespace spanloom
