#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "spanloom/inference/tree_inside.hpp"

namespace spanloom {
namespace {

// Sums above this, or products of what must be below its inverse, send a sentence to the general engine. What is free
// and has a probability below the smallest number is 0.
constexpr double kMost = 1e250;
const double kLowest = -std::log(kMost);

class TreeSolver final : public Solver, private TreeInside {
 public:
  TreeSolver(const TreeStructure& structure, std::span<const double> global)
      : TreeInside(structure, global), pairs_(global.size(), 0.0) {}

  double expectations(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    if (lattice.tokens == 0) return 0.0;
    if (load(lattice, scores, mask) < kLowest || !can_be_raised(lattice)) {
      return by_engine(unit, scores, expected, mask);
    }
    for (std::int32_t s = 0; s < lattice.segments(); ++s) kernels::exp_all(sums_[s], stride_);
    for (std::size_t g = 0; g < global_.size(); ++g) pair_[g] = std::exp(global_[g]);
    inside<TreeSums>(lattice);
    if (!in_range()) return by_engine(unit, scores, expected, mask);
    for (double& value : top_) value = std::log(value);
    const double log_z = forward(lattice);
    if (log_z == kMinusInfinity) {
      std::fill_n(expected, unit.sites * stride_, 0.0);
      return log_z;
    }
    backward(lattice);
    outside(lattice, log_z);
    sums_.spread(lattice, expected);
    return log_z;
  }

  void add_global(std::span<double> out) override {
    for (std::size_t g = 0; g < pairs_.size(); ++g) out[g] += pairs_[g];
    std::fill(pairs_.begin(), pairs_.end(), 0.0);
  }

  double best(Unit unit, const double* scores, std::vector<std::int32_t>& cells, bool with_global,
              const std::uint8_t* mask) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    const std::int32_t n = lattice.tokens;
    cells.clear();
    if (n == 0) return 0.0;
    load(lattice, scores, mask);
    pair_ = global_;
    inside<TreeMaxima>(lattice);
    // before_[k]: the score of the best top of the first k tokens; last_[k]: the mention that ends it, -1 for a word.
    before_.assign(static_cast<std::size_t>(n) + 1, 0.0);
    last_.assign(static_cast<std::size_t>(n) + 1, -1);
    for (std::int32_t k = 1; k <= n; ++k) {
      double& now = before_[at(k)];
      now = limits_.word(k - 1) ? before_[at(k - 1)] : kMinusInfinity;
      each_ending(lattice, k, -1, [&](std::int32_t s, std::int32_t start) {
        const double other = before_[at(start)] + top_[at(s)];
        if (other > now) last_[at(k)] = s;
        now = std::max(now, other);
      });
      if (limits_.blocked(-1, k)) now = kMinusInfinity;
    }
    if (before_.back() == kMinusInfinity) return kMinusInfinity;
    found_.clear();
    for (std::int32_t k = n; k > 0;) {
      const std::int32_t s = last_[at(k)];
      if (s >= 0) found_.push_back({s, 0});
      k = s < 0 ? k - 1 : lattice.start_of(s);
    }
    std::vector<std::int32_t> used;  // global cells
    while (!found_.empty()) {
      const Child child = found_.back();
      found_.pop_back();
      take(lattice, child, cells, used);
    }
    std::sort(cells.begin(), cells.end());
    if (with_global) {
      std::sort(used.begin(), used.end());
      for (const std::int32_t g : used) cells.push_back(lattice.rows() * columns_ + g);
    }
    return before_.back();
  }

 private:
  struct Child {
    std::int32_t segment, context;  // where the mention stands
  };

  // Whether e to the power of every score is a number: kernels::exp_all cuts off what is above.
  bool can_be_raised(const Lattice& lattice) {
    const auto low = [](double value) { return value < -kLowest; };  // not for NaN
    for (std::int32_t s = 0; s < lattice.segments(); ++s) {
      if (!std::all_of(sums_[s], sums_[s] + columns_, low)) return false;
    }
    return std::all_of(global_.begin(), global_.end(), low);
  }

  bool in_range() const {
    const auto low = [](const std::vector<double>& values) {
      return std::all_of(values.begin(), values.end(), [](double value) { return value < kMost; });  // not for NaN
    };
    return low(within_) && low(mention_) && low(child_) && low(top_);
  }

  // before_[k] and after_[k]: the logs of the sums over what may stand at the top before and after boundary k; top_ has
  // logs already.
  double forward(const Lattice& lattice) {
    const std::int32_t n = lattice.tokens;
    before_.assign(at(n) + 1, kMinusInfinity);
    before_[0] = 0.0;
    for (std::int32_t k = 1; k <= n; ++k) {
      if (limits_.blocked(-1, k)) continue;
      values_.clear();
      if (limits_.word(k - 1)) values_.push_back(before_[at(k - 1)]);
      each_ending(lattice, k, -1,
                  [&](std::int32_t s, std::int32_t start) { values_.push_back(before_[at(start)] + top_[at(s)]); });
      before_[at(k)] = LogSemiring::sum(values_);
    }
    return before_.back();
  }

  void backward(const Lattice& lattice) {
    const std::int32_t n = lattice.tokens;
    after_.assign(at(n) + 1, kMinusInfinity);
    after_[at(n)] = 0.0;
    for (std::int32_t k = n; k-- > 0;) {
      if (limits_.blocked(-1, k)) continue;
      values_.clear();
      if (limits_.word(k)) values_.push_back(after_[at(k + 1)]);
      for (std::int32_t s = lattice.first_segment(k); s < lattice.first_segment(k + 1); ++s) {
        values_.push_back(top_[at(s)] + after_[at(lattice.end_of(s))]);
      }
      after_[at(k)] = LogSemiring::sum(values_);
    }
  }

  // The derivatives of log Z by every number of `inside`, from the top down; then sums_[s][y] is the probability of
  // mention s with column y, and pairs_ counts expected uses of global cells.
  void outside(const Lattice& lattice, double log_z) {
    by_child_.assign(child_.size(), 0.0);
    by_mention_.resize(inner_);
    for (std::int32_t i = 0; i < lattice.tokens; ++i) {
      const std::int32_t longest = lattice.longest_from(i);
      by_within_.assign(row(longest), 0.0);
      std::int32_t s = lattice.first_segment(i + 1) - 1;
      for (std::int32_t k = i + longest; k > i; --k) {
        const bool candidate = s >= lattice.first_segment(i) && lattice.end_of(s) == k;
        const double* by_all = &by_within_[row(k - i - 1)];
        const bool blocked = limits_.blocked(i, k);
        if (candidate && blocked) std::fill_n(sums_[s], stride_, 0.0);
        if (!blocked) {
          std::fill(row_.begin(), row_.end(), 0.0);
          if (!candidate || !limits_.must(s)) std::copy_n(by_all, inner_, row_.begin());
          if (candidate) {
            double* by_own = &by_child_[row(s)];
            for (std::size_t c = 0; c < inner_; ++c) by_own[c] += by_all[c];
            outside_of(s, std::exp(before_[at(i)] + after_[at(k)] - log_z));
          }
          spread(lattice, i, k);
        }
        s -= candidate ? 1 : 0;
      }
    }
  }

  // From by_child_ and the derivative by top_ to the mentions of a segment; adds those by siblings to row_.
  void outside_of(std::int32_t s, double by_top) {
    const double* own = &mention_[row(s)];
    std::fill(by_mention_.begin(), by_mention_.end(), 0.0);
    for (std::int32_t c = 0; c < contexts_; ++c) {
      const double by = c == 0 ? by_top : by_child_[row(s) + at(c) - 1];
      if (by == 0.0) continue;
      for (std::int32_t y = 0; y < columns_; ++y) {
        if (limits_.begins(s, y)) use(c, y, by, own);
      }
    }
    double* score = sums_[s];
    std::copy_n(score, columns_, values_for(at(columns_)));
    std::fill_n(score, stride_, 0.0);
    for (const std::int32_t c : structure_.by_last()) {
      const std::int32_t y = structure_.last(c);
      const double by = by_mention_[at(c) - 1] * values_[at(y)];
      score[y] += by_mention_[at(c) - 1] * own[at(c) - 1];
      if (by == 0.0) continue;
      if (limits_.closes(s, y)) row_[at(c) - 1] += by;
      for (std::int32_t z = y + 1; z < columns_; ++z) {
        if (limits_.follows(s, y, z)) use(c, z, by, own);
      }
    }
  }

  // A mention y in context c, `by` the derivative by the product of its pair and its value.
  void use(std::int32_t c, std::int32_t y, double by, const double* own) {
    const double through = by * pair(c, y);
    by_mention_[inside_of(c, y)] += through;
    pairs_[at(c * columns_ + y)] += through * own[inside_of(c, y)];
  }

  double* values_for(std::size_t size) {
    values_.resize(size);
    return values_.data();
  }

  // From the derivatives by siblings from i to k, in row_, to those by their parts.
  void spread(const Lattice& lattice, std::int32_t i, std::int32_t k) {
    if (k > i + 1 && limits_.word(k - 1)) {
      double* to = &by_within_[row(k - i - 2)];
      for (std::size_t c = 0; c < inner_; ++c) to[c] += row_[c];
    }
    each_ending(lattice, k, i, [&](std::int32_t other, std::int32_t start) {
      const double* by = row_.data();
      const double* before = within(i, start);
      const double* own = &child_[row(other)];
      double* by_before = &by_within_[row(start - i - 1)];
      double* by_own = &by_child_[row(other)];
      for (std::size_t c = 0; c < inner_; ++c) {
        by_before[c] += by[c] * own[c];
        by_own[c] += by[c] * before[c];
      }
    });
  }

  // The best mention of a segment in a context: its cells, and its children to found_.
  void take(const Lattice& lattice, Child child, std::vector<std::int32_t>& cells, std::vector<std::int32_t>& used) {
    const auto [s, context] = child;
    const double* own = &mention_[row(s)];
    const std::int32_t i = lattice.start_of(s);
    const std::int32_t end = lattice.end_of(s);
    siblings<TreeMaxima>(lattice, i, end);
    std::int32_t c = context;
    for (std::int32_t y = -1;;) {
      double top = y >= 0 && limits_.closes(s, y) ? row_[at(c) - 1] : kMinusInfinity;
      std::int32_t best = -1;
      for (std::int32_t z = y + 1; z < columns_; ++z) {
        const double value = pair(c, z) + own[inside_of(c, z)];
        if (limits_.follows(s, y, z) && value > top) {
          top = value;
          best = z;
        }
      }
      if (best < 0) break;
      used.push_back(c * columns_ + best);
      lattice.each_row(s, i, [&](std::int32_t r) { cells.push_back(r * columns_ + best); });
      c = structure_.next(c, best);
      y = best;
    }
    const std::size_t inner = at(c) - 1;
    // Siblings from i to k, from right to left; a mention of all of [i, k) only if that is not the whole.
    for (std::int32_t k = end; k > i;) {
      double top = k == i + 1 ? 0.0 : limits_.word(k - 1) ? within(i, k - 1)[inner] : kMinusInfinity;
      std::int32_t best = -1;
      each_ending(lattice, k, i, [&](std::int32_t other, std::int32_t start) {
        const double value = within(i, start)[inner] + child_[row(other) + inner];
        if (value > top) {
          top = value;
          best = other;
        }
      });
      if (k < end) {
        const std::int32_t whole = lattice.find({i, k});
        if (whole >= 0 && (limits_.must(whole) || child_[row(whole) + inner] > top)) best = whole;
      }
      if (best >= 0) found_.push_back({best, c});
      k = best < 0 ? k - 1 : lattice.start_of(best);
    }
  }

  double by_engine(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) {
    const auto engine = graph_solver(structure_, global_);
    const double log_z = engine->expectations(unit, scores, expected, mask);
    engine->add_global(pairs_);
    return log_z;
  }

  std::vector<double> pairs_;  // expected uses of global cells
  std::vector<double> before_, after_, values_;
  std::vector<double> by_within_, by_mention_, by_child_;
  std::vector<std::int32_t> last_;
  std::vector<Child> found_;
};

}  // namespace

std::unique_ptr<Solver> TreeStructure::solver(std::span<const double> global) const {
  if (global.size() != global_cells()) {
    throw std::invalid_argument("[TreeStructure] " + std::to_string(global.size()) + " global scores, not " +
                                std::to_string(global_cells()));
  }
  return std::make_unique<TreeSolver>(*this, global);
}

}  // namespace spanloom
