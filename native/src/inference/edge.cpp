#include "spanloom/inference/edge.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kX = 0, kS = 1, kE = 2;
constexpr std::size_t kInside[] = {3, 4, 5, 6, 7};  // ES, C, CS, EC, ECS: the edges from I to I
constexpr std::size_t kStride = kernels::padded(EdgeStructure::kSeparators);

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

  // alpha_[2 g], alpha_[2 g + 1]: scaled sum of the paths that end in O, in I, after gap g; they add up to 1.
  double expectations(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) override {
    const std::size_t sites = unit.sites;
    if (sites == 0) return 0.0;
    scores = masked_(scores, mask, sites, EdgeStructure::kSeparators, kStride);
    double log_z = 0;
    if (!potentials(sites, scores, log_z) || !forward(sites, log_z) || !backward(sites, expected)) {
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
    exp_.resize(sites * kStride);
    ways_.resize(sites);
    for (std::size_t g = 0; g < sites; ++g) {
      const double* row = scores + g * kStride;
      double* out = &exp_[g * kStride];
      double top = kMinusInfinity;
      if (g > 0 && g + 1 < sites) {
        double low = row[0];
        for (std::size_t k = 0; k < kStride; ++k) {
          top = std::max(top, row[k]);
          low = std::min(low, row[k]);
        }
        if (!std::isfinite(top)) return false;
        for (std::size_t k = 0; k < kStride; ++k) out[k] = row[k] - top;
        ways_[g] = low > kMinusInfinity ? Ways{true, true, true, true} : ways(out);
      } else {
        for (std::size_t k = 0; k < kStride; ++k) {
          out[k] = legal(g, sites - 1, k) ? row[k] : kMinusInfinity;
          top = std::max(top, out[k]);
        }
        if (!std::isfinite(top)) return false;
        for (std::size_t k = 0; k < kStride; ++k) out[k] -= top;
        ways_[g] = ways(out);
      }
      log_z += top;
    }
    kernels::exp_all(exp_.data(), sites * kStride);
    return true;
  }

  bool forward(std::size_t sites, double& log_z) {
    alpha_.resize(2 * sites);
    double o = 1;
    double i = 0;
    bool may_o = true, may_i = false;  // whether a path can be there
    double scale = 1;                  // the product of a few row sums at a time, so that one log serves many rows
    for (std::size_t g = 0; g < sites; ++g) {
      const double* row = &exp_[g * kStride];
      const double into_o = o * row[kX] + i * row[kE];
      const double into_i = o * row[kS] + i * inside(row);
      const double sum = into_o + into_i;
      const Ways& way = ways_[g];
      const bool was_o = may_o;
      may_o = (was_o && way.stay) || (may_i && way.leave);
      may_i = (was_o && way.enter) || (may_i && way.inside);
      if (!(sum > kTooSmall) || (may_o && !(into_o > kTooSmall)) || (may_i && !(into_i > kTooSmall))) return false;
      const double inverse = 1.0 / sum;
      alpha_[2 * g] = o = into_o * inverse;
      alpha_[2 * g + 1] = i = into_i * inverse;
      scale *= sum;
      if (scale < 1e-100 || scale > 1e100) {
        log_z += std::log(scale);
        scale = 1;
      }
    }
    log_z += std::log(scale);
    return true;
  }

  // o, i: scaled sums of the paths from O, from I, after gap g to the end.
  bool backward(std::size_t sites, double* expected) {
    double o = 1;
    double i = 0;
    bool may_o = true, may_i = false;  // whether a path can go on from there
    for (std::size_t g = sites; g-- > 0;) {
      const double* row = &exp_[g * kStride];
      double* out = expected + g * kStride;
      const double before_o = g > 0 ? alpha_[2 * g - 2] : 1.0;
      const double before_i = g > 0 ? alpha_[2 * g - 1] : 0.0;
      const double next_o = row[kX] * o + row[kS] * i;
      const double next_i = row[kE] * o + inside(row) * i;
      const double norm = before_o * next_o + before_i * next_i;
      const Ways& way = ways_[g];
      const bool was_o = may_o;
      may_o = (was_o && way.stay) || (may_i && way.enter);
      may_i = (was_o && way.leave) || (may_i && way.inside);
      if (!(norm > kTooSmall) || (may_o && !(next_o > kTooSmall)) || (may_i && !(next_i > kTooSmall))) return false;
      const double inverse = 1.0 / norm;
      out[kX] = row[kX] * before_o * o * inverse;
      out[kS] = row[kS] * before_o * i * inverse;
      out[kE] = row[kE] * before_i * o * inverse;
      const double both = before_i * i * inverse;
      for (const std::size_t k : kInside) out[k] = row[k] * both;
      const double scale = 1.0 / (next_o + next_i);
      o = next_o * scale;
      i = next_i * scale;
    }
    return true;
  }

  // Which of the four ways from one token to the next some separator allows, given scores that are -inf if it does not.
  struct Ways {
    bool stay, enter, leave, inside;
  };
  static Ways ways(const double* row) {
    bool inside = false;
    for (const std::size_t k : kInside) inside |= row[k] != kMinusInfinity;
    return {row[kX] != kMinusInfinity, row[kS] != kMinusInfinity, row[kE] != kMinusInfinity, inside};
  }

  static double inside(const double* row) { return ((row[3] + row[4]) + (row[5] + row[6])) + row[7]; }

  const EdgeStructure& structure_;
  MaskedScores masked_;
  std::vector<double> exp_, alpha_;
  std::vector<Ways> ways_;
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
