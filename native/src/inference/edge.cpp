#include "spanloom/inference/edge.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string>

#include "spanloom/base/aligned.hpp"
#include "spanloom/base/sequence_kernels.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kX = 0, kS = 1, kE = 2;
constexpr std::size_t kInside[] = {3, 4, 5, 6, 7};  // ES, C, CS, EC, ECS: the edges from I to I
constexpr std::size_t kStride = kernels::padded(EdgeStructure::kSeparators);
static_assert(kStride == kernels::kEdgeColumns);

// A scaled value below this may have lost what matters further on: the general engine does such sentences.
constexpr double kTooSmall = 1e-200;

// Whether a separator can stand at a gap: nothing ends or continues at the first one, nothing starts or continues at
// the last one.
bool legal(std::size_t gap, std::size_t last, std::size_t separator) {
  if (gap == 0 && separator != kX && separator != kS) return false;
  return gap != last || separator == kX || separator == kE;
}

class EdgeSolver final : public Solver {
 public:
  explicit EdgeSolver(const EdgeStructure& structure) : structure_(structure) {}

  double expectations(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) override {
    const std::size_t sites = unit.sites;
    if (sites == 0) return 0.0;
    scores = masked_(scores, mask, sites, EdgeStructure::kSeparators, kStride);
    double log_z = 0;
    if (!potentials(sites, scores, log_z) || !sums(sites, scores, log_z) || !marginals(sites, expected)) {
      return graph_solver(structure_, {})->expectations(unit, scores, expected);
    }
    return log_z;
  }

  void add_global(std::span<double>) override {}

  double best(Unit unit, const double* scores, std::vector<std::int32_t>& cells, bool,
              const std::uint8_t* mask) override {
    const std::size_t sites = unit.sites;
    scores = masked_(scores, mask, sites, EdgeStructure::kSeparators, kStride);
    cells.resize(sites);
    if (sites == 0) return 0.0;
    from_o_.resize(sites);
    from_i_.resize(sites);
    double o = 0;
    double i = kMinusInfinity;
    for (std::size_t g = 0; g < sites; ++g) {
      const double* row = scores + g * kStride;
      const bool last = g + 1 == sites;
      // into O: X from O, or E from I
      const double stay = o + row[kX];
      const double leave = i + row[kE];
      from_o_[g] = stay >= leave ? kX : kE;
      // into I: S from O, or the best parallel edge from I
      std::size_t top = kInside[0];
      for (const std::size_t k : kInside) top = row[k] > row[top] ? k : top;
      const double enter = o + row[kS];
      const double inside = i + row[top];
      from_i_[g] = static_cast<std::uint8_t>(enter >= inside ? kS : top);
      o = std::max(stay, leave);
      i = last ? kMinusInfinity : std::max(enter, inside);
    }
    if (o == kMinusInfinity) {
      cells.clear();
      return o;
    }
    bool inside = false;
    for (std::size_t g = sites; g-- > 0;) {
      const std::uint8_t separator = inside ? from_i_[g] : from_o_[g];
      cells[g] = static_cast<std::int32_t>(g * EdgeStructure::kSeparators + separator);
      inside = separator >= kE;
    }
    return o;
  }

 private:
  // exp_[g, k] = exp(scores[g, k] - top of the gap), 0 where a separator cannot stand.
  bool potentials(std::size_t sites, const double* scores, double& log_z) {
    static constexpr double kNoPadding[kStride] = {};
    exp_.resize(sites * kStride);
    tops_.resize(sites);
    kernels::exp_rows(scores, kNoPadding, sites, kStride, exp_.data(), tops_.data());
    for (const std::size_t g : {std::size_t{0}, sites - 1}) {
      for (std::size_t k = 0; k < kStride; ++k) {
        if (!legal(g, sites - 1, k)) exp_[g * kStride + k] = 0.0;
      }
    }
    for (const double top : tops_) log_z += top;
    return std::isfinite(log_z);
  }

  bool marginals(std::size_t sites, double* expected) const {
    return kernels::edge_marginals({exp_.data(), inside_.data(), from_.data(), to_.data()}, sites, kTooSmall, expected);
  }

  bool sums(std::size_t sites, const double* scores, double& log_z) {
    inside_.resize(sites);
    from_.resize(2 * sites);
    to_.resize(2 * sites);
    const double log_scale = kernels::edge_sums(exp_.data(), sites, inside_.data(), from_.data(), to_.data());
    const double last = from_[2 * sites - 2];
    if (!(last > kTooSmall)) return false;
    log_z += log_scale + std::log(last);
    const auto sound = [](double value) { return value > kTooSmall; };
    const auto inner = static_cast<std::ptrdiff_t>(2 * sites - 2);
    return (std::all_of(from_.begin(), from_.begin() + inner, sound) &&
            std::all_of(to_.begin(), to_.begin() + inner, sound)) ||
           small_only_where_impossible(sites, scores);
  }

  // Whether every sum is large enough where a path can be, which the scores say that are -inf.
  bool small_only_where_impossible(std::size_t sites, const double* scores) const {
    const auto large = [](bool may, double value) { return !may || value > kTooSmall; };
    bool o = true, i = false;
    bool sound = true;
    for (std::size_t g = 0; g < sites; ++g) {
      const Ways way = ways(g, sites - 1, scores + g * kStride);
      const bool was_o = o;
      o = (was_o && way.stay) || (i && way.leave);
      i = (was_o && way.enter) || (i && way.inside);
      sound &= large(o, from_[2 * g]) && large(i, from_[2 * g + 1]);
    }
    o = true;
    i = false;
    for (std::size_t g = sites; g-- > 0;) {
      sound &= large(o, to_[2 * g]) && large(i, to_[2 * g + 1]);
      const Ways way = ways(g, sites - 1, scores + g * kStride);
      const bool was_o = o;
      o = (was_o && way.stay) || (i && way.enter);
      i = (was_o && way.leave) || (i && way.inside);
    }
    return sound;
  }

  // Which of the four ways from one token to the next some separator allows.
  struct Ways {
    bool stay, enter, leave, inside;
  };
  static Ways ways(std::size_t gap, std::size_t last, const double* row) {
    const auto may = [&](std::size_t k) { return legal(gap, last, k) && row[k] != kMinusInfinity; };
    return {may(kX), may(kS), may(kE), std::any_of(std::begin(kInside), std::end(kInside), may)};
  }

  const EdgeStructure& structure_;
  MaskedScores masked_;
  AlignedVector<double> exp_, tops_;
  std::vector<double> inside_, from_, to_;  // see kernels::edge_sums
  std::vector<std::uint8_t> from_o_, from_i_;
};

}  // namespace

std::unique_ptr<Solver> EdgeStructure::solver(std::span<const double> global) const {
  if (!global.empty()) {
    throw std::invalid_argument("[EdgeStructure] " + std::to_string(global.size()) + " global scores, not 0");
  }
  return std::make_unique<EdgeSolver>(*this);
}

std::shared_ptr<const Graph> EdgeStructure::graph(Unit unit) const {
  const auto sites = static_cast<std::int32_t>(unit.sites);
  constexpr auto columns = static_cast<std::int32_t>(kSeparators);
  GraphBuilder builder(static_cast<std::int64_t>(sites) * columns);
  // The root of the engine is the end of the sentence: node 0 is the outside before it, then O and I of each token.
  std::int32_t o = builder.node();
  builder.edge({}, {});
  std::int32_t i = -1;  // nothing is open before the first gap
  const auto add = [&builder](std::int32_t tail, std::int32_t cell) {
    if (tail >= 0) builder.edge({{tail}}, {{cell}});
  };
  for (std::int32_t g = 0; g < sites; ++g) {
    const std::int32_t cell = g * columns;
    const std::int32_t next_o = builder.node();
    add(o, cell + static_cast<std::int32_t>(kX));
    add(i, cell + static_cast<std::int32_t>(kE));
    if (g + 1 == sites) break;
    const std::int32_t next_i = builder.node();
    add(o, cell + static_cast<std::int32_t>(kS));
    for (const std::size_t k : kInside) add(i, cell + static_cast<std::int32_t>(k));
    o = next_o;
    i = next_i;
  }
  return std::make_shared<const Graph>(builder.finish());
}

}  // namespace spanloom
