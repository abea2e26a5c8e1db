#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/compressed.hpp"
#include "spanloom/objective.hpp"
#include "spanloom/structure.hpp"

namespace spanloom {

// Which parameters add up to each score: score[j] = sum over i in [ptr[j], ptr[j + 1]) of parameter[params[i]].
// The 0/1 matrix M of W_score = W_param * M, by its columns. Empty: one parameter per score.
struct Tying {
  std::vector<std::int64_t> ptr;
  std::vector<std::int32_t> params;
  std::size_t width = 0;  // number of parameters

  bool identity() const { return ptr.empty(); }
  void check(std::size_t scores, const char* name) const;
};

// The cells of the annotated structures, numbered as in Solver.
struct Gold {
  std::vector<std::int64_t> ptr{0};  // [sentences + 1]
  std::vector<std::int32_t> cells;

  // Throws std::invalid_argument, with the values, unless they are cells of the sentences of `rows`.
  void check(const SparseRows& rows, const Structure& structure) const;
};

// The negative log-likelihood of annotated structures:
//
//   f = sum over sentences of log Z(scores) - score(gold),   scores[site, k] = sum over active f of W[f, k]
//
// Parameters: [classes, columns] weights of merged features (see CompressedRows), then the global ones. The gradient is
// X^T (expected - gold), computed by columns of X, so that each of its rows is summed by one thread in one order.
class Likelihood final : public Objective {
 public:
  Likelihood(const SparseRows& rows, std::shared_ptr<const Structure> structure, Gold gold, Tying site_tying,
             Tying global_tying, bool merge, int threads);

  std::size_t size() const override { return x_.classes() * site_params_ + global_params_; }
  double evaluate(std::span<const double> x, std::span<double> gradient) override;

  // The weights that parameters x stand for: [features, columns] for every feature of the original matrix.
  std::vector<float> weights(std::span<const double> x) const;
  std::vector<double> global_weights(std::span<const double> x) const;

  std::size_t classes() const { return x_.classes(); }
  std::size_t features() const { return x_.class_of.size(); }

 private:
  struct Shard {
    std::size_t first = 0;  // sentences
    std::size_t last = 0;
  };

  void make_shards();
  void load_weights(std::span<const double> x);
  double run_sentences(std::span<const double> x, std::span<double> gradient);
  void run_columns(std::span<double> gradient);

  CompressedRows x_;
  std::shared_ptr<const Structure> structure_;
  Gold gold_;
  Tying site_tying_;
  Tying global_tying_;
  int threads_;
  std::size_t columns_;
  std::size_t stride_;
  std::size_t site_params_;
  std::size_t global_params_;
  std::vector<Shard> shards_;
  std::vector<std::size_t> column_blocks_;  // classes are handled in blocks of about equal work
  std::vector<float> weights_;              // [classes, stride]: score weights times scale
  std::vector<float> difference_;           // [sites, stride]: expected - gold
};

}  // namespace spanloom
