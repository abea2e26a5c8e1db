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
    if (features * columns != part.weights.size()) {
      throw std::invalid_argument("[Decoder] " + std::to_string(part.weights.size()) + " weights do not fit " +
                                  std::to_string(columns) + " columns");
    }
    if (!slices_.empty() && features != features_) {
      throw std::invalid_argument("[Decoder] structures have weights for " + std::to_string(features_) + " and for " +
                                  std::to_string(features) + " features");
    }
    check_finite(part.weights);
    features_ = features;
    add(part);
  }
  const auto table = std::make_shared<LargeVector<float>>(features_ * stride_, 0.0F);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::size_t columns = parts[p].structure->columns();
    for (std::size_t f = 0; f < features_; ++f) {
      std::copy_n(&parts[p].weights[f * columns], columns, &(*table)[f * stride_ + slices_[p].first]);
    }
  }
  held_ = table;
  weights_ = table->data();
}

Decoder::Decoder(const std::vector<Part>& parts, std::span<const float> table) : weights_(table.data()) {
  for (const Part& part : parts) add(part);
  features_ = stride_ == 0 ? 0 : table.size() / stride_;
  if (features_ * stride_ != table.size()) {
    throw std::invalid_argument("[Decoder] a table of " + std::to_string(table.size()) +
                                " weights does not have rows of " + std::to_string(stride_));
  }
  check_finite(table);
}

void Decoder::add(const Part& part) {
  if (part.global.size() != part.structure->global_cells()) {
    throw std::invalid_argument("[Decoder] " + std::to_string(part.global.size()) + " global weights do not fit " +
                                std::to_string(part.structure->global_cells()) + " global cells");
  }
  if (!std::ranges::all_of(part.global, [](double w) { return std::isfinite(w); })) {
    throw std::invalid_argument("[Decoder] a weight is not finite");
  }
  slices_.push_back({part.structure, part.global, {}, stride_});
  stride_ += part.structure->stride();
}

void Decoder::check_finite(std::span<const float> weights) const {
  if (!std::ranges::all_of(weights, [](float w) { return std::isfinite(w); })) {
    throw std::invalid_argument("[Decoder] a weight is not finite");
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

Decoder::Pass::Pass(const Decoder& decoder, const SparseRows& rows, std::span<const Structure* const> structures)
    : decoder_(decoder), rows_(rows) {
  for (std::size_t p = 0; p < decoder.size(); ++p) {
    const Structure& structure = structures.empty() ? decoder.structure(p) : *structures[p];
    structures_.push_back(&structure);
    solvers_.push_back(structure.solver(decoder.slices_[p].global));
  }
}

void Decoder::Pass::load(std::size_t sentence) {
  const auto first = static_cast<std::size_t>(rows_.group_ptr[sentence]);
  const auto last = static_cast<std::size_t>(rows_.group_ptr[sentence + 1]);
  sentence_ = sentence;
  sites_ = last - first;
  all_.resize(sites_ * decoder_.stride_);
  kernels::gather_rows(decoder_.weights_, decoder_.stride_, rows_.row_ptr.data(), rows_.ids,
                       rows_.values.empty() ? nullptr : rows_.values.data(), first, last, all_.data());
}

const double* Decoder::Pass::scores(std::size_t part) {
  const Slice& slice = decoder_.slices_[part];
  const std::size_t stride = slice.structure->stride();
  table_.resize(sites_ * stride);
  for (std::size_t t = 0; t < sites_; ++t) {
    std::copy_n(&all_[t * decoder_.stride_ + slice.first], stride, &table_[t * stride]);
  }
  return table_.data();
}

void Decoder::Pass::best(std::size_t part, std::vector<std::int32_t>& cells, const std::uint8_t* mask) {
  const std::vector<double>& offsets = decoder_.slices_[part].offsets;
  const std::size_t stride = decoder_.slices_[part].structure->stride();
  scores(part);
  const std::size_t first = offsets.empty() ? sites_ : structures_[part]->first_start({sites_, sentence_});
  for (std::size_t t = first; t < sites_; ++t) {
    for (std::size_t k = 0; k < offsets.size(); ++k) table_[t * stride + k] += offsets[k];
  }
  const double score = solvers_[part]->best({sites_, sentence_}, table_.data(), cells, false, mask);
  if (!std::isfinite(score)) {
    throw std::domain_error("[Decoder] sentence " + std::to_string(sentence_) +
                            " has no legal structure of finite score");
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
  std::vector<std::vector<std::vector<std::int32_t>>> found(slices_.size());
  for (auto& cells : found) cells.resize(groups);
  parallel_for((groups + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    Pass pass(*this, rows, structures);
    for (std::size_t g = shard * kShardSentences; g < std::min(groups, (shard + 1) * kShardSentences); ++g) {
      pass.load(g);
      for (std::size_t p = 0; p < slices_.size(); ++p) {
        pass.best(p, found[p][g], masks.empty() ? nullptr : masks[p].of(g));
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
    kernels::gather_rows(weights_, stride_, rows.row_ptr.data(), rows.ids, values, first, last, all.data());
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
