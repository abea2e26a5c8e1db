#include "spanloom/inference/choice.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

class ChoiceSolver final : public Solver {
 public:
  explicit ChoiceSolver(const ChoiceStructure& structure) : structure_(structure) {}

  double expectations(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) override {
    const std::size_t columns = structure_.columns();
    const std::size_t stride = structure_.stride();
    scores = masked_(scores, mask, unit.sites, columns, stride);
    double log_z = 0;
    for (std::size_t t = 0; t < unit.sites; ++t) {
      const double* row = scores + t * stride;
      double* out = expected + t * stride;
      const double top = *std::max_element(row, row + columns);
      if (!std::isfinite(top)) return graph_solver(structure_, {})->expectations(unit, scores, expected);
      log_z += top;
      for (std::size_t y = 0; y < columns; ++y) out[y] = row[y] - top;
      std::fill(out + columns, out + stride, kMinusInfinity);
    }
    kernels::exp_all(expected, unit.sites * stride);
    double product = 1;  // of a few sums at a time, so that one log serves many sites
    for (std::size_t t = 0; t < unit.sites; ++t) {
      double* out = expected + t * stride;
      double sum = 0;
      for (std::size_t y = 0; y < stride; ++y) sum += out[y];
      const double inverse = 1.0 / sum;
      for (std::size_t y = 0; y < stride; ++y) out[y] *= inverse;
      product *= sum;
      if (product > 1e100) {
        log_z += std::log(product);
        product = 1;
      }
    }
    return log_z + std::log(product);
  }

  void add_global(std::span<double>) override {}

  double best(Unit unit, const double* scores, std::vector<std::int32_t>& cells, bool,
              const std::uint8_t* mask) override {
    const std::size_t columns = structure_.columns();
    const std::size_t stride = structure_.stride();
    scores = masked_(scores, mask, unit.sites, columns, stride);
    double total = 0;
    cells.clear();
    for (std::size_t t = 0; t < unit.sites; ++t) {
      const double* row = scores + t * stride;
      const double* top = std::max_element(row, row + columns);
      cells.push_back(static_cast<std::int32_t>(t * columns + static_cast<std::size_t>(top - row)));
      total += *top;
    }
    if (total == kMinusInfinity) cells.clear();
    return total;
  }

 private:
  const ChoiceStructure& structure_;
  MaskedScores masked_;
};

}  // namespace

ChoiceStructure::ChoiceStructure(std::size_t columns) : columns_(columns) {
  if (columns == 0) throw std::invalid_argument("[ChoiceStructure] there must be at least one column, received 0");
}

std::unique_ptr<Solver> ChoiceStructure::solver(std::span<const double> global) const {
  if (!global.empty()) throw std::invalid_argument("[ChoiceStructure] takes no global scores");
  return std::make_unique<ChoiceSolver>(*this);
}

std::shared_ptr<const Graph> ChoiceStructure::graph(Unit unit) const {
  GraphBuilder builder(static_cast<std::int64_t>(unit.sites * columns_));
  builder.node();
  builder.edge({}, {});
  for (std::int32_t t = 0; t < static_cast<std::int32_t>(unit.sites); ++t) {
    builder.node();
    for (std::size_t y = 0; y < columns_; ++y) {
      const std::int32_t tails[] = {t};
      const std::int32_t cells[] = {t * static_cast<std::int32_t>(columns_) + static_cast<std::int32_t>(y)};
      builder.edge(tails, cells);
    }
  }
  return std::make_shared<const Graph>(builder.finish());
}

}  // namespace spanloom
