#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/base/memory.hpp"
#include "spanloom/learning/compressed.hpp"
#include "spanloom/learning/shared_rows.hpp"

namespace spanloom {

// Which parameters add up to each score:
//   score[j] = sum over i in [ptr[j], ptr[j + 1]) of values[i] * parameter[params[i]].
// The matrix M of W_score = W_param * M, by its columns. Empty: one parameter per score.
struct Tying {
  std::vector<std::int64_t> ptr;
  std::vector<std::int32_t> params;
  std::size_t width = 0;       // number of parameters
  std::vector<double> values;  // as many as params, or empty when every value is 1

  bool identity() const { return ptr.empty(); }
  void check(std::size_t scores, const char* name) const;

  double value(std::int64_t i) const { return values.empty() ? 1.0 : values[static_cast<std::size_t>(i)]; }

  // scores = parameters * M.
  void apply(const double* params, std::size_t scores, double* out) const;
  // out = factor * M * scores, the transpose.
  void apply_transposed(const double* scores, std::size_t n, double factor, double* out) const;
};

// The weights of merged features: which (class, parameter column) pairs have one, and where it is kept.
//
// Without a support every class has a parameter for every column, and its score weights are a row of a dense table.
// With a support only the given pairs have a parameter. A class that touches few columns then keeps (column, weight)
// cells instead of a row, which is what pays with many columns: most features are seen with one or two of them. Bundles
// need rows, so that with bundles no class keeps cells.
class Layout {
 public:
  // (class, score column) pairs, by class: columns[ptr[c] .. ptr[c + 1]), ascending.
  struct Support {
    std::vector<std::int64_t> ptr;
    std::vector<std::uint32_t> columns;
  };

  // Keeps a reference to `x`. `support` is null for all pairs.
  Layout(const CompressedRows& x, std::size_t columns, Tying tying, const Support* support, int threads);

  std::size_t size() const { return size_; }
  std::size_t sparse_classes() const { return sparse_classes_; }

  // Makes the score weights that parameters stand for; scores() uses them.
  void load(std::span<const double> params);
  // The same for the parameters of classes that follow from shared ones; only without a support.
  void load(const SharedRows& shared, const float* params);

  // out[r, column] = scores of sites [first, last); rows padded to the stride.
  void scores(std::size_t first, std::size_t last, double* out) const;

  // gradient[parameter] from difference[site, column] = expected - gold, rows padded to the stride; behind the sites
  // there is room for the bundles. Each entry is summed by one thread in one order.
  void gradient(float* difference, std::span<double> gradient) const;
  // Adds it to the gradient by shared parameters; only without a support.
  void gradient(float* difference, const SharedRows& shared, float* gradient) const;

  // Sets the parameters of one class to those of row[parameter column] that it has.
  void put(std::size_t c, const double* row, std::span<double> params) const;
  std::size_t width() const { return params_; }  // parameter columns

  // Throws std::invalid_argument unless there is a support.
  void check_restricted() const;

  // With a support: the parameters that a class owns, by ascending column.
  std::span<const double> owned(std::span<const double> params, std::size_t c) const {
    return params.subspan(static_cast<std::size_t>(param_ptr_[c]),
                          static_cast<std::size_t>(param_ptr_[c + 1] - param_ptr_[c]));
  }

  // The score weights of one class: row[column].
  void row(std::span<const double> params, std::size_t c, double* out) const;

 private:
  struct Cell {
    std::uint32_t column;  // in the first cell of a class: how many follow
    float weight;
  };
  struct Rows {  // a part of the entries of x_.rows
    std::vector<std::int64_t> ptr{0};
    std::vector<std::uint32_t> ids;
    std::vector<float> values;
  };

  template <class Read>
  void load_classes(const Read& read);
  template <class Take>
  void add_up_classes(const float* difference, const Take& take) const;
  void check_shared(const SharedRows& shared) const;
  void load_restricted(std::span<const double> params);
  void load_bundles();
  void add_up_sites(float* difference) const;
  void restrict_to(const Support& support);
  void split_rows();
  void make_blocks();
  void add_up_bundles(float* table, const std::vector<std::int64_t>& ptr, const std::vector<std::uint32_t>& ids,
                      std::size_t first, std::size_t level) const;
  void sparse_gradient(const float* difference, std::size_t c, double* sum) const;
  void restricted_gradient(std::size_t c, const double* sum, std::span<double> gradient) const;
  void restricted_row(const double* params, std::size_t c, double* out) const;

  const CompressedRows& x_;
  Tying tying_;
  int threads_;
  std::size_t columns_;
  std::size_t stride_;
  std::size_t params_;    // parameter columns
  std::size_t size_ = 0;  // parameters
  std::size_t sparse_classes_ = 0;
  std::vector<std::size_t> blocks_;  // classes are handled in blocks of about equal work
  LargeVector<float> weights_;       // [dense classes, then bundles; stride]: score weights times scale

  // With a support only:
  bool restricted_ = false;
  std::vector<std::int64_t> param_ptr_;       // [classes + 1]: class c owns parameters param_ptr_[c] .. of columns:
  std::vector<std::uint32_t> param_columns_;  //   ascending
  std::vector<std::int64_t> score_ptr_;       // [params + 1]: the score columns of each parameter column
  std::vector<std::uint32_t> score_columns_;
  std::vector<std::uint8_t> is_sparse_;  // [classes]
  std::vector<std::uint32_t> slot_;      // [classes]: row of weights_, or where its cells begin
  LargeVector<Cell> cells_;
  Rows dense_;   // ids are rows of weights_
  Rows sparse_;  // ids are beginnings in cells_
};

}  // namespace spanloom
