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

  // The same over a table [features, stride of all structures together] that must outlive the decoder: its columns are
  // those of the first structure, padded to its stride, then those of the next one. The weights of parts are not read.
  Decoder(const std::vector<Part>& parts, std::span<const float> table);

  std::size_t features() const { return features_; }
  std::size_t size() const { return slices_.size(); }
  const Structure& structure(std::size_t part) const { return *slices_[part].structure; }
  std::span<const double> global(std::size_t part) const { return slices_[part].global; }

  // offsets[k] is added to the score of column k of one structure at every site from Structure::first_start on; empty
  // for none. Replaces earlier ones.
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

  // Throws std::invalid_argument if rows have more features than there are weights for.
  void check(const SparseRows& rows) const;

  // One thread's way through sentences: the features of a sentence are looked up once, whatever is asked of it.
  class Pass {
   public:
    // Decoder, rows (which were checked) and structures must outlive it.
    Pass(const Decoder& decoder, const SparseRows& rows, std::span<const Structure* const> structures = {});

    void load(std::size_t sentence);
    std::size_t sites() const { return sites_; }
    // scores[site, column] of the sentence under one structure, without offsets, in rows of its stride; until the next
    // call.
    const double* scores(std::size_t part);
    // The site cells of the best structure, with offsets. Throws std::domain_error if there is none.
    void best(std::size_t part, std::vector<std::int32_t>& cells, const std::uint8_t* mask = nullptr);

   private:
    const Decoder& decoder_;
    const SparseRows& rows_;
    std::vector<const Structure*> structures_;
    std::vector<std::unique_ptr<Solver>> solvers_;
    std::vector<double> all_, table_;
    std::size_t sentence_ = 0, sites_ = 0;
  };

 private:
  std::vector<std::vector<double>> tables(const SparseRows& rows, std::size_t begin, std::size_t end,
                                          int threads) const;

  void add(const Part& part);
  void check_finite(std::span<const float> weights) const;

  // One structure and its columns in the common table.
  struct Slice {
    std::shared_ptr<const Structure> structure;
    std::vector<double> global;
    std::vector<double> offsets;
    std::size_t first = 0;
  };

  std::vector<Slice> slices_;
  std::size_t features_ = 0;
  std::size_t stride_ = 0;                          // of all structures together
  std::shared_ptr<const LargeVector<float>> held_;  // the weights, unless they are another's
  const float* weights_ = nullptr;                  // [features, stride]
};

// One sentence's scores [sites * columns] with rows padded to the structure's stride.
std::vector<double> padded_table(const Structure& structure, std::span<const double> scores);

// The number of sites of such a table. Throws std::invalid_argument if it is not whole.
std::size_t check_table(const Structure& structure, std::size_t size);

}  // namespace spanloom
