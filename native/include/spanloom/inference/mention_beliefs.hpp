#pragma once
#include <memory>
#include <span>
#include <vector>

#include "spanloom/inference/chain.hpp"
#include "spanloom/inference/readings.hpp"

namespace spanloom {

// The probabilities of mentions of one sentence after the other: in dense rows (posterior.hpp), or by a Trellis where
// doubles do not hold them. It has buffers: one for each thread.
class MentionBeliefs {
 public:
  virtual ~MentionBeliefs() = default;

  // Takes the scores of the next sentence, `sites` rows `stride` apart, which must stay until the last question.
  virtual void read(const double* scores, std::size_t sites, std::size_t stride) = 0;
  // Fills in the probabilities of given mentions, 0 for what cannot be. Those of one start and type that stand side by
  // side are followed together.
  virtual void probabilities(std::span<Found> mentions) = 0;
  // Every mention with a probability of at least `above` > 0, by start, then end.
  virtual std::vector<Found> mentions_above(double above) = 0;
};

// transitions: [columns * columns]. The structure and the reading must outlive what is made. Throws
// std::invalid_argument if sizes do not fit.
template <class Reading>
std::unique_ptr<MentionBeliefs> mention_beliefs(const ChainStructure& structure, std::span<const double> transitions,
                                                const Reading& reading);

}  // namespace spanloom
