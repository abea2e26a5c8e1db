#include "spanloom/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/parallel.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kShardSentences = 64;

}  // namespace

Decoder::Decoder(std::shared_ptr<const Structure> structure, std::span<const float> weights, std::vector<double> global)
    : structure_(std::move(structure)),
      features_(weights.size() / structure_->columns()),
      stride_(structure_->stride()),
      weights_(features_ * stride_, 0.0F),
      global_(std::move(global)) {
  const std::size_t columns = structure_->columns();
  if (features_ * columns != weights.size() || global_.size() != structure_->global_cells()) {
    throw std::invalid_argument("[Decoder] " + std::to_string(weights.size()) + " weights and " +
                                std::to_string(global_.size()) + " global weights do not fit " +
                                std::to_string(columns) + " columns and " + std::to_string(structure_->global_cells()) +
                                " global cells");
  }
  const auto finite = [](auto w) { return std::isfinite(w); };
  if (!std::all_of(weights.begin(), weights.end(), finite) || !std::all_of(global_.begin(), global_.end(), finite)) {
    throw std::invalid_argument("[Decoder] a weight is not finite");
  }
  for (std::size_t f = 0; f < features_; ++f) std::copy_n(&weights[f * columns], columns, &weights_[f * stride_]);
}

void Decoder::check(const SparseRows& rows) const {
  if (rows.width > features_) {
    throw std::invalid_argument("[Decoder] the rows have " + std::to_string(rows.width) + " features, the weights " +
                                std::to_string(features_));
  }
}

Gold Decoder::best(const SparseRows& rows, int threads, const Structure* structure) const {
  check(rows);
  if (structure == nullptr) structure = structure_.get();
  if (structure->columns() != structure_->columns() || structure->global_cells() != structure_->global_cells()) {
    throw std::invalid_argument("[Decoder] the structure has " + std::to_string(structure->columns()) +
                                " columns and " + std::to_string(structure->global_cells()) +
                                " global cells, the weights are for others");
  }
  const std::size_t groups = rows.groups();
  const float* values = rows.values.empty() ? nullptr : rows.values.data();
  std::vector<std::vector<std::int32_t>> found(groups);
  parallel_for((groups + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    const auto solver = structure->solver(global_);
    std::vector<double> scores;
    for (std::size_t g = shard * kShardSentences; g < std::min(groups, (shard + 1) * kShardSentences); ++g) {
      const auto first = static_cast<std::size_t>(rows.group_ptr[g]);
      const auto last = static_cast<std::size_t>(rows.group_ptr[g + 1]);
      scores.resize((last - first) * stride_);
      kernels::gather_rows(weights_.data(), stride_, rows.row_ptr.data(), rows.ids.data(), values, first, last,
                           scores.data());
      const double score = solver->best({last - first, g}, scores.data(), found[g]);
      if (!std::isfinite(score)) {
        throw std::domain_error("[Decoder] sentence " + std::to_string(g) + " has no legal structure of finite score");
      }
    }
  });
  Gold out;
  out.ptr.reserve(groups + 1);
  for (const auto& cells : found) {
    out.cells.insert(out.cells.end(), cells.begin(), cells.end());
    out.ptr.push_back(static_cast<std::int64_t>(out.cells.size()));
  }
  return out;
}

std::vector<double> Decoder::scores(const SparseRows& rows, int threads) const {
  check(rows);
  const std::size_t columns = structure_->columns();
  const float* values = rows.values.empty() ? nullptr : rows.values.data();
  std::vector<double> out(rows.rows() * columns);
  parallel_for(rows.groups(), threads, [&](std::size_t g) {
    const auto first = static_cast<std::size_t>(rows.group_ptr[g]);
    const auto last = static_cast<std::size_t>(rows.group_ptr[g + 1]);
    std::vector<double> table((last - first) * stride_);
    kernels::gather_rows(weights_.data(), stride_, rows.row_ptr.data(), rows.ids.data(), values, first, last,
                         table.data());
    for (std::size_t r = first; r < last; ++r) std::copy_n(&table[(r - first) * stride_], columns, &out[r * columns]);
  });
  return out;
}

std::vector<double> padded_table(const Structure& structure, std::span<const double> scores) {
  const std::size_t sites = check_table(structure, scores.size());
  std::vector<double> table(sites * structure.stride(), 0.0);
  for (std::size_t t = 0; t < sites; ++t) {
    std::copy_n(&scores[t * structure.columns()], structure.columns(), &table[t * structure.stride()]);
  }
  return table;
}

std::size_t check_table(const Structure& structure, std::size_t size) {
  if (size % structure.columns() != 0) {
    throw std::invalid_argument("[Structure] " + std::to_string(size) + " scores are not a whole number of rows of " +
                                std::to_string(structure.columns()));
  }
  return size / structure.columns();
}

}  // namespace spanloom
