#include "spanloom/learning/layout.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "spanloom/base/kernels.hpp"
#include "spanloom/base/parallel.hpp"
#include "spanloom/base/row_kernels.hpp"

namespace spanloom {
namespace {

// A fixed size, so that work is cut in the same way for any number of threads.
constexpr std::int64_t kBlockEntries = 1 << 15;
constexpr std::size_t kBlockBundles = 256;
constexpr std::size_t kBlockClasses = 64;

// Cells take 8 bytes and one scalar step each, a row 4 bytes a column and one vector step for eight columns.
bool better_as_cells(std::size_t touched, std::size_t stride) { return touched * 4 < stride; }

}  // namespace

Layout::Layout(const CompressedRows& x, std::size_t columns, Tying tying, const Support* support, int threads)
    : x_(x),
      tying_(std::move(tying)),
      threads_(threads),
      columns_(columns),
      stride_(kernels::padded(columns)),
      params_(tying_.identity() ? columns : tying_.width) {
  tying_.check(columns_, "the site tying");
  make_blocks();
  if (support != nullptr) {
    restrict_to(*support);
  } else {
    size_ = x_.classes() * params_;
    weights_.assign((x_.classes() + x_.bundles()) * stride_, 0.0F);
  }
}

void Layout::make_blocks() {
  blocks_.push_back(0);
  std::int64_t from = 0;
  for (std::size_t c = 0; c < x_.classes(); ++c) {
    // A class costs its entries plus writing its row.
    if (x_.class_ptr[c + 1] - from + static_cast<std::int64_t>(c - blocks_.back()) >= kBlockEntries) {
      blocks_.push_back(c + 1);
      from = x_.class_ptr[c + 1];
    }
  }
  if (blocks_.back() != x_.classes()) blocks_.push_back(x_.classes());
}

void Layout::check_restricted() const {
  if (!restricted_) throw std::invalid_argument("[Layout] every pair has a weight: there is no list of pairs");
}

void Layout::restrict_to(const Support& support) {
  const std::size_t classes = x_.classes();
  if (support.ptr.size() != classes + 1 || support.ptr.back() != static_cast<std::int64_t>(support.columns.size())) {
    throw std::invalid_argument("[Layout] the support does not fit " + std::to_string(classes) + " classes");
  }
  if (!tying_.values.empty()) throw std::invalid_argument("[Layout] a support takes a tying of zeros and ones");
  restricted_ = true;
  score_ptr_.assign(params_ + 1, 0);
  if (tying_.identity()) {
    for (std::size_t p = 0; p < params_; ++p) {
      score_ptr_[p + 1] = static_cast<std::int64_t>(p + 1);
      score_columns_.push_back(static_cast<std::uint32_t>(p));
    }
  } else {
    for (const std::int32_t p : tying_.params) ++score_ptr_[static_cast<std::size_t>(p) + 1];
    for (std::size_t p = 0; p < params_; ++p) score_ptr_[p + 1] += score_ptr_[p];
    score_columns_.resize(tying_.params.size());
    std::vector<std::int64_t> next(score_ptr_.begin(), score_ptr_.end() - 1);
    for (std::size_t j = 0; j < columns_; ++j) {
      for (std::int64_t i = tying_.ptr[j]; i < tying_.ptr[j + 1]; ++i) {
        score_columns_[next[tying_.params[i]]++] = static_cast<std::uint32_t>(j);
      }
    }
  }

  param_ptr_.assign(1, 0);
  is_sparse_.assign(classes, 0);
  slot_.assign(classes, 0);
  std::size_t rows = 0;
  std::vector<std::uint8_t> has_param(params_, 0);
  std::vector<std::uint8_t> touches(columns_, 0);
  for (std::size_t c = 0; c < classes; ++c) {
    const std::size_t first = param_columns_.size();
    for (std::int64_t i = support.ptr[c]; i < support.ptr[c + 1]; ++i) {
      const std::uint32_t j = support.columns[i];
      if (j >= columns_) {
        throw std::invalid_argument("[Layout] the support names column " + std::to_string(j) + " of " +
                                    std::to_string(columns_));
      }
      const std::int64_t begin = tying_.identity() ? j : tying_.ptr[j];
      const std::int64_t end = tying_.identity() ? j + std::int64_t{1} : tying_.ptr[j + 1];
      for (std::int64_t t = begin; t < end; ++t) {
        const auto p = tying_.identity() ? j : static_cast<std::uint32_t>(tying_.params[t]);
        if (!has_param[p]) param_columns_.push_back(p);
        has_param[p] = 1;
      }
    }
    std::sort(param_columns_.begin() + static_cast<std::ptrdiff_t>(first), param_columns_.end());
    std::size_t touched = 0;
    for (std::size_t k = first; k < param_columns_.size(); ++k) {
      const std::uint32_t p = param_columns_[k];
      has_param[p] = 0;
      for (std::int64_t i = score_ptr_[p]; i < score_ptr_[p + 1]; ++i) {
        touched += touches[score_columns_[i]] == 0;
        touches[score_columns_[i]] = 1;
      }
    }
    if (x_.bundles() == 0 && better_as_cells(touched, stride_)) {
      is_sparse_[c] = 1;
      ++sparse_classes_;
      if (cells_.size() > std::numeric_limits<std::uint32_t>::max() - columns_) {
        throw std::length_error("[Layout] more than 2^32 sparse weights");
      }
      slot_[c] = static_cast<std::uint32_t>(cells_.size());
      cells_.push_back({static_cast<std::uint32_t>(touched), 0.0F});
      for (std::size_t j = 0; j < columns_; ++j) {
        if (touches[j]) cells_.push_back({static_cast<std::uint32_t>(j), 0.0F});
      }
    } else {
      slot_[c] = static_cast<std::uint32_t>(rows++);
    }
    std::fill(touches.begin(), touches.end(), std::uint8_t{0});
    param_ptr_.push_back(static_cast<std::int64_t>(param_columns_.size()));
  }
  size_ = param_columns_.size();
  weights_.assign((rows + x_.bundles()) * stride_, 0.0F);
  if (x_.bundles() == 0) split_rows();
}

void Layout::split_rows() {
  const SparseRows& rows = x_.rows;
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::int64_t e = rows.row_ptr[r]; e < rows.row_ptr[r + 1]; ++e) {
      const std::uint32_t c = rows.ids[e];
      Rows& part = is_sparse_[c] ? sparse_ : dense_;
      part.ids.push_back(slot_[c]);
      if (!rows.values.empty()) part.values.push_back(rows.values[e]);
    }
    dense_.ptr.push_back(static_cast<std::int64_t>(dense_.ids.size()));
    sparse_.ptr.push_back(static_cast<std::int64_t>(sparse_.ids.size()));
  }
}

// out[column] = 0 for the columns that the class does not touch.
void Layout::restricted_row(const double* params, std::size_t c, double* out) const {
  std::fill_n(out, columns_, 0.0);
  for (std::int64_t k = param_ptr_[c]; k < param_ptr_[c + 1]; ++k) {
    const std::uint32_t p = param_columns_[k];
    for (std::int64_t i = score_ptr_[p]; i < score_ptr_[p + 1]; ++i) out[score_columns_[i]] += params[k];
  }
}

void Layout::row(std::span<const double> params, std::size_t c, double* out) const {
  if (restricted_) {
    restricted_row(params.data(), c, out);
  } else {
    tying_.apply(params.data() + c * params_, columns_, out);
  }
}

void Layout::put(std::size_t c, const double* row, std::span<double> params) const {
  if (!restricted_) {
    std::copy_n(row, params_, &params[c * params_]);
    return;
  }
  for (std::int64_t k = param_ptr_[c]; k < param_ptr_[c + 1]; ++k) {
    params[static_cast<std::size_t>(k)] = row[param_columns_[k]];
  }
}

// Every class has a row: read(first, last, rows) gives the parameters of some classes, in `rows` or elsewhere.
template <class Read>
void Layout::load_classes(const Read& read) {
  parallel_for(blocks_.size() - 1, threads_, [&](std::size_t block) {
    std::vector<double> own(kBlockClasses * params_);
    std::vector<double> scores(tying_.identity() ? 0 : kBlockClasses * columns_);
    const std::size_t end = blocks_[block + 1];
    for (std::size_t first = blocks_[block]; first < end; first += kBlockClasses) {
      const std::size_t last = std::min(end, first + kBlockClasses);
      const double* rows = read(first, last, own.data());
      if (!tying_.identity()) {
        for (std::size_t c = 0; c < last - first; ++c) {
          tying_.apply(rows + c * params_, columns_, &scores[c * columns_]);
        }
        rows = scores.data();
      }
      kernels::narrow_rows(rows, &x_.scale[first], last - first, columns_, stride_, &weights_[first * stride_]);
    }
  });
}

void Layout::load_bundles() {
  for (std::size_t level = 0; level < x_.levels(); ++level) {
    add_up_bundles(weights_.data(), x_.bundle_ptr, x_.members, x_.classes(), level);
  }
}

void Layout::check_shared(const SharedRows& shared) const {
  if (restricted_ || shared.own_rows() != x_.classes()) {
    throw std::invalid_argument("[Layout] shared parameters for " + std::to_string(shared.own_rows()) + " of " +
                                std::to_string(x_.classes()) + " classes" + (restricted_ ? " with a support" : ""));
  }
}

void Layout::load(const SharedRows& shared, const float* params) {
  check_shared(shared);
  load_classes([&](std::size_t first, std::size_t last, double* own) -> const double* {
    for (std::size_t c = first; c < last; ++c) shared.read(c, params, params_, own + (c - first) * params_);
    return own;
  });
  load_bundles();
}

void Layout::load(std::span<const double> params) {
  if (restricted_) {
    load_restricted(params);
  } else {
    load_classes([&](std::size_t first, std::size_t, double*) { return params.data() + first * params_; });
  }
  load_bundles();
}

void Layout::load_restricted(std::span<const double> params) {
  parallel_for(blocks_.size() - 1, threads_, [&](std::size_t block) {
    std::vector<double> row(columns_);
    for (std::size_t c = blocks_[block]; c < blocks_[block + 1]; ++c) {
      const double scale = x_.scale[c];
      if (is_sparse_[c] && tying_.identity()) {
        // The parameters are the cells, in the same order.
        Cell* cell = &cells_[slot_[c]];
        for (std::int64_t k = param_ptr_[c]; k < param_ptr_[c + 1]; ++k) {
          (++cell)->weight = static_cast<float>(scale * params[k]);
        }
        continue;
      }
      restricted_row(params.data(), c, row.data());
      if (is_sparse_[c]) {
        Cell* cells = &cells_[slot_[c]];
        for (std::uint32_t k = 1; k <= cells[0].column; ++k) {
          cells[k].weight = static_cast<float>(scale * row[cells[k].column]);
        }
      } else {
        float* out = &weights_[slot_[c] * stride_];
        for (std::size_t k = 0; k < columns_; ++k) out[k] = static_cast<float>(scale * row[k]);
      }
    }
  });
}

// table[first + b] = the sum of table[ids of b], for every bundle b of a level: its weights from its members', and its
// difference, which its members find behind the sites, from its sites'.
void Layout::add_up_bundles(float* table, const std::vector<std::int64_t>& ptr, const std::vector<std::uint32_t>& ids,
                            std::size_t first, std::size_t level) const {
  const std::size_t begin = x_.level_ptr[level];
  const std::size_t end = x_.level_ptr[level + 1];
  parallel_for((end - begin + kBlockBundles - 1) / kBlockBundles, threads_, [&](std::size_t block) {
    const std::size_t from = begin + block * kBlockBundles;
    const std::size_t to = std::min(end, from + kBlockBundles);
    std::vector<double> sums((to - from) * stride_);
    kernels::gather_rows(table, stride_, ptr.data(), ids, nullptr, from, to, sums.data());
    kernels::narrow_rows(sums.data(), nullptr, 1, sums.size(), 0, table + (first + from) * stride_);
  });
}

void Layout::scores(std::size_t first, std::size_t last, double* out) const {
  const SparseRows& all = x_.rows;
  const float* values = all.values.empty() ? nullptr : all.values.data();
  if (!restricted_ || x_.bundles() > 0) {
    kernels::gather_rows(weights_.data(), stride_, all.row_ptr.data(), all.ids, values, first, last, out);
    return;
  }
  kernels::gather_rows(weights_.data(), stride_, dense_.ptr.data(), dense_.ids, values ? dense_.values.data() : nullptr,
                       first, last, out);
  for (std::size_t r = first; r < last; ++r, out += stride_) {
    for (std::int64_t e = sparse_.ptr[r]; e < sparse_.ptr[r + 1]; ++e) {
      const Cell* cell = &cells_[sparse_.ids[e]];
      const double value = values ? static_cast<double>(sparse_.values[e]) : 1.0;
      for (std::uint32_t k = (cell++)->column; k > 0; --k, ++cell) {
        out[cell->column] += value * static_cast<double>(cell->weight);
      }
    }
  }
}

// Makes the differences of bundles from those of their sites.
void Layout::add_up_sites(float* difference) const {
  for (std::size_t level = x_.levels(); level-- > 0;) {
    add_up_bundles(difference, x_.bundle_site_ptr, x_.bundle_sites, x_.rows.rows(), level);
  }
}

// Calls take(first, last, sums) for all classes, sums[c - first, column] being the sum over the sites of class c; rows
// are padded.
template <class Take>
void Layout::add_up_classes(const float* difference, const Take& take) const {
  const float* values = x_.site_values.empty() ? nullptr : x_.site_values.data();
  const auto gather = [&](std::size_t first, std::size_t last, double* sums) {
    kernels::gather_rows(difference, stride_, x_.class_ptr.data(), x_.sites, values, first, last, sums);
  };
  parallel_for(blocks_.size() - 1, threads_, [&](std::size_t block) {
    const std::size_t end = blocks_[block + 1];
    std::vector<double> sums(kBlockClasses * stride_);
    for (std::size_t first = blocks_[block]; first < end; first += kBlockClasses) {
      const std::size_t last = std::min(end, first + kBlockClasses);
      if (sparse_classes_ == 0) {
        gather(first, last, sums.data());
      } else {
        for (std::size_t c = first; c < last; ++c) {
          double* sum = &sums[(c - first) * stride_];
          if (is_sparse_[c]) {
            sparse_gradient(difference, c, sum);
          } else {
            gather(c, c + 1, sum);
          }
        }
      }
      take(first, last, sums.data());
    }
  });
}

void Layout::gradient(float* difference, std::span<double> gradient) const {
  add_up_sites(difference);
  if (!restricted_ && tying_.identity()) {
    add_up_classes(difference, [&](std::size_t first, std::size_t last, const double* sums) {
      kernels::scale_rows(sums, &x_.scale[first], last - first, columns_, stride_, &gradient[first * params_]);
    });
    return;
  }
  add_up_classes(difference, [&](std::size_t first, std::size_t last, const double* sums) {
    for (std::size_t c = first; c < last; ++c, sums += stride_) {
      if (restricted_) {
        restricted_gradient(c, sums, gradient);
      } else {
        tying_.apply_transposed(sums, columns_, x_.scale[c], &gradient[c * params_]);
      }
    }
  });
}

void Layout::restricted_gradient(std::size_t c, const double* sum, std::span<double> gradient) const {
  for (std::int64_t k = param_ptr_[c]; k < param_ptr_[c + 1]; ++k) {
    const std::uint32_t p = param_columns_[k];
    double total = 0;
    for (std::int64_t i = score_ptr_[p]; i < score_ptr_[p + 1]; ++i) total += sum[score_columns_[i]];
    gradient[static_cast<std::size_t>(k)] = x_.scale[c] * total;
  }
}

void Layout::gradient(float* difference, const SharedRows& shared, float* gradient) const {
  check_shared(shared);
  add_up_sites(difference);
  add_up_classes(difference, [&](std::size_t first, std::size_t last, const double* sums) {
    std::vector<double> own(params_);
    for (std::size_t c = first; c < last; ++c, sums += stride_) {
      tying_.apply_transposed(sums, columns_, x_.scale[c], own.data());
      shared.add(c, own.data(), params_, gradient);
    }
  });
}

// sum[column] for the columns that a class of cells has.
void Layout::sparse_gradient(const float* difference, std::size_t c, double* sum) const {
  const Cell* cells = &cells_[slot_[c]];
  const std::uint32_t n = cells[0].column;
  for (std::uint32_t k = 1; k <= n; ++k) sum[cells[k].column] = 0.0;
  for (std::int64_t i = x_.class_ptr[c]; i < x_.class_ptr[c + 1]; ++i) {
    const float* site = difference + x_.sites[i] * stride_;
    const double value = x_.site_values.empty() ? 1.0 : static_cast<double>(x_.site_values[i]);
    for (std::uint32_t k = 1; k <= n; ++k) {
      sum[cells[k].column] += value * static_cast<double>(site[cells[k].column]);
    }
  }
}

}  // namespace spanloom
