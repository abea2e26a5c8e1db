#include "spanloom/inference/lattice_structure.hpp"

#include <vector>

namespace spanloom {
namespace {

// A segment's own row is read by no other: its expected uses are the segment's probability.
class BeliefsByRows final : public SegmentBeliefs {
 public:
  BeliefsByRows(const LatticeStructure& structure, std::span<const double> global)
      : structure_(structure), solver_(structure.solver(global)) {}

  const double* probabilities(Unit unit, const double* scores) override {
    const Lattice lattice = structure_.lattices().of(unit.number, unit.sites);
    if (lattice.tokens == 0) return nullptr;
    expected_.resize(unit.sites * structure_.stride());
    solver_->expectations(unit, scores, expected_.data());
    return &expected_[static_cast<std::size_t>(lattice.span(0)) * structure_.stride()];
  }

 private:
  const LatticeStructure& structure_;
  std::unique_ptr<Solver> solver_;
  std::vector<double> expected_;
};

}  // namespace

std::unique_ptr<SegmentBeliefs> LatticeStructure::beliefs(std::span<const double> global) const {
  return std::make_unique<BeliefsByRows>(*this, global);
}

}  // namespace spanloom
