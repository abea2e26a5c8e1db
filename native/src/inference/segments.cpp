#include "spanloom/inference/segments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

#include "spanloom/inference/segment_sums.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

// A pair's potential below this, relative to the largest, sends sentences to the general engine. Above it, what a
// scaled value loses by underflow is below 1e-100 of any result: columns at one boundary differ later by their pairs
// only.
constexpr double kTooSmall = 1e-60;

class SegmentSolver final : public Solver, public SegmentBeliefs {
 public:
  SegmentSolver(const SegmentStructure& structure, std::span<const double> global)
      : structure_(structure),
        columns_(structure.columns()),
        stride_(structure.stride()),
        global_(global.begin(), global.end()),
        transition_(columns_ * stride_, kMinusInfinity),
        potential_(columns_ * stride_, 0.0),
        reversed_(columns_ * stride_, 0.0),
        pairs_(columns_ * stride_, 0.0),
        extra_global_(columns_ * columns_, 0.0),
        sums_(stride_) {
    shift_ = *std::max_element(global_.begin(), global_.end());
    for (std::size_t x = 0; x < columns_; ++x) {
      for (std::size_t y = 0; y < columns_; ++y) {
        const double score = global_[x * columns_ + y];
        const double p = std::exp(score - shift_);
        transition_[x * stride_ + y] = score;
        potential_[x * stride_ + y] = reversed_[y * stride_ + x] = p;
        extreme_ |= !(p > kTooSmall);
      }
    }
  }

  double expectations(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    if (lattice.tokens == 0) return 0.0;
    if (extreme_) return by_engine(unit, scores, expected, mask);
    add_up(lattice, scores, mask);
    const double log_z = forward(lattice);
    if (!std::isfinite(log_z)) {
      std::fill_n(expected, unit.sites * stride_, 0.0);
      return log_z;
    }
    backward(lattice);
    add_pairs(lattice);
    sums_.spread(lattice, expected);
    return log_z;
  }

  const double* probabilities(Unit unit, const double* scores) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    if (lattice.tokens == 0) return nullptr;
    if (extreme_) {
      expected_.resize(unit.sites * stride_);
      by_engine(unit, scores, expected_.data(), nullptr);
      return &expected_[at(lattice.span(0))];
    }
    add_up(lattice, scores, nullptr);
    if (std::isfinite(forward(lattice))) {
      backward(lattice);
    } else {
      std::fill_n(sums_[0], at(lattice.segments()), 0.0);
    }
    return sums_[0];
  }

  void add_global(std::span<double> out) override {
    for (std::size_t x = 0; x < columns_; ++x) {
      for (std::size_t y = 0; y < columns_; ++y) {
        out[x * columns_ + y] +=
            pairs_[x * stride_ + y] * potential_[x * stride_ + y] + extra_global_[x * columns_ + y];
      }
    }
    std::fill(pairs_.begin(), pairs_.end(), 0.0);
    std::fill(extra_global_.begin(), extra_global_.end(), 0.0);
  }

  double best(Unit unit, const double* scores, std::vector<std::int32_t>& cells, bool with_global,
              const std::uint8_t* mask) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    const std::int32_t n = lattice.tokens;
    cells.clear();
    if (n == 0) return 0.0;
    add_up(lattice, scores, mask);
    // in_[i, y]: the best score of what comes before a segment of column y at i; from_[i, y]: the column before it.
    // best_[y] at t: the best score of what ends after token t in column y; back_[t, y]: its last segment.
    in_.assign(static_cast<std::size_t>(n + 1) * stride_, 0.0);
    from_.assign(static_cast<std::size_t>(n + 1) * stride_, 0);
    back_.assign(static_cast<std::size_t>(n) * stride_, 0);
    zeros_.assign(stride_, 0.0);
    best_.resize(stride_);
    for (std::int32_t t = 0; t < n; ++t) {
      std::fill(best_.begin(), best_.end(), kMinusInfinity);
      std::int32_t* back = &back_[at(t)];
      for (std::int64_t e = lattice.end_ptr[t]; e < lattice.end_ptr[t + 1]; ++e) {
        const std::int32_t s = lattice.by_end[e];
        const double* value = sums_[s];
        const double* in = &in_[at(lattice.start_of(s))];
        for (std::size_t y = 0; y < stride_; ++y) {
          const double sum = value[y] + in[y];
          back[y] = sum > best_[y] ? s : back[y];
          best_[y] = std::max(best_[y], sum);
        }
      }
      kernels::max_step(best_.data(), transition_.data(), zeros_.data(), columns_, stride_, &in_[at(t + 1)],
                        &from_[at(t + 1)]);
    }
    const auto top = std::max_element(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(columns_));
    if (*top == kMinusInfinity) return *top;
    std::vector<std::int32_t> path;  // columns, last first
    auto y = static_cast<std::size_t>(top - best_.begin());
    const auto width = static_cast<std::int32_t>(columns_);
    for (std::int32_t j = n; j > 0;) {
      const std::int32_t s = back_[at(j - 1) + y];
      lattice.each_row(s, lattice.start_of(s),
                       [&](std::int32_t row) { cells.push_back(row * width + static_cast<std::int32_t>(y)); });
      path.push_back(static_cast<std::int32_t>(y));
      j = lattice.start_of(s);
      y = static_cast<std::size_t>(from_[at(j) + y]);
    }
    std::sort(cells.begin(), cells.end());
    for (std::size_t p = path.size(); with_global && p-- > 1;) {
      cells.push_back((lattice.rows() + path[p]) * width + path[p - 1]);
    }
    return *top;
  }

 private:
  std::size_t at(std::int32_t row) const { return static_cast<std::size_t>(row) * stride_; }

  // sums_[s][y]: the score of segment s with column y; -inf where the mask forbids it, for column 0 unless it is one
  // word, and for padding.
  void add_up(const Lattice& lattice, const double* scores, const std::uint8_t* mask) {
    sums_.add_up(lattice, scores);
    for (std::int32_t s = 0; s < lattice.segments(); ++s) {
      double* sum = sums_[s];
      if (lattice.end_of(s) - lattice.start_of(s) > 1) sum[0] = kMinusInfinity;
      for (std::size_t y = columns_; y < stride_; ++y) sum[y] = kMinusInfinity;
      if (mask == nullptr) continue;
      const std::uint8_t* allowed = mask + static_cast<std::size_t>(s) * columns_;
      for (std::size_t y = 0; y < columns_; ++y) sum[y] = allowed[y] ? sum[y] : kMinusInfinity;
    }
  }

  // alpha_[j, y]: the sum over segmentations of the first j tokens that end in y, scaled by a power of two so that its
  // row sums to at least 1 and less than 2; scale_[j]: the log of what was divided by.
  // in_[i, y] = sum over x of alpha_[i, x] * potential_[x, y].
  // Afterwards sums_[s, y] = exp(score - a maximum per end) over that power, such that alpha_[j, y] = sum of in_ *
  // sums_.
  double forward(const Lattice& lattice) {
    const std::int32_t n = lattice.tokens;
    alpha_.resize(at(n + 1));
    in_.resize(at(n + 1));
    scale_.assign(static_cast<std::size_t>(n) + 1, 0.0);
    std::fill_n(in_.begin(), columns_, 1.0);
    std::fill(in_.begin() + static_cast<std::ptrdiff_t>(columns_), in_.begin() + static_cast<std::ptrdiff_t>(stride_),
              0.0);
    for (std::int32_t t = 0; t < n; ++t) {
      const std::int64_t first = lattice.end_ptr[t];
      const std::int64_t last = lattice.end_ptr[t + 1];
      double top = kMinusInfinity;
      for (std::int64_t e = first; e < last; ++e) {
        const std::int32_t s = lattice.by_end[e];
        const double* sum = sums_[s];
        double high = sum[0];
        for (std::size_t y = 1; y < stride_; ++y) high = std::max(high, sum[y]);
        top = std::max(top, high + before(lattice.start_of(s)));
      }
      double* now = &alpha_[at(t + 1)];
      std::fill_n(now, stride_, 0.0);
      if (top == kMinusInfinity) {
        for (std::int64_t e = first; e < last; ++e) std::fill_n(sums_[lattice.by_end[e]], stride_, 0.0);
        std::fill_n(&in_[at(t + 1)], stride_, 0.0);
        scale_[t + 1] = kMinusInfinity;
        continue;
      }
      for (std::int64_t e = first; e < last; ++e) {
        const std::int32_t s = lattice.by_end[e];
        double* sum = sums_[s];
        const double shift = before(lattice.start_of(s)) - top;
        if (shift == kMinusInfinity) {
          std::fill_n(sum, stride_, 0.0);
          continue;
        }
        for (std::size_t y = 0; y < stride_; ++y) sum[y] += shift;
        kernels::exp_all(sum, stride_);
        const double* in = &in_[at(lattice.start_of(s))];
        for (std::size_t y = 0; y < stride_; ++y) now[y] += in[y] * sum[y];
      }
      const double sum_now = kernels::sum(now, stride_);
      if (!(sum_now > 0) || !std::isfinite(sum_now)) return std::numeric_limits<double>::quiet_NaN();
      const int exponent = std::ilogb(sum_now);
      const double inverse = std::ldexp(1.0, -exponent);
      for (std::size_t y = 0; y < stride_; ++y) now[y] *= inverse;
      for (std::int64_t e = first; e < last; ++e) {
        double* sum = sums_[lattice.by_end[e]];
        for (std::size_t y = 0; y < stride_; ++y) sum[y] *= inverse;
      }
      scale_[t + 1] = top + exponent * std::numbers::ln2;
      kernels::vector_matrix(now, potential_.data(), columns_, stride_, &in_[at(t + 1)]);
    }
    last_ = kernels::sum(&alpha_[at(n)], stride_);
    return scale_[n] + std::log(last_);
  }

  // The log of what in_[i] was divided by.
  double before(std::int32_t i) const { return i == 0 ? 0.0 : scale_[i] + shift_; }

  // beta_[j, y]: the sum over what follows column y at j, scaled so that alpha_ * beta_ is the probability of a
  // boundary there with that column. Afterwards sums_[s, y] is the probability of segment s with column y.
  void backward(const Lattice& lattice) {
    const std::int32_t n = lattice.tokens;
    beta_.resize(at(n + 1));
    std::fill_n(&beta_[at(n)], stride_, 1.0 / last_);
    out_.resize(at(n));
    for (std::int32_t i = n; i-- > 0;) {
      double* out = &out_[at(i)];
      std::fill_n(out, stride_, 0.0);
      const double* in = &in_[at(i)];
      for (std::int32_t s = lattice.first_segment(i); s < lattice.first_segment(i + 1); ++s) {
        double* sum = sums_[s];
        const double* beta = &beta_[at(lattice.end_of(s))];
        for (std::size_t y = 0; y < stride_; ++y) {
          const double onward = sum[y] * beta[y];
          out[y] += onward;
          sum[y] = in[y] * onward;
        }
      }
      if (i > 0) kernels::vector_matrix(out, reversed_.data(), columns_, stride_, &beta_[at(i)]);
    }
  }

  void add_pairs(const Lattice& lattice) {
    const auto inner = static_cast<std::size_t>(lattice.tokens) - 1;
    if (inner > 0) kernels::add_outers(&alpha_[at(1)], &out_[at(1)], inner, columns_, stride_, pairs_.data());
  }

  double by_engine(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) {
    const auto engine = graph_solver(structure_, global_);
    const double log_z = engine->expectations(unit, scores, expected, mask);
    engine->add_global(extra_global_);
    return log_z;
  }

  const SegmentStructure& structure_;
  std::size_t columns_;
  std::size_t stride_;
  std::vector<double> global_;
  std::vector<double> transition_;  // [C, stride]: scores
  std::vector<double> potential_;   // [C, stride]: exp(transition - shift_)
  std::vector<double> reversed_;    // its transpose
  std::vector<double> pairs_;       // [C, stride]: expected pairs, without their potential
  std::vector<double> extra_global_;
  double shift_ = 0;
  double last_ = 0;  // the sum of the last row of alpha_
  bool extreme_ = false;
  SegmentSums sums_;
  std::vector<double> alpha_, beta_, in_, out_, scale_, best_, zeros_, expected_;
  std::vector<std::int32_t> back_, from_;
};

std::unique_ptr<SegmentSolver> made(const SegmentStructure& structure, std::span<const double> global) {
  if (global.size() != structure.global_cells()) {
    throw std::invalid_argument("[SegmentStructure] " + std::to_string(global.size()) + " global scores, not " +
                                std::to_string(structure.global_cells()));
  }
  return std::make_unique<SegmentSolver>(structure, global);
}

}  // namespace

std::unique_ptr<Solver> SegmentStructure::solver(std::span<const double> global) const { return made(*this, global); }

std::unique_ptr<SegmentBeliefs> SegmentStructure::beliefs(std::span<const double> global) const {
  return made(*this, global);
}

// Nodes: for every boundary, one per column that a segment may have that starts there (summing the columns before it),
// and one per column of the segment that ends there.
std::shared_ptr<const Graph> SegmentStructure::graph(Unit unit, const std::uint8_t* mask) const {
  const Lattice lattice = lattices_->of(unit.number, unit.sites);
  const auto columns = static_cast<std::int32_t>(columns_);
  const std::int32_t first_global = lattice.rows() * columns;
  GraphBuilder builder(static_cast<std::int64_t>(first_global) + columns * columns);
  std::vector<std::int32_t> starts, ends;  // [boundary, column]: nodes
  std::vector<std::int32_t> cells;
  for (std::int32_t t = 0; t < lattice.tokens; ++t) {
    for (std::int32_t y = 0; y < columns; ++y) {
      starts.push_back(builder.node());
      if (t == 0) builder.edge({}, {});
      for (std::int32_t x = 0; t > 0 && x < columns; ++x) {
        const std::int32_t tails[] = {ends[static_cast<std::size_t>((t - 1) * columns + x)]};
        const std::int32_t pair[] = {first_global + x * columns + y};
        builder.edge(tails, pair);
      }
    }
    for (std::int32_t y = 0; y < columns; ++y) {
      ends.push_back(builder.node());
      for (std::int64_t e = lattice.end_ptr[t]; e < lattice.end_ptr[t + 1]; ++e) {
        const std::int32_t s = lattice.by_end[e];
        const std::int32_t i = lattice.start_of(s);
        if (y == 0 && t > i) continue;
        if (mask != nullptr && mask[s * columns + y] == 0) continue;
        cells.clear();
        lattice.each_row(s, i, [&](std::int32_t row) { cells.push_back(row * columns + y); });
        const std::int32_t tails[] = {starts[static_cast<std::size_t>(i * columns + y)]};
        builder.edge(tails, cells);
      }
    }
  }
  builder.node();
  if (lattice.tokens == 0) builder.edge({}, {});
  for (std::int32_t y = 0; lattice.tokens > 0 && y < columns; ++y) {
    const std::int32_t tails[] = {ends[static_cast<std::size_t>((lattice.tokens - 1) * columns + y)]};
    builder.edge(tails, {});
  }
  return std::make_shared<const Graph>(builder.finish());
}

}  // namespace spanloom
