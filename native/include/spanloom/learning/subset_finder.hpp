#pragma once
#include <memory>
#include <span>
#include <vector>

#include "spanloom/inference/rescoring.hpp"
#include "spanloom/learning/subset_learner.hpp"

namespace spanloom {

// Trained subset scores at work.
class SubsetFinder {
 public:
  // Throws std::invalid_argument if the weights do not fit each other, the table or the number of types.
  SubsetFinder(PairProgram pairs, std::size_t types, std::size_t max_gap, SubsetWeights weights);

  const SubsetWeights& weights() const { return weights_; }
  const SkipLattice& lattice() const { return lattice_; }

  // The scores of a sentence's cells, see SkipLattice.
  std::vector<double> scores(const SparseRows& rows, const TokenInput& input, std::size_t sentence) const;

  // The known features of a pair j < i of tokens that skips something.
  std::vector<std::uint32_t> pair_ids(const TokenInput& input, std::size_t sentence, std::size_t j,
                                      std::size_t i) const;

  // Of every sentence, the best k (0: as many as it has tokens) subsets by score - thresholds[type], without those
  // that a better one forbids, as long as that is above `above`.
  std::vector<std::vector<Subset>> find(const SparseRows& rows, const TokenInput& input, std::size_t k,
                                        std::span<const double> thresholds, double above, Restrictions restrictions,
                                        int threads) const;

  // Of every sentence, the best k subsets that score above `least`, rescored: see Rescoring::rescore. tagged:
  // [sentences].
  std::vector<std::vector<Rescoring::Scored>> find_rescored(const SparseRows& rows, const TokenInput& input,
                                                            std::size_t k, double least, const Rescoring& rescoring,
                                                            const TokenSurface& surface,
                                                            std::span<const std::uint8_t> tagged,
                                                            Restrictions restrictions, std::span<const double> above,
                                                            int threads) const;

 private:
  void check(const SparseRows& rows, const TokenInput& input) const;
  void score(const SparseRows& rows, const PairValues& values, std::size_t s, std::vector<double>& tokens,
             std::vector<double>& scores) const;

  PairProgram pairs_;
  SkipLattice lattice_;
  SubsetWeights weights_;
  std::size_t features_, stride_;
  std::vector<float> padded_;  // [features, stride]
};

}  // namespace spanloom
