#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/inference/chain.hpp"
#include "spanloom/inference/mention_beliefs.hpp"
#include "spanloom/inference/readings.hpp"

namespace spanloom {

// How mentions are read off the structures of one component, and what is believed of them. May be used by several
// threads at once.
class MentionReader {
 public:
  virtual ~MentionReader() = default;

  virtual std::size_t columns() const = 0;
  virtual std::int32_t types() const = 0;
  // Appends the mentions of a structure, given its site cells in ascending order. Throws std::invalid_argument if it is
  // none.
  virtual void read(std::span<const std::int32_t> cells, std::size_t sites, std::vector<Found>& out) const = 0;
  // For one thread; the reader must outlive it.
  virtual std::unique_ptr<MentionBeliefs> beliefs() const = 0;
};

// A chain whose columns are read as mentions. transitions: [columns * columns], from * columns + to. Throws
// std::invalid_argument, with the values, if sizes do not fit.
template <class Reading>
std::shared_ptr<const MentionReader> chain_reader(std::shared_ptr<const ChainStructure> chain,
                                                  std::vector<double> transitions, Reading reading);

// The mention hypergraph of one type as a distribution over mention sets, without the spurious structures that its
// training sums (see spanloom.inference.unfolded). Structures that reach a token more than 256 times are left out,
// which takes a sentence of more than 256 tokens.
std::shared_ptr<const MentionReader> hypergraph_reader();

}  // namespace spanloom
