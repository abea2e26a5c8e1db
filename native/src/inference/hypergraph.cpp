#include "spanloom/inference/hypergraph.hpp"

namespace spanloom {
namespace {

Graph build(std::size_t sites) {
  constexpr auto columns = static_cast<std::int32_t>(HypergraphStructure::kColumns);
  GraphBuilder builder(static_cast<std::int64_t>(sites) * columns);
  // Tails come before heads, so the graph grows from the last token to the first; X is an edge without tails.
  std::int32_t later = builder.node();  // A after the last token: nothing starts there
  builder.edge({}, {});
  std::int32_t next = -1;  // I of the following token
  for (auto k = static_cast<std::int32_t>(sites); k-- > 0;) {
    const std::int32_t cell = k * columns;
    const std::int32_t inside = builder.node();
    builder.edge({}, {{cell + HypergraphStructure::kEnd}});
    if (next >= 0) {
      builder.edge({{next}}, {{cell + HypergraphStructure::kContinue}});
      builder.edge({{next}}, {{cell + HypergraphStructure::kBoth}});
    }
    const std::int32_t start = builder.node();
    builder.edge({}, {{cell + HypergraphStructure::kNone}});
    builder.edge({{inside}}, {{cell + HypergraphStructure::kStart}});
    const std::int32_t all = builder.node();
    builder.edge({{later, start}}, {});
    later = all;
    next = inside;
  }
  return builder.finish();
}

}  // namespace

std::unique_ptr<Solver> HypergraphStructure::solver(std::span<const double> global) const {
  return graph_solver(*this, global);
}

std::shared_ptr<const Graph> HypergraphStructure::graph(Unit unit) const {
  const std::lock_guard lock(mutex_);
  auto& graph = made_[unit.sites];
  if (!graph) graph = std::make_shared<const Graph>(build(unit.sites));
  return graph;
}

}  // namespace spanloom
