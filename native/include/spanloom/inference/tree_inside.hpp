#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/inference/segment_sums.hpp"
#include "spanloom/inference/semirings.hpp"
#include "spanloom/inference/tree.hpp"

namespace spanloom {

// Sums of probabilities, for log Z; and maxima of scores, for the best tree.
struct TreeSums {
  static constexpr double zero = 0.0;
  static constexpr double one = 1.0;
  static double plus(double a, double b) { return a + b; }
  static double times(double a, double b) { return a * b; }
};
struct TreeMaxima {
  static constexpr double zero = kMinusInfinity;
  static constexpr double one = 0.0;
  static double plus(double a, double b) { return std::max(a, b); }
  static double times(double a, double b) { return a + b; }
};

// The numbers within, mention and child of TreeStructure for one sentence after the other. Their rows have a number for
// every context but 0, padded.
class TreeInside {
 protected:
  TreeInside(const TreeStructure& structure, std::span<const double> global)
      : structure_(structure),
        columns_(static_cast<std::int32_t>(structure.columns())),
        contexts_(structure.contexts()),
        stride_(structure.stride()),
        inner_(kernels::padded(static_cast<std::size_t>(contexts_ - 1))),
        global_(global.begin(), global.end()),
        pair_(global_.size()),
        least_pair_(std::min(0.0, *std::min_element(global_.begin(), global_.end()))),
        sums_(stride_),
        row_(inner_) {}

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  std::size_t row(std::int32_t i) const { return at(i) * inner_; }
  double pair(std::int32_t c, std::int32_t y) const { return pair_[at(c * columns_ + y)]; }
  std::size_t inside_of(std::int32_t c, std::int32_t y) const { return at(structure_.next(c, y)) - 1; }
  // The row of within(i, k), k > i.
  double* within(std::int32_t i, std::int32_t k) { return &within_[row(place_[at(i)] + k - i - 1)]; }

  // Calls body(segment, its start) for the candidates that end at k and start after i, the shortest first.
  template <class Body>
  static void each_ending(const Lattice& lattice, std::int32_t k, std::int32_t i, const Body& body) {
    for (std::int32_t q = 0; q < lattice.to(k - 1); ++q) {
      const std::int32_t s = lattice.nth_to(k - 1, q);
      const std::int32_t start = lattice.start_of(s);
      if (start <= i) break;
      body(s, start);
    }
  }

  // sums_[s][y]: the score of mention s with column y; -inf where the mask forbids it, and for padding. Returns a bound
  // below the scores of all that must be.
  double load(const Lattice& lattice, const double* scores, const std::uint8_t* mask) {
    sums_.add_up(lattice, scores);
    limits_.set(lattice, mask, columns_);
    double low = 0;
    for (std::int32_t s = 0; s < lattice.segments(); ++s) {
      double* sum = sums_[s];
      std::fill(sum + columns_, sum + stride_, kMinusInfinity);
      for (std::int32_t y = 0; mask != nullptr && y < columns_; ++y) {
        const std::uint8_t known = mask[at(s) * at(columns_) + at(y)];
        if (known == 0) sum[y] = kMinusInfinity;
        if (known == 2) low += std::min(0.0, sum[y]) + least_pair_;
      }
    }
    place_.assign(1, 0);
    for (std::int32_t i = 0; i < lattice.tokens; ++i) place_.push_back(place_.back() + lattice.longest_from(i));
    return low;
  }

  // row_[c]: the siblings from i to k in context c, without the mention that alone covers all of it.
  template <class Ring>
  void siblings(const Lattice& lattice, std::int32_t i, std::int32_t k) {
    std::fill(row_.begin(), row_.end(), k == i + 1 ? Ring::one : Ring::zero);
    if (k > i + 1 && limits_.word(k - 1)) std::copy_n(within(i, k - 1), inner_, row_.begin());
    each_ending(lattice, k, i, [&](std::int32_t s, std::int32_t start) {
      const double* before = within(i, start);
      const double* own = &child_[row(s)];
      double* sum = row_.data();
      for (std::size_t c = 0; c < inner_; ++c) sum[c] = Ring::plus(sum[c], Ring::times(before[c], own[c]));
    });
  }

  template <class Ring>
  void inside(const Lattice& lattice) {
    const std::int32_t n = lattice.tokens;
    within_.resize(row(place_.back()));
    mention_.assign(row(lattice.segments()), Ring::zero);
    child_.assign(row(lattice.segments()), Ring::zero);
    top_.assign(at(lattice.segments()), Ring::zero);
    for (std::int32_t i = n; i-- > 0;) {
      std::int32_t s = lattice.first_segment(i);
      for (std::int32_t k = i + 1; k <= i + lattice.longest_from(i); ++k) {
        const bool candidate = s < lattice.first_segment(i + 1) && lattice.end_of(s) == k;
        double* all = within(i, k);
        if (limits_.blocked(i, k)) {
          std::fill_n(all, inner_, Ring::zero);
        } else {
          siblings<Ring>(lattice, i, k);
          if (candidate) mentions<Ring>(s);
          std::fill_n(all, inner_, Ring::zero);
          if (!candidate || !limits_.must(s)) std::copy_n(row_.begin(), inner_, all);
          if (candidate) {
            const double* own = &child_[row(s)];
            for (std::size_t c = 0; c < inner_; ++c) all[c] = Ring::plus(all[c], own[c]);
          }
        }
        s += candidate ? 1 : 0;
      }
    }
  }

  // The rows mention and child of a segment, with siblings within it in row_.
  template <class Ring>
  void mentions(std::int32_t s) {
    const double* score = sums_[s];
    double* own = &mention_[row(s)];
    const auto contexts = structure_.by_last();
    for (std::size_t p = contexts.size(); p-- > 0;) {
      const std::int32_t c = contexts[p];
      const std::int32_t y = structure_.last(c);
      double value = limits_.closes(s, y) ? row_[at(c) - 1] : Ring::zero;
      for (std::int32_t z = y + 1; z < columns_; ++z) {
        if (limits_.follows(s, y, z)) value = Ring::plus(value, Ring::times(pair(c, z), own[inside_of(c, z)]));
      }
      own[at(c) - 1] = Ring::times(score[y], value);
    }
    for (std::int32_t c = 0; c < contexts_; ++c) {
      double value = Ring::zero;
      for (std::int32_t y = 0; y < columns_; ++y) {
        if (limits_.begins(s, y)) value = Ring::plus(value, Ring::times(pair(c, y), own[inside_of(c, y)]));
      }
      (c == 0 ? top_[at(s)] : child_[row(s) + at(c) - 1]) = value;
    }
  }

  const TreeStructure& structure_;
  std::int32_t columns_, contexts_;
  std::size_t stride_;  // of columns
  std::size_t inner_;   // contexts but 0, padded
  std::vector<double> global_;
  std::vector<double> pair_;  // [context, column]: what the ring makes of global_
  double least_pair_;
  TreeLimits limits_;
  SegmentSums sums_;
  std::vector<double> row_, within_, mention_, child_, top_;
  std::vector<std::int32_t> place_;
};

}  // namespace spanloom
