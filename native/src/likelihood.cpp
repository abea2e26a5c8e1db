#include "spanloom/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/parallel.hpp"

namespace spanloom {
namespace {

// Fixed sizes, so that sums are grouped in the same way for any number of threads.
constexpr std::size_t kShardSites = 2048;
constexpr std::int64_t kBlockEntries = 1 << 15;

void apply(const Tying& tying, const double* params, std::size_t scores, double* out) {
  if (tying.identity()) {
    std::copy_n(params, scores, out);
    return;
  }
  for (std::size_t j = 0; j < scores; ++j) {
    double sum = 0;
    for (std::int64_t i = tying.ptr[j]; i < tying.ptr[j + 1]; ++i) sum += params[tying.params[i]];
    out[j] = sum;
  }
}

// out[params] = M * scores, the transpose of apply.
void apply_transposed(const Tying& tying, const double* scores, std::size_t n, double factor, double* out) {
  if (tying.identity()) {
    for (std::size_t j = 0; j < n; ++j) out[j] = factor * scores[j];
    return;
  }
  std::fill_n(out, tying.width, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::int64_t i = tying.ptr[j]; i < tying.ptr[j + 1]; ++i) out[tying.params[i]] += factor * scores[j];
  }
}

}  // namespace

void Tying::check(std::size_t scores, const char* name) const {
  if (identity()) return;
  const bool sized =
      ptr.size() == scores + 1 && ptr.front() == 0 && ptr.back() == static_cast<std::int64_t>(params.size());
  if (!sized || !std::is_sorted(ptr.begin(), ptr.end())) {
    throw std::invalid_argument(std::string("[Tying] ") + name + " must have ascending pointers for " +
                                std::to_string(scores) + " scores");
  }
  for (const std::int32_t p : params) {
    if (p < 0 || static_cast<std::size_t>(p) >= width) {
      throw std::invalid_argument(std::string("[Tying] ") + name + " names parameter " + std::to_string(p) + " of " +
                                  std::to_string(width));
    }
  }
}

Likelihood::Likelihood(const SparseRows& rows, std::shared_ptr<const Structure> structure, Gold gold, Tying site_tying,
                       Tying global_tying, bool merge, int threads)
    : x_(compress(rows, merge)),
      structure_(std::move(structure)),
      gold_(std::move(gold)),
      site_tying_(std::move(site_tying)),
      global_tying_(std::move(global_tying)),
      threads_(thread_count(threads)),
      columns_(structure_->columns()),
      stride_(structure_->stride()),
      site_params_(site_tying_.identity() ? columns_ : site_tying_.width),
      global_params_(global_tying_.identity() ? structure_->global_cells() : global_tying_.width) {
  site_tying_.check(columns_, "the site tying");
  global_tying_.check(structure_->global_cells(), "the global tying");
  gold_.check(x_.rows, *structure_);
  make_shards();
  weights_.assign(x_.classes() * stride_, 0.0F);
  difference_.assign(x_.rows.rows() * stride_, 0.0F);
}

void Gold::check(const SparseRows& rows, const Structure& structure) const {
  const std::size_t groups = rows.groups();
  if (ptr.size() != groups + 1 || ptr.front() != 0 || ptr.back() != static_cast<std::int64_t>(cells.size()) ||
      !std::is_sorted(ptr.begin(), ptr.end())) {
    throw std::invalid_argument("[Gold] the pointers do not fit " + std::to_string(groups) + " sentences");
  }
  for (std::size_t g = 0; g < groups; ++g) {
    const auto sites = static_cast<std::size_t>(rows.group_ptr[g + 1] - rows.group_ptr[g]);
    const auto count = static_cast<std::int64_t>(sites * structure.columns() + structure.global_cells());
    for (std::int64_t i = ptr[g]; i < ptr[g + 1]; ++i) {
      if (cells[i] < 0 || cells[i] >= count) {
        throw std::invalid_argument("[Gold] cell " + std::to_string(cells[i]) + " of sentence " + std::to_string(g) +
                                    " is not in [0, " + std::to_string(count) + ")");
      }
    }
  }
}

void Likelihood::make_shards() {
  const auto& group_ptr = x_.rows.group_ptr;
  for (std::size_t g = 0; g < x_.rows.groups();) {
    Shard shard{g, g};
    while (shard.last < x_.rows.groups() &&
           (shard.last == g || static_cast<std::size_t>(group_ptr[shard.last] - group_ptr[g]) < kShardSites)) {
      ++shard.last;
    }
    shards_.push_back(shard);
    g = shard.last;
  }
  column_blocks_.push_back(0);
  std::int64_t from = 0;
  for (std::size_t c = 0; c < x_.classes(); ++c) {
    // A class costs its entries plus writing its row.
    if (x_.class_ptr[c + 1] - from + static_cast<std::int64_t>(c - column_blocks_.back()) >= kBlockEntries) {
      column_blocks_.push_back(c + 1);
      from = x_.class_ptr[c + 1];
    }
  }
  if (column_blocks_.back() != x_.classes()) column_blocks_.push_back(x_.classes());
}

void Likelihood::load_weights(std::span<const double> x) {
  parallel_for(column_blocks_.size() - 1, threads_, [&](std::size_t block) {
    std::vector<double> row(columns_);
    for (std::size_t c = column_blocks_[block]; c < column_blocks_[block + 1]; ++c) {
      apply(site_tying_, x.data() + c * site_params_, columns_, row.data());
      float* out = &weights_[c * stride_];
      for (std::size_t k = 0; k < columns_; ++k) out[k] = static_cast<float>(x_.scale[c] * row[k]);
    }
  });
}

double Likelihood::run_sentences(std::span<const double> x, std::span<double> gradient) {
  const std::size_t global_cells = structure_->global_cells();
  std::vector<double> global(global_cells);
  apply(global_tying_, x.data() + x_.classes() * site_params_, global_cells, global.data());

  std::vector<double> losses(shards_.size(), 0.0);
  std::vector<std::vector<double>> global_differences(shards_.size());
  const SparseRows& rows = x_.rows;
  const float* values = rows.values.empty() ? nullptr : rows.values.data();
  parallel_for(shards_.size(), threads_, [&](std::size_t s) {
    const auto solver = structure_->solver(global);
    std::vector<double>& global_difference = global_differences[s];
    global_difference.assign(global_cells, 0.0);
    std::vector<double> scores;
    std::vector<double> expected;
    for (std::size_t g = shards_[s].first; g < shards_[s].last; ++g) {
      const auto first = static_cast<std::size_t>(rows.group_ptr[g]);
      const auto last = static_cast<std::size_t>(rows.group_ptr[g + 1]);
      const std::size_t sites = last - first;
      scores.resize(sites * stride_);
      expected.resize(sites * stride_);
      kernels::gather_rows(weights_.data(), stride_, rows.row_ptr.data(), rows.ids.data(), values, first, last,
                           scores.data());
      double loss = solver->expectations({sites, g}, scores.data(), expected.data());
      for (std::int64_t i = gold_.ptr[g]; i < gold_.ptr[g + 1]; ++i) {
        const auto cell = static_cast<std::size_t>(gold_.cells[i]);
        if (cell < sites * columns_) {
          const std::size_t at = cell / columns_ * stride_ + cell % columns_;
          loss -= scores[at];
          expected[at] -= 1.0;
        } else {
          loss -= global[cell - sites * columns_];
          global_difference[cell - sites * columns_] -= 1.0;
        }
      }
      if (!std::isfinite(loss)) {
        throw std::domain_error("[Likelihood] the loss of sentence " + std::to_string(g) +
                                " is not finite: " + "its annotation is not a legal structure, or the scores overflow");
      }
      losses[s] += loss;
      float* out = &difference_[first * stride_];
      for (std::size_t i = 0; i < sites * stride_; ++i) out[i] = static_cast<float>(expected[i]);
    }
    solver->add_global(global_difference);
  });

  double total = 0;
  std::vector<double> global_difference(global_cells, 0.0);
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    total += losses[s];
    for (std::size_t i = 0; i < global_cells; ++i) global_difference[i] += global_differences[s][i];
  }
  apply_transposed(global_tying_, global_difference.data(), global_cells, 1.0,
                   gradient.data() + x_.classes() * site_params_);
  return total;
}

void Likelihood::run_columns(std::span<double> gradient) {
  const float* values = x_.site_values.empty() ? nullptr : x_.site_values.data();
  parallel_for(column_blocks_.size() - 1, threads_, [&](std::size_t block) {
    std::vector<double> sum(stride_);
    for (std::size_t c = column_blocks_[block]; c < column_blocks_[block + 1]; ++c) {
      const std::int64_t begin = x_.class_ptr[c];
      const auto n = static_cast<std::size_t>(x_.class_ptr[c + 1] - begin);
      kernels::gather_column(difference_.data(), stride_, x_.sites.data() + begin, values ? values + begin : nullptr, n,
                             sum.data());
      apply_transposed(site_tying_, sum.data(), columns_, x_.scale[c], gradient.data() + c * site_params_);
    }
  });
}

double Likelihood::evaluate(std::span<const double> x, std::span<double> gradient) {
  if (x.size() != size() || gradient.size() != size()) {
    throw std::invalid_argument("[Likelihood] expected " + std::to_string(size()) + " parameters but received " +
                                std::to_string(x.size()) + " and a gradient of " + std::to_string(gradient.size()));
  }
  load_weights(x);
  const double loss = run_sentences(x, gradient);
  run_columns(gradient);
  return loss;
}

std::vector<float> Likelihood::weights(std::span<const double> x) const {
  if (x.size() != size())
    throw std::invalid_argument("[Likelihood] expected " + std::to_string(size()) + " parameters");
  std::vector<float> out(features() * columns_);
  std::vector<double> row(columns_);
  for (std::size_t f = 0; f < features(); ++f) {
    const std::size_t c = x_.class_of[f];
    apply(site_tying_, x.data() + c * site_params_, columns_, row.data());
    for (std::size_t k = 0; k < columns_; ++k) out[f * columns_ + k] = static_cast<float>(row[k] / x_.scale[c]);
  }
  return out;
}

std::vector<double> Likelihood::global_weights(std::span<const double> x) const {
  if (x.size() != size())
    throw std::invalid_argument("[Likelihood] expected " + std::to_string(size()) + " parameters");
  std::vector<double> out(structure_->global_cells());
  apply(global_tying_, x.data() + x_.classes() * site_params_, out.size(), out.data());
  return out;
}

}  // namespace spanloom
