#include "spanloom/learning/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

// A fixed size, so that sums are grouped in the same way for any number of threads.
constexpr std::size_t kShardSites = 2048;

// The columns that the gold has at the sites of each class.
Layout::Support observed_pairs(const CompressedRows& x, const Structures& gold, std::size_t columns) {
  std::vector<std::int64_t> site_ptr{0};
  std::vector<std::uint32_t> site_columns;
  for (std::size_t g = 0; g < x.rows.groups(); ++g) {
    const auto sites = static_cast<std::size_t>(x.rows.group_ptr[g + 1] - x.rows.group_ptr[g]);
    std::vector<std::int32_t> cells(gold.cells.begin() + gold.ptr[g], gold.cells.begin() + gold.ptr[g + 1]);
    std::sort(cells.begin(), cells.end());
    auto cell = cells.begin();
    for (std::size_t t = 0; t < sites; ++t) {
      for (; cell != cells.end() && static_cast<std::size_t>(*cell) < (t + 1) * columns; ++cell) {
        site_columns.push_back(static_cast<std::uint32_t>(static_cast<std::size_t>(*cell) % columns));
      }
      site_ptr.push_back(static_cast<std::int64_t>(site_columns.size()));
    }
  }
  Layout::Support out;
  out.ptr.push_back(0);
  std::vector<std::uint8_t> seen(columns, 0);
  for (std::size_t c = 0; c < x.classes(); ++c) {
    const std::size_t first = out.columns.size();
    for (std::int64_t i = x.class_ptr[c]; i < x.class_ptr[c + 1]; ++i) {
      for (std::int64_t k = site_ptr[x.sites[i]]; k < site_ptr[x.sites[i] + std::size_t{1}]; ++k) {
        if (!seen[site_columns[k]]) out.columns.push_back(site_columns[k]);
        seen[site_columns[k]] = 1;
      }
    }
    std::sort(out.columns.begin() + static_cast<std::ptrdiff_t>(first), out.columns.end());
    for (std::size_t k = first; k < out.columns.size(); ++k) seen[out.columns[k]] = 0;
    out.ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
  return out;
}

Layout make_layout(const CompressedRows& x, const Structure& structure, const Structures& gold, Tying tying,
                   bool observed, int threads) {
  gold.check(x.rows.group_ptr, structure);
  if (!observed) return {x, structure.columns(), std::move(tying), nullptr, threads};
  if (x.bundles() > 0) throw std::invalid_argument("[Likelihood] observed pairs take rows without bundles");
  const Layout::Support support = observed_pairs(x, gold, structure.columns());
  return {x, structure.columns(), std::move(tying), &support, threads};
}

}  // namespace

Likelihood::Likelihood(std::shared_ptr<const CompressedRows> x, std::shared_ptr<const Structure> structure,
                       Structures gold, Tying site_tying, Tying global_tying, bool observed, int threads)
    : shared_(std::move(x)),
      x_(*shared_),
      structure_(std::move(structure)),
      gold_(std::move(gold)),
      global_tying_(std::move(global_tying)),
      threads_(thread_count(threads)),
      columns_(structure_->columns()),
      stride_(structure_->stride()),
      global_params_(global_tying_.identity() ? structure_->global_cells() : global_tying_.width),
      layout_(make_layout(x_, *structure_, gold_, std::move(site_tying), observed, threads_)) {
  global_tying_.check(structure_->global_cells(), "the global tying");
  make_shards();
  difference_.assign((x_.rows.rows() + x_.bundles()) * stride_, 0.0F);
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
}

double Likelihood::run_sentences(std::span<const double> x, std::span<double> gradient) {
  const std::size_t global_cells = structure_->global_cells();
  std::vector<double> global(global_cells);
  global_tying_.apply(x.data() + layout_.size(), global_cells, global.data());

  std::vector<double> losses(shards_.size(), 0.0);
  std::vector<std::vector<double>> global_differences(shards_.size());
  const SparseRows& rows = x_.rows;
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
      layout_.scores(first, last, scores.data());
      double loss = solver->expectations({sites, g}, scores.data(), expected.data());
      loss -= gold_.subtract(g, {sites, columns_, stride_}, scores.data(), global.data(), expected.data(),
                             global_difference.data());
      if (!std::isfinite(loss)) {
        throw std::domain_error("[Likelihood] the loss of sentence " + std::to_string(g) +
                                " is not finite: " + "its annotation is not a legal structure, or the scores overflow");
      }
      losses[s] += loss;
      float* out = difference_.data() + first * stride_;
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
  global_tying_.apply_transposed(global_difference.data(), global_cells, 1.0, gradient.data() + layout_.size());
  return total;
}

double Likelihood::evaluate(std::span<const double> x, std::span<double> gradient) {
  if (x.size() != size() || gradient.size() != size()) {
    throw std::invalid_argument("[Likelihood] expected " + std::to_string(size()) + " parameters but received " +
                                std::to_string(x.size()) + " and a gradient of " + std::to_string(gradient.size()));
  }
  layout_.load(x.first(layout_.size()));
  const double loss = run_sentences(x, gradient);
  layout_.gradient(difference_.data(), gradient.first(layout_.size()));
  return loss;
}

std::vector<float> Likelihood::weights(std::span<const double> x) const {
  if (x.size() != size())
    throw std::invalid_argument("[Likelihood] expected " + std::to_string(size()) + " parameters");
  std::vector<float> out(features() * columns_);
  std::vector<double> row(columns_);
  for (std::size_t f = 0; f < features(); ++f) {
    const std::size_t c = x_.class_of[f];
    layout_.row(x, c, row.data());
    for (std::size_t k = 0; k < columns_; ++k) out[f * columns_ + k] = static_cast<float>(row[k] / x_.scale[c]);
  }
  return out;
}

std::vector<double> Likelihood::global_weights(std::span<const double> x) const {
  if (x.size() != size())
    throw std::invalid_argument("[Likelihood] expected " + std::to_string(size()) + " parameters");
  std::vector<double> out(structure_->global_cells());
  global_tying_.apply(x.data() + layout_.size(), out.size(), out.data());
  return out;
}

}  // namespace spanloom
