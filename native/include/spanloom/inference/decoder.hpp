#pragma once
#include <memory>
#include <span>
#include <vector>

#include "spanloom/base/memory.hpp"
#include "spanloom/base/sparse.hpp"
#include "spanloom/inference/masks.hpp"
#include "spanloom/inference/structure.hpp"
#include "spanloom/inference/structures.hpp"

namespace spanloom {

// A trained model at work: one or more structures over the same features, each with its weights. The weights of all
// stand side by side, so that the features of a site are looked up once for all structures.
class Decoder {
 public:
  struct Part {
    std::shared_ptr<const Structure> structure;
    std::span<const float> weights;  // [features, columns], the same number of features for all parts
    std::vector<double> global;      // [global_cells]
  };

  explicit Decoder(const std::vector<Part>& parts);

  std::size_t features() const { return features_; }
  std::size_t size() const { return slices_.size(); }

  // offsets[k] is added to the score of column k of one structure at every site; empty for none. Replaces earlier ones.
  void set_offsets(std::size_t part, std::vector<double> offsets);

  // For each structure, the site cells of the best choice for every sentence. Throws std::domain_error if there is
  // none. Where sentences have graphs of their own, `structures` are theirs instead of those given at first. `masks`,
  // if there are any, are one for each structure.
  std::vector<Structures> best(const SparseRows& rows, int threads, std::span<const Structure* const> structures = {},
                               std::span<const Masks> masks = {}) const;

  // scores[site, column] of all sentences under one structure, without offsets: [sites * columns].
  std::vector<double> scores(const SparseRows& rows, std::size_t part, int threads) const;
  // The same for every structure, at the price of one.
  std::vector<std::vector<double>> all_scores(const SparseRows& rows, int threads) const;

 private:
  std::vector<std::vector<double>> tables(const SparseRows& rows, std::size_t begin, std::size_t end,
                                          int threads) const;

  // One structure and its columns in the common table.
  struct Slice {
    std::shared_ptr<const Structure> structure;
    std::vector<double> global;
    std::vector<double> offsets;
    std::size_t first = 0;
  };

  void check(const SparseRows& rows) const;
  // Copies the rows of one structure out of those of all, and adds its offsets.
  void take(const Slice& slice, std::size_t sites, const std::vector<double>& all, std::vector<double>& table) const;

  std::vector<Slice> slices_;
  std::size_t features_ = 0;
  std::size_t stride_ = 0;      // of all structures together
  LargeVector<float> weights_;  // [features, stride]
};

// One sentence's scores [sites * columns] with rows padded to the structure's stride.
std::vector<double> padded_table(const Structure& structure, std::span<const double> scores);

// The number of sites of such a table. Throws std::invalid_argument if it is not whole.
std::size_t check_table(const Structure& structure, std::size_t size);

}  // namespace spanloom
