#include "spanloom/inference/structure.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

class GraphSolver final : public Solver {
 public:
  GraphSolver(const Structure& structure, std::span<const double> global)
      : structure_(structure), global_(global.begin(), global.end()), global_expected_(global.size(), 0.0) {}

  double expectations(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) override {
    const auto graph = load(unit, scores, mask);
    const std::size_t sites = unit.sites;
    cell_expected_.assign(cell_scores_.size(), 0.0);
    const double log_z = spanloom::expectations(*graph, cell_scores_, cell_expected_);
    const std::size_t columns = structure_.columns();
    const std::size_t stride = structure_.stride();
    for (std::size_t t = 0; t < sites; ++t) {
      double* row = expected + t * stride;
      std::copy_n(cell_expected_.data() + t * columns, columns, row);
      std::fill(row + columns, row + stride, 0.0);
    }
    for (std::size_t g = 0; g < global_.size(); ++g) global_expected_[g] += cell_expected_[sites * columns + g];
    return log_z;
  }

  void add_global(std::span<double> out) override {
    for (std::size_t g = 0; g < global_.size(); ++g) out[g] += global_expected_[g];
    std::fill(global_expected_.begin(), global_expected_.end(), 0.0);
  }

  double best(Unit unit, const double* scores, std::vector<std::int32_t>& cells, bool with_global,
              const std::uint8_t* mask) override {
    const auto graph = load(unit, scores, mask);
    const Derivation found = spanloom::best(*graph, cell_scores_);
    const auto site_end = static_cast<std::int32_t>(unit.sites * structure_.columns());
    cells.clear();
    for (const std::int64_t e : found.edges) {
      for (std::int64_t i = graph->cell_ptr[e]; i < graph->cell_ptr[e + 1]; ++i) {
        if (with_global || graph->cells[i] < site_end) cells.push_back(graph->cells[i]);
      }
    }
    std::sort(cells.begin(), cells.end());
    return found.score;
  }

 private:
  std::shared_ptr<const Graph> load(Unit unit, const double* scores, const std::uint8_t* mask) {
    const std::size_t sites = unit.sites;
    const std::size_t columns = structure_.columns();
    const std::size_t stride = structure_.stride();
    cell_scores_.resize(sites * columns + global_.size());
    for (std::size_t t = 0; t < sites; ++t)
      std::copy_n(scores + t * stride, columns, cell_scores_.data() + t * columns);
    std::copy(global_.begin(), global_.end(), cell_scores_.begin() + static_cast<std::ptrdiff_t>(sites * columns));
    return mask == nullptr ? structure_.graph(unit) : structure_.graph(unit, mask);
  }

  const Structure& structure_;
  std::vector<double> global_;
  std::vector<double> global_expected_;
  std::vector<double> cell_scores_;
  std::vector<double> cell_expected_;
};

}  // namespace

const double* MaskedScores::operator()(const double* scores, const std::uint8_t* mask, std::size_t sites,
                                       std::size_t columns, std::size_t stride) {
  if (mask == nullptr) return scores;
  table_.resize(sites * stride);
  for (std::size_t t = 0; t < sites; ++t) {
    const double* from = scores + t * stride;
    const std::uint8_t* allowed = mask + t * columns;
    double* to = &table_[t * stride];
    for (std::size_t y = 0; y < columns; ++y) to[y] = allowed[y] ? from[y] : kMinusInfinity;
    for (std::size_t y = columns; y < stride; ++y) to[y] = 0.0;
  }
  return table_.data();
}

std::shared_ptr<const Graph> Structure::graph(Unit unit, const std::uint8_t* mask) const {
  std::vector<bool> forbidden(unit.sites * columns());
  for (std::size_t c = 0; c < forbidden.size(); ++c) forbidden[c] = mask[c] == 0;
  return std::make_shared<const Graph>(without(*graph(unit), forbidden));
}

std::unique_ptr<Solver> graph_solver(const Structure& structure, std::span<const double> global) {
  if (global.size() != structure.global_cells()) {
    throw std::invalid_argument("[Structure] " + std::to_string(global.size()) + " global scores, not " +
                                std::to_string(structure.global_cells()));
  }
  return std::make_unique<GraphSolver>(structure, global);
}

void GraphStructure::set(std::size_t sites, Graph graph) {
  graph.check();
  const auto cells = static_cast<std::int64_t>(sites * columns_ + global_cells_);
  if (graph.cell_count != cells) {
    throw std::invalid_argument("[GraphStructure] a graph for " + std::to_string(sites) + " sites needs " +
                                std::to_string(cells) + " cells, this one has " + std::to_string(graph.cell_count));
  }
  graphs_[sites] = std::make_shared<const Graph>(std::move(graph));
}

std::unique_ptr<Solver> GraphStructure::solver(std::span<const double> global) const {
  return graph_solver(*this, global);
}

std::shared_ptr<const Graph> GraphStructure::graph(Unit unit) const {
  const auto found = graphs_.find(unit.sites);
  if (found == graphs_.end()) {
    throw std::invalid_argument("[GraphStructure] no graph was given for " + std::to_string(unit.sites) + " sites");
  }
  return found->second;
}

}  // namespace spanloom
