#pragma once
#include <memory>
#include <stdexcept>
#include <utility>

#include "spanloom/inference/lattice.hpp"
#include "spanloom/inference/structure.hpp"

namespace spanloom {

// What is believed of the segments of one sentence after the other. It has buffers: one for each thread.
class SegmentBeliefs {
 public:
  virtual ~SegmentBeliefs() = default;

  // The probability of every segment with every column, [segments, stride], for scores [rows, stride]; until the next
  // call.
  virtual const double* probabilities(Unit unit, const double* scores) = 0;
};

// Structures over the candidate segments of sentences: sentence `number` of a Unit is the one of this number in
// `lattices`.
class LatticeStructure : public Structure {
 public:
  std::size_t columns() const override { return columns_; }
  using Structure::graph;
  std::shared_ptr<const Graph> graph(Unit unit) const override { return graph(unit, nullptr); }
  // Masks speak of candidate segments, since the cells of a segment are shared with others.
  std::size_t choices(Unit unit) const override {
    return static_cast<std::size_t>(lattices_->of(unit.number, unit.sites).segments());
  }

  const Lattices& lattices() const { return *lattices_; }

  // By the expected uses of rows; structures may do with less.
  virtual std::unique_ptr<SegmentBeliefs> beliefs(std::span<const double> global) const;

 protected:
  LatticeStructure(std::size_t columns, std::shared_ptr<const Lattices> lattices)
      : columns_(columns), lattices_(std::move(lattices)) {
    if (columns_ == 0) throw std::invalid_argument("[LatticeStructure] there must be a column");
  }

  std::size_t columns_;
  std::shared_ptr<const Lattices> lattices_;
};

}  // namespace spanloom
