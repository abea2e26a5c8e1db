#pragma once
#include <mutex>
#include <unordered_map>

#include "spanloom/inference/structure.hpp"

namespace spanloom {

// The mention hypergraph of Lu & Roth (2015) for one type. Sites are tokens, columns the choices that a structure
// makes:
//
//   T_k -> I_k   a mention starts at k        T_k -> X   none does
//   I_k -> I_k+1 all mentions here go on      I_k -> X   all end      I_k -> (I_k+1, X)   some end, some go on
//
// A_k -> (A_k+1, T_k) joins the tokens. I_k can be reached from T_k and from I_k-1. Inference unfolds it for each of
// them independently, as the paper's does: Z counts choices that differ between the two, the "spurious structures".
class HypergraphStructure final : public Structure {
 public:
  static constexpr std::size_t kColumns = 5;
  enum Column : std::int32_t { kStart, kNone, kContinue, kEnd, kBoth };

  std::size_t columns() const override { return kColumns; }
  std::size_t global_cells() const override { return 0; }
  std::unique_ptr<Solver> solver(std::span<const double> global) const override;
  using Structure::graph;
  // Graphs are made once per number of sites.
  std::shared_ptr<const Graph> graph(Unit unit) const override;

 private:
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::size_t, std::shared_ptr<const Graph>> made_;
};

}  // namespace spanloom
