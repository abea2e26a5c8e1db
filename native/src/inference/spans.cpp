#include "spanloom/inference/spans.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "spanloom/inference/segment_sums.hpp"
#include "spanloom/inference/semirings.hpp"

namespace spanloom {
namespace {

// What a mask says of one segment with one column.
enum class Choice : std::uint8_t { out, free, in };

Choice choice(std::uint8_t mask) { return mask == 0 ? Choice::out : mask == 2 ? Choice::in : Choice::free; }

class SpanSolver final : public Solver {
 public:
  explicit SpanSolver(const SpanStructure& structure)
      : structure_(structure), columns_(structure.columns()), stride_(structure.stride()), sums_(stride_) {}

  double expectations(Unit unit, const double* scores, double* expected, const std::uint8_t* mask) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    if (lattice.tokens == 0) return 0.0;
    sums_.add_up(lattice, scores);
    double log_z = 0;
    for (std::int32_t s = 0; s < lattice.segments(); ++s) {
      double* value = sums_[s];
      for (std::size_t y = 0; y < columns_; ++y) {
        const Choice choice = choice_of(mask, s, y);
        if (choice != Choice::free) {
          log_z += choice == Choice::in ? value[y] : 0.0;
          value[y] = choice == Choice::in ? 1.0 : 0.0;
          continue;
        }
        const double small = std::exp(-std::abs(value[y]));  // never overflows
        log_z += std::max(value[y], 0.0) + std::log1p(small);
        value[y] = (value[y] >= 0 ? 1.0 : small) / (1.0 + small);
      }
      std::fill(value + columns_, value + stride_, 0.0);
    }
    if (log_z == kMinusInfinity) {
      std::fill_n(expected, unit.sites * stride_, 0.0);
      return log_z;
    }
    sums_.spread(lattice, expected);
    return log_z;
  }

  void add_global(std::span<double>) override {}

  double best(Unit unit, const double* scores, std::vector<std::int32_t>& cells, bool,
              const std::uint8_t* mask) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    cells.clear();
    if (lattice.tokens == 0) return 0.0;
    sums_.add_up(lattice, scores);
    double total = 0;
    for (std::int32_t s = 0; s < lattice.segments(); ++s) {
      for (std::size_t y = 0; y < columns_; ++y) {
        const Choice choice = choice_of(mask, s, y);
        if (choice == Choice::out || (choice == Choice::free && !(sums_[s][y] > 0))) continue;
        total += sums_[s][y];
        lattice.each_row(s, lattice.start_of(s), [&](std::int32_t row) {
          cells.push_back(row * static_cast<std::int32_t>(columns_) + static_cast<std::int32_t>(y));
        });
      }
    }
    if (total == kMinusInfinity) cells.clear();
    std::sort(cells.begin(), cells.end());
    return total;
  }

 private:
  Choice choice_of(const std::uint8_t* mask, std::int32_t segment, std::size_t column) const {
    return mask == nullptr ? Choice::free : choice(mask[static_cast<std::size_t>(segment) * columns_ + column]);
  }

  const SpanStructure& structure_;
  std::size_t columns_;
  std::size_t stride_;
  SegmentSums sums_;
};

}  // namespace

std::unique_ptr<Solver> SpanStructure::solver(std::span<const double> global) const {
  if (!global.empty()) throw std::invalid_argument("[SpanStructure] there are no global cells");
  return std::make_unique<SpanSolver>(*this);
}

// A node for every segment and column with two edges, out and in; the root joins them all.
std::shared_ptr<const Graph> SpanStructure::graph(Unit unit, const std::uint8_t* mask) const {
  const Lattice lattice = lattices_->of(unit.number, unit.sites);
  const auto columns = static_cast<std::int32_t>(columns_);
  GraphBuilder builder(static_cast<std::int64_t>(lattice.rows()) * columns);
  std::vector<std::int32_t> nodes, cells;
  for (std::int32_t i = 0; i < lattice.tokens; ++i) {
    for (std::int32_t s = lattice.first_segment(i); s < lattice.first_segment(i + 1); ++s) {
      for (std::int32_t y = 0; y < columns; ++y) {
        nodes.push_back(builder.node());
        const Choice known = mask == nullptr ? Choice::free : choice(mask[s * columns + y]);
        if (known != Choice::in) builder.edge({}, {});
        if (known == Choice::out) continue;
        cells.clear();
        lattice.each_row(s, i, [&](std::int32_t row) { cells.push_back(row * columns + y); });
        builder.edge({}, cells);
      }
    }
  }
  builder.node();
  builder.edge(nodes, {});
  return std::make_shared<const Graph>(builder.finish());
}

}  // namespace spanloom
