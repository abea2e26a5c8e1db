#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "spanloom/inference/segment_sums.hpp"
#include "spanloom/inference/segmental.hpp"

namespace spanloom {

// The ends that mentions may have, by start: slot first[i] + d stands for the end i + 1 + d.
//
// In what follows states of gap i are numbered: 0 for M < i, and 1 + m for M = i + m. Before gap i + 1, where mentions
// that start at i are decided, M = i + m is state m, and the end of slot d is that of state d + 1.
struct SegmentalEnds {
  std::vector<std::size_t> first;
  std::vector<double> score[2];     // as a mention: outside of others, inside; -inf where there is none
  std::vector<std::uint8_t> must;   // whether there must be a mention
  std::vector<std::int32_t> size;   // by start
  std::vector<std::int32_t> least;  // by start: the furthest end is this one or a later one; -1: there need be none
  std::int32_t longest = 0;

  void read(const Lattice& lattice, const SegmentSums& sums, const std::uint8_t* mask);
};

// Finds the best set of one sentence. It has buffers: one a thread.
class SegmentalSearch {
 public:
  using Globals = std::array<double, SegmentalStructure::kGlobals>;

  // As Solver::best, with the ends of the sentence.
  double best(const Lattice& lattice, const double* scores, const SegmentalEnds& ends, const Globals& global,
              bool with_global, std::vector<std::int32_t>& cells);

 private:
  // How the best way into a state began at the gap before: the column there and, if a mention starts, its furthest end
  // d and the state before.
  struct Step {
    std::uint8_t column = 0;
    std::int32_t end = -1, before = 0;
  };

  std::size_t at(std::int32_t gap) const { return static_cast<std::size_t>(gap) * width_; }
  // The best way from the states of gap i to those of the next, with the scores of the gap's columns.
  void step(std::int32_t i, const double* row, const SegmentalEnds& ends, const Globals& global);
  static void add_mentions(const Lattice& lattice, std::int32_t i, const Step& step, const SegmentalEnds& ends,
                           const Globals& global, std::vector<std::int32_t>& cells, std::vector<std::int32_t>& globals);

  std::size_t width_ = 0;  // states of a gap
  std::vector<double> value_, later_, chains_[2];
  std::vector<Step> steps_;
};

}  // namespace spanloom
