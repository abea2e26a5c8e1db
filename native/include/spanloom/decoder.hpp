#pragma once
#include <memory>
#include <span>
#include <vector>

#include "spanloom/likelihood.hpp"
#include "spanloom/sparse.hpp"
#include "spanloom/structure.hpp"

namespace spanloom {

// A trained model at work: score weights and a structure.
class Decoder {
 public:
  // weights: [features, columns]; global: [global_cells].
  Decoder(std::shared_ptr<const Structure> structure, std::span<const float> weights, std::vector<double> global);

  std::size_t features() const { return features_; }

  // The site cells of the best structure of every sentence. Throws std::domain_error if a sentence has none. Where
  // sentences have graphs of their own, `structure` is theirs instead of the one given at first.
  Gold best(const SparseRows& rows, int threads, const Structure* structure = nullptr) const;

  // scores[site, column] of all sentences: [sites * columns].
  std::vector<double> scores(const SparseRows& rows, int threads) const;

 private:
  void check(const SparseRows& rows) const;

  std::shared_ptr<const Structure> structure_;
  std::size_t features_;
  std::size_t stride_;
  std::vector<float> weights_;  // [features, stride]
  std::vector<double> global_;
};

// One sentence's scores [sites * columns] with rows padded to the structure's stride.
std::vector<double> padded_table(const Structure& structure, std::span<const double> scores);

// The number of sites of such a table. Throws std::invalid_argument if it is not whole.
std::size_t check_table(const Structure& structure, std::size_t size);

}  // namespace spanloom
