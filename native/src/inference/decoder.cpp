#include "spanloom/inference/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kShardSentences = 64;

}  // namespace

Decoder::Decoder(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const std::size_t columns = part.structure->columns();
    const std::size_t features = part.weights.size() / columns;
    if (features * columns != part.weights.size() || part.global.size() != part.structure->global_cells()) {
      throw std::invalid_argument("[Decoder] " + std::to_string(part.weights.size()) + " weights and " +
                                  std::to_string(part.global.size()) + " global weights do not fit " +
                                  std::to_string(columns) + " columns and " +
                                  std::to_string(part.structure->global_cells()) + " global cells");
    }
    if (!slices_.empty() && features != features_) {
      throw std::invalid_argument("[Decoder] structures have weights for " + std::to_string(features_) + " and for " +
                                  std::to_string(features) + " features");
    }
    const auto finite = [](auto w) { return std::isfinite(w); };
    if (!std::all_of(part.weights.begin(), part.weights.end(), finite) ||
        !std::all_of(part.global.begin(), part.global.end(), finite)) {
      throw std::invalid_argument("[Decoder] a weight is not finite");
    }
    features_ = features;
    slices_.push_back({part.structure, part.global, {}, stride_});
    stride_ += part.structure->stride();
  }
  weights_.assign(features_ * stride_, 0.0F);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::size_t columns = parts[p].structure->columns();
    for (std::size_t f = 0; f < features_; ++f) {
      std::copy_n(&parts[p].weights[f * columns], columns, &weights_[f * stride_ + slices_[p].first]);
    }
  }
}

void Decoder::set_offsets(std::size_t part, std::vector<double> offsets) {
  const bool finite = std::all_of(offsets.begin(), offsets.end(), [](double x) { return std::isfinite(x); });
  if (part >= slices_.size() || (!offsets.empty() && offsets.size() != slices_[part].structure->columns()) || !finite) {
    throw std::invalid_argument("[Decoder] " + std::to_string(offsets.size()) + " offsets do not fit structure " +
                                std::to_string(part) + " of " + std::to_string(slices_.size()) + ", or are not finite");
  }
  slices_[part].offsets = std::move(offsets);
}

void Decoder::check(const SparseRows& rows) const {
  if (rows.width > features_) {
    throw std::invalid_argument("[Decoder] the rows have " + std::to_string(rows.width) + " features, the weights " +
                                std::to_string(features_));
  }
}

void Decoder::take(const Slice& slice, std::size_t sites, const std::vector<double>& all,
                   std::vector<double>& table) const {
  const std::size_t stride = slice.structure->stride();
  table.resize(sites * stride);
  for (std::size_t t = 0; t < sites; ++t) {
    double* row = &table[t * stride];
    std::copy_n(&all[t * stride_ + slice.first], stride, row);
    for (std::size_t k = 0; k < slice.offsets.size(); ++k) row[k] += slice.offsets[k];
  }
}

std::vector<Structures> Decoder::best(const SparseRows& rows, int threads, std::span<const Structure* const> structures,
                                      std::span<const Masks> masks) const {
  check(rows);
  if (!structures.empty() && structures.size() != slices_.size()) {
    throw std::invalid_argument("[Decoder] " + std::to_string(structures.size()) + " structures instead of " +
                                std::to_string(slices_.size()));
  }
  const auto structure = [&](std::size_t p) -> const Structure& {
    return structures.empty() ? *slices_[p].structure : *structures[p];
  };
  for (std::size_t p = 0; p < slices_.size(); ++p) {
    const Structure& own = *slices_[p].structure;
    if (structure(p).columns() != own.columns() || structure(p).global_cells() != own.global_cells()) {
      throw std::invalid_argument(
          "[Decoder] structure " + std::to_string(p) + " has " + std::to_string(structure(p).columns()) +
          " columns and " + std::to_string(structure(p).global_cells()) + " global cells, the weights are for others");
    }
  }
  if (!masks.empty() && masks.size() != slices_.size()) {
    throw std::invalid_argument("[Decoder] masks for " + std::to_string(masks.size()) + " of " +
                                std::to_string(slices_.size()) + " structures");
  }
  for (std::size_t p = 0; p < masks.size(); ++p) masks[p].check(rows.group_ptr, structure(p));
  const std::size_t groups = rows.groups();
  const float* values = rows.values.empty() ? nullptr : rows.values.data();
  std::vector<std::vector<std::vector<std::int32_t>>> found(slices_.size());
  for (auto& cells : found) cells.resize(groups);
  parallel_for((groups + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    std::vector<std::unique_ptr<Solver>> solvers;
    for (std::size_t p = 0; p < slices_.size(); ++p) solvers.push_back(structure(p).solver(slices_[p].global));
    std::vector<double> all;
    std::vector<double> table;
    for (std::size_t g = shard * kShardSentences; g < std::min(groups, (shard + 1) * kShardSentences); ++g) {
      const auto first = static_cast<std::size_t>(rows.group_ptr[g]);
      const auto last = static_cast<std::size_t>(rows.group_ptr[g + 1]);
      all.resize((last - first) * stride_);
      kernels::gather_rows(weights_.data(), stride_, rows.row_ptr.data(), rows.ids, values, first, last, all.data());
      for (std::size_t p = 0; p < slices_.size(); ++p) {
        take(slices_[p], last - first, all, table);
        const double score = solvers[p]->best({last - first, g}, table.data(), found[p][g], false,
                                              masks.empty() ? nullptr : masks[p].of(g));
        if (!std::isfinite(score)) {
          throw std::domain_error("[Decoder] sentence " + std::to_string(g) +
                                  " has no legal structure of finite score");
        }
      }
    }
  });
  std::vector<Structures> out(slices_.size());
  for (std::size_t p = 0; p < slices_.size(); ++p) {
    out[p].ptr.reserve(groups + 1);
    for (const auto& cells : found[p]) {
      out[p].cells.insert(out[p].cells.end(), cells.begin(), cells.end());
      out[p].ptr.push_back(static_cast<std::int64_t>(out[p].cells.size()));
    }
  }
  return out;
}

std::vector<double> Decoder::scores(const SparseRows& rows, std::size_t part, int threads) const {
  return std::move(tables(rows, part, part + 1, threads).front());
}

std::vector<std::vector<double>> Decoder::all_scores(const SparseRows& rows, int threads) const {
  return tables(rows, 0, slices_.size(), threads);
}

std::vector<std::vector<double>> Decoder::tables(const SparseRows& rows, std::size_t begin, std::size_t end,
                                                 int threads) const {
  check(rows);
  const float* values = rows.values.empty() ? nullptr : rows.values.data();
  std::vector<std::vector<double>> out;
  for (std::size_t p = begin; p < end; ++p) out.emplace_back(rows.rows() * slices_.at(p).structure->columns());
  parallel_for(rows.groups(), threads, [&](std::size_t g) {
    const auto first = static_cast<std::size_t>(rows.group_ptr[g]);
    const auto last = static_cast<std::size_t>(rows.group_ptr[g + 1]);
    std::vector<double> all((last - first) * stride_);
    kernels::gather_rows(weights_.data(), stride_, rows.row_ptr.data(), rows.ids, values, first, last, all.data());
    for (std::size_t p = begin; p < end; ++p) {
      const std::size_t columns = slices_[p].structure->columns();
      for (std::size_t r = first; r < last; ++r) {
        std::copy_n(&all[(r - first) * stride_ + slices_[p].first], columns, &out[p - begin][r * columns]);
      }
    }
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
