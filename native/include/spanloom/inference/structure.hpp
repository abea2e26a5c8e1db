#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "spanloom/base/kernels.hpp"
#include "spanloom/inference/graph.hpp"

namespace spanloom {

// One sentence as structures see it: how many sites it has, and its number among the sentences at hand, for structures
// whose graph is the sentence's own.
struct Unit {
  std::size_t sites = 0;
  std::size_t number = 0;
};

// Inference for the sentences of one corpus under fixed global scores. It has buffers: one solver per thread.
//
// The cells of a sentence with n sites are numbered: site cells t * columns + y first, then the global cells from
// n * columns on. Tables have one row per site, padded to `stride`; padding is ignored on input and 0 on output.
//
// A mask says which choices are allowed: [Structure::choices, columns], 0 for those that no structure may use. A site
// cell with the score -inf is forbidden as well.
class Solver {
 public:
  virtual ~Solver() = default;

  // Fills expected[t, y] with the probability (expected uses) of each site cell and returns log Z. The expected uses of
  // global cells are kept until add_global() is called. -inf, and zeros, if there is no structure.
  virtual double expectations(Unit unit, const double* scores, double* expected,
                              const std::uint8_t* mask = nullptr) = 0;

  // Adds the expected uses of global cells since the last call to out[0 .. global_cells) and starts anew.
  virtual void add_global(std::span<double> out) = 0;

  // Finds the best structure: its score, and the site cells it uses, in ascending order, then its global cells if they
  // are wanted. -inf if there is none.
  virtual double best(Unit unit, const double* scores, std::vector<std::int32_t>& cells, bool with_global = false,
                      const std::uint8_t* mask = nullptr) = 0;
};

// Scores of sites with -inf where a mask forbids a cell, for solvers whose choices are site cells.
class MaskedScores {
 public:
  // Returns `scores` where there is no mask, else a copy that lives until the next call.
  const double* operator()(const double* scores, const std::uint8_t* mask, std::size_t sites, std::size_t columns,
                           std::size_t stride);

 private:
  std::vector<double> table_;
};

// How the cells of a sentence go together, whatever their scores.
class Structure {
 public:
  virtual ~Structure() = default;
  virtual std::size_t columns() const = 0;
  virtual std::size_t global_cells() const = 0;
  virtual std::unique_ptr<Solver> solver(std::span<const double> global) const = 0;
  // The structure of one sentence as an explicit graph, for everything that has no kernel of its own.
  virtual std::shared_ptr<const Graph> graph(Unit unit) const = 0;
  // The same with nothing but what a mask allows.
  virtual std::shared_ptr<const Graph> graph(Unit unit, const std::uint8_t* mask) const;
  // How many rows of `columns` choices a mask of the sentence has: its sites, or the segments that sites add up to.
  virtual std::size_t choices(Unit unit) const { return unit.sites; }
  // The first site at which the columns of mentions count as starting one; those before it are shared by several.
  virtual std::size_t first_start(Unit) const { return 0; }

  std::size_t stride() const { return kernels::padded(columns()); }
};

// A family of graphs, one for each number of sites, solved by the general engine.
class GraphStructure final : public Structure {
 public:
  GraphStructure(std::size_t columns, std::size_t global_cells) : columns_(columns), global_cells_(global_cells) {}

  // Gives the graph for sentences of `sites` sites. Throws unless it has sites * columns + global_cells cells.
  void set(std::size_t sites, Graph graph);
  bool has(std::size_t sites) const { return graphs_.count(sites) > 0; }

  std::size_t columns() const override { return columns_; }
  std::size_t global_cells() const override { return global_cells_; }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  using Structure::graph;
  std::shared_ptr<const Graph> graph(Unit unit) const override;

 private:
  std::size_t columns_;
  std::size_t global_cells_;
  std::unordered_map<std::size_t, std::shared_ptr<const Graph>> graphs_;
};

// Solves any structure through its graphs.
std::unique_ptr<Solver> graph_solver(const Structure& structure, std::span<const double> global);

}  // namespace spanloom
