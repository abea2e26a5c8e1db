#include "spanloom/inference/chain.hpp"

namespace spanloom {

std::shared_ptr<const Graph> ChainStructure::graph(Unit unit) const {
  const std::size_t sites = unit.sites;
  const auto labels = static_cast<std::int32_t>(labels_);
  const auto first_global = static_cast<std::int32_t>(sites) * labels;
  GraphBuilder builder(static_cast<std::int64_t>(sites * labels_ + global_cells()));
  if (sites == 0) {
    builder.node();
    builder.edge({}, {});
    return std::make_shared<const Graph>(builder.finish());
  }
  for (std::int32_t t = 0; t < static_cast<std::int32_t>(sites); ++t) {
    for (std::int32_t y = 0; y < labels; ++y) {
      builder.node();
      const std::int32_t cell = t * labels + y;
      if (t == 0) {
        if (may_start(static_cast<std::size_t>(y))) builder.edge({}, {{cell}});
        continue;
      }
      for (std::int32_t x = 0; x < labels; ++x) {
        if (!allowed(static_cast<std::size_t>(x), static_cast<std::size_t>(y))) continue;
        const std::int32_t tails[] = {(t - 1) * labels + x};
        const std::int32_t cells[] = {cell, first_global + x * labels + y};
        builder.edge(tails, cells);
      }
    }
  }
  builder.node();
  for (std::int32_t y = 0; y < labels; ++y) {
    if (!may_end(static_cast<std::size_t>(y))) continue;
    const std::int32_t tails[] = {static_cast<std::int32_t>(sites - 1) * labels + y};
    builder.edge(tails, {});
  }
  return std::make_shared<const Graph>(builder.finish());
}

}  // namespace spanloom
