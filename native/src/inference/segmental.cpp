#include "spanloom/inference/segmental.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "segmental_search.hpp"
#include "spanloom/inference/segment_sums.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

using S = SegmentalStructure;
constexpr std::size_t kStride = kernels::padded(S::kColumns);
constexpr std::size_t kGapColumns = S::kCS + 1;
// Scores beyond these make potentials that doubles may not hold: the general engine does such sentences.
constexpr double kHighest = 200, kWidest = 600;
// Sums of paths below the least double are lost. If what follows them is larger than this, they may have mattered.
constexpr double kTooLarge = 1e200;

// Whether a column can stand at the last gap, where nothing starts or goes on.
bool may_be_last(std::size_t column) { return column == S::kX || column == S::kE; }

class SegmentalSolver final : public Solver {
 public:
  SegmentalSolver(const SegmentalStructure& structure, std::span<const double> global)
      : structure_(structure), sums_(kStride) {
    for (std::size_t g = 0; g < S::kGlobals; ++g) {
      global_[g] = global[g];
      factor_[g] = std::exp(global[g]);
      extreme_ |= !(std::abs(global[g]) < kHighest) && global[g] != kMinusInfinity;
    }
  }

  double expectations(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    sums_.add_up(lattice, scores);
    ends_.read(lattice, sums_, mask);
    double log_z = 0;
    added_ = {};
    if (extreme_ || !potentials(lattice, scores, log_z) || !chains() || !forward(lattice, log_z) ||
        !backward(lattice, expected)) {
      const auto engine = graph_solver(structure_, global_);
      log_z = engine->expectations(unit, scores, expected, mask);
      engine->add_global(global_expected_);
      return log_z;
    }
    for (std::size_t g = 0; g < S::kGlobals; ++g) global_expected_[g] += added_[g];
    return log_z;
  }

  void add_global(std::span<double> out) override {
    for (std::size_t g = 0; g < S::kGlobals; ++g) out[g] += global_expected_[g];
    global_expected_ = {};
  }

  double best(Unit unit, const double* scores, std::vector<std::int32_t>& cells, bool with_global,
              const std::uint8_t* mask) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    sums_.add_up(lattice, scores);
    ends_.read(lattice, sums_, mask);
    return search_.best(lattice, scores, ends_, global_, with_global, cells);
  }

 private:
  std::size_t at(std::int32_t gap) const { return static_cast<std::size_t>(gap) * width_; }
  bool potentials(const Lattice& lattice, const double* scores, double& log_z);
  bool chains();
  bool forward(const Lattice& lattice, double& log_z);
  bool backward(const Lattice& lattice, double* expected);
  void share(const Lattice& lattice, std::int32_t i);

  const SegmentalStructure& structure_;
  std::array<double, S::kGlobals> global_{}, factor_{}, global_expected_{}, added_{};
  bool extreme_ = false;
  SegmentSums sums_;
  SegmentalEnds ends_;
  std::size_t width_ = 0;                   // states of a gap
  std::vector<double> gap_;                 // [gap, kGapColumns]: potentials, then expected uses
  std::vector<double> odds_[2], reach_[2];  // by slot: of the end as a mention; of all chains whose furthest end it is
  std::vector<double> alpha_, scale_;       // [gap, state]: sums of paths, which add up to 1; what they were divided by
  std::vector<double> beta_, next_, inner_, before_, chosen_[2];
  SegmentalSearch search_;
  double last_ = 0;
};

// gap_[g, c] = exp(score - top of the gap), 0 where the column cannot stand. False if they span too much.
bool SegmentalSolver::potentials(const Lattice& lattice, const double* scores, double& log_z) {
  const auto gaps = static_cast<std::size_t>(lattice.gaps());
  gap_.resize(gaps * kGapColumns);
  for (std::size_t g = 0; g < gaps; ++g) {
    const double* row = scores + static_cast<std::size_t>(lattice.gap(static_cast<std::int32_t>(g))) * kStride;
    double* out = &gap_[g * kGapColumns];
    double top = kMinusInfinity;
    for (std::size_t c = 0; c < kGapColumns; ++c) {
      const bool can = g + 1 == gaps ? may_be_last(c) : ends_.least[g] < 0 || (c & S::kS) != 0;
      out[c] = can ? row[c] : kMinusInfinity;
      top = std::max(top, out[c]);
    }
    if (!std::isfinite(top)) return false;
    for (std::size_t c = 0; c < kGapColumns; ++c) {
      if (out[c] < top - kWidest && out[c] != kMinusInfinity) return false;
      out[c] -= top;
    }
    log_z += top;
  }
  kernels::exp_all(gap_.data(), gap_.size());
  return true;
}

// odds_ = exp(score), reach_ at the end d = odds_ there times the product of 1 + odds_ * shorter over the ends before.
bool SegmentalSolver::chains() {
  for (const std::size_t in : {0, 1}) {
    odds_[in] = ends_.score[in];
    reach_[in].resize(odds_[in].size());
    for (const double score : odds_[in]) {
      if (!(score < kHighest) || (score < -kWidest && score != kMinusInfinity)) return false;
    }
    kernels::exp_all(odds_[in].data(), odds_[in].size());
    for (std::size_t i = 0; i + 1 < ends_.first.size(); ++i) {
      double before = 1;
      for (std::int32_t d = 0; d < ends_.size[i]; ++d) {
        const std::size_t slot = ends_.first[i] + static_cast<std::size_t>(d);
        reach_[in][slot] = d < ends_.least[i] ? 0.0 : before * odds_[in][slot];
        before *= (ends_.must[slot] ? 0.0 : 1.0) + odds_[in][slot] * factor_[S::kShorter];
      }
      if (!(before < 1e250) || (ends_.least[i] >= 0 && !(before > 1e-250))) return false;
    }
  }
  return true;
}

bool SegmentalSolver::forward(const Lattice& lattice, double& log_z) {
  const std::int32_t n = lattice.tokens;
  const std::int32_t longest = ends_.longest;
  width_ = static_cast<std::size_t>(longest) + 2;
  alpha_.assign(at(n + 1), 0.0);
  scale_.assign(static_cast<std::size_t>(n) + 1, 1.0);
  alpha_[0] = 1;
  double product = 1;  // of a few scales at a time, so that one log serves many gaps
  for (std::int32_t i = 0; i < n; ++i) {
    const double* x = &gap_[static_cast<std::size_t>(i) * kGapColumns];
    const double* a = &alpha_[at(i)];
    double* b = &alpha_[at(i + 1)];
    const double* out = &reach_[0][ends_.first[i]];
    const double* in = &reach_[1][ends_.first[i]];
    b[0] = a[0] * x[S::kX] + a[1] * x[S::kE];
    const double start = a[0] * x[S::kS] + a[1] * x[S::kES];
    double sum = b[0];
    double ends = 0, open = 0;  // furthest ends before m, and states before it
    for (std::int32_t m = 1; m <= longest; ++m) {
      const bool end = m <= ends_.size[i];
      const double w = end ? in[m - 1] : 0.0;
      b[m] = a[m + 1] * (x[S::kC] + x[S::kCS] * (ends + factor_[S::kCommonEnd] * w)) +
             x[S::kCS] * factor_[S::kCrossing] * w * open + (end ? start * out[m - 1] : 0.0);
      ends += w;
      open += a[m + 1];
      sum += b[m];
    }
    if (!(sum > 1e-250) || !(sum < 1e250)) return false;
    const double inverse = 1 / sum;
    for (std::int32_t m = 0; m <= longest; ++m) b[m] *= inverse;
    scale_[i] = sum;
    product *= sum;
    if (product < 1e-50 || product > 1e50) {
      log_z += std::log(product);
      product = 1;
    }
  }
  const double* x = &gap_[static_cast<std::size_t>(n) * kGapColumns];
  const double* a = &alpha_[at(n)];
  last_ = a[0] * x[S::kX] + a[1] * x[S::kE];
  log_z += std::log(product) + std::log(last_);
  return last_ > 1e-250;
}

// beta_[state]: the sum over what follows, such that alpha_ * beta_ is a probability; next_: the same at the gap after.
bool SegmentalSolver::backward(const Lattice& lattice, double* expected) {
  const std::int32_t n = lattice.tokens;
  const std::int32_t longest = ends_.longest;
  const auto states = static_cast<std::size_t>(longest) + 2;
  double* last = &gap_[static_cast<std::size_t>(n) * kGapColumns];
  beta_.assign(states, 0.0);
  next_.assign(states, 0.0);
  inner_.assign(states, 0.0);
  before_.assign(states, 0.0);
  beta_[0] = last[S::kX] / last_;
  beta_[1] = last[S::kE] / last_;
  last[S::kX] *= alpha_[at(n)] / last_;
  last[S::kE] *= alpha_[at(n) + 1] / last_;
  for (std::int32_t i = n; i-- > 0;) {
    double* x = &gap_[static_cast<std::size_t>(i) * kGapColumns];
    const double* a = &alpha_[at(i)];
    const double* out = &reach_[0][ends_.first[i]];
    const double* in = &reach_[1][ends_.first[i]];
    const std::int32_t size = ends_.size[i];
    const double inverse = 1 / scale_[i];
    for (std::size_t m = 0; m < states; ++m) next_[m] = beta_[m] * inverse;
    for (auto& own : chosen_) own.assign(static_cast<std::size_t>(size), 0.0);
    const double start = a[0] * x[S::kS] + a[1] * x[S::kES];
    double from_outside = 0;
    for (std::int32_t d = 0; d < size; ++d) {
      from_outside += out[d] * next_[d + 1];
      chosen_[0][d] = start * out[d] * next_[d + 1];
    }
    double ends = 0, open = 0;
    for (std::int32_t m = 1; m <= longest; ++m) {
      inner_[m] = ends;
      before_[m] = open;
      ends += m <= size ? in[m - 1] : 0.0;
      open += a[m + 1];
    }
    double crossing = 0, outer = 0, goes_on = 0, starts = 0;  // of the ends after m, and of the states after it
    for (std::int32_t m = longest; m >= 1; --m) {
      const double w = m <= size ? in[m - 1] : 0.0;
      const double here = a[m + 1] * next_[m];
      beta_[m + 1] = x[S::kC] * next_[m] + x[S::kCS] * (next_[m] * (inner_[m] + factor_[S::kCommonEnd] * w) +
                                                        factor_[S::kCrossing] * crossing);
      if (!(beta_[m + 1] < kTooLarge)) return false;
      if (m <= size) {
        const double common = x[S::kCS] * w * here * factor_[S::kCommonEnd];
        const double cross = x[S::kCS] * w * next_[m] * before_[m] * factor_[S::kCrossing];
        chosen_[1][m - 1] = x[S::kCS] * w * outer + common + cross;
        starts += chosen_[1][m - 1];
        added_[S::kCommonEnd] += common;
        added_[S::kCrossing] += cross;
      }
      crossing += w * next_[m];
      outer += here;
      goes_on += here;
    }
    beta_[0] = x[S::kX] * next_[0] + x[S::kS] * from_outside;
    beta_[1] = x[S::kE] * next_[0] + x[S::kES] * from_outside;
    if (!(beta_[0] < kTooLarge) || !(beta_[1] < kTooLarge)) return false;
    share(lattice, i);
    x[S::kX] *= a[0] * next_[0];
    x[S::kE] *= a[1] * next_[0];
    x[S::kS] *= a[0] * from_outside;
    x[S::kES] *= a[1] * from_outside;
    x[S::kC] *= goes_on;
    x[S::kCS] = starts;
  }
  sums_.spread(lattice, expected);
  for (std::int32_t g = 0; g <= n; ++g) {
    std::copy_n(&gap_[static_cast<std::size_t>(g) * kGapColumns], kGapColumns,
                expected + static_cast<std::size_t>(lattice.gap(g)) * kStride);
  }
  return true;
}

// From the probabilities of furthest ends, chosen_, to those of all ends from i, in sums_.
void SegmentalSolver::share(const Lattice& lattice, std::int32_t i) {
  double after[2] = {0, 0};
  for (std::int32_t s = lattice.first_segment(i + 1); s-- > lattice.first_segment(i);) {
    const std::int32_t d = lattice.end_of(s) - i - 1;
    const std::size_t slot = ends_.first[i] + static_cast<std::size_t>(d);
    double* out = sums_[s];
    std::fill_n(out, kStride, 0.0);
    for (const std::size_t in : {0, 1}) {
      const double odds = odds_[in][slot] * factor_[S::kShorter];
      const double shorter = after[in] * (ends_.must[slot] ? 1.0 : odds / (1 + odds));
      added_[S::kShorter] += shorter;
      const double p = shorter + chosen_[in][d];
      out[S::kMention] += p;
      out[S::kNested] += in == 1 ? p : 0.0;
      after[in] += chosen_[in][d];
    }
  }
}

}  // namespace

SegmentalStructure::SegmentalStructure(std::shared_ptr<const Lattices> lattices)
    : LatticeStructure(kColumns, std::move(lattices)) {
  if (!lattices_->layout().gaps) throw std::invalid_argument("[SegmentalStructure] the lattices have no rows for gaps");
}

std::unique_ptr<Solver> SegmentalStructure::solver(std::span<const double> global) const {
  if (global.size() != kGlobals) {
    throw std::invalid_argument("[SegmentalStructure] " + std::to_string(global.size()) + " global scores, not " +
                                std::to_string(kGlobals));
  }
  return std::make_unique<SegmentalSolver>(*this, global);
}

}  // namespace spanloom
