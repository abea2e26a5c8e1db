#include "spanloom/learning/shared_rows.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace spanloom {
namespace {

[[noreturn]] void misfit(const std::string& what) { throw std::invalid_argument("[SharedRows] " + what); }

}  // namespace

SharedRows::SharedRows(std::size_t own_rows, std::span<const std::uint32_t> own_row, std::span<const std::uint32_t> row,
                       std::span<const double> factor, std::span<const std::uint32_t> to)
    : ptr_(own_rows + 1, 0), entries_(row.size()) {
  const std::size_t n = row.size();
  if (own_row.size() != n || factor.size() != n || to.size() != n) {
    misfit(std::to_string(n) + " shared rows, " + std::to_string(own_row.size()) + " rows of the block, " +
           std::to_string(factor.size()) + " factors, " + std::to_string(to.size()) + " rows of the gradient");
  }
  for (const std::uint32_t c : own_row) {
    if (c >= own_rows) misfit("there is no row " + std::to_string(c) + " of " + std::to_string(own_rows));
    ++ptr_[c + std::size_t{1}];
  }
  for (std::size_t c = 0; c < own_rows; ++c) ptr_[c + 1] += ptr_[c];
  std::vector<std::int64_t> next(ptr_.begin(), ptr_.end() - 1);
  for (std::size_t i = 0; i < n; ++i) {
    entries_[next[own_row[i]]++] = {factor[i], row[i], to[i]};
    rows_ = std::max(rows_, row[i] + std::size_t{1});
    gradient_rows_ = std::max(gradient_rows_, to[i] + std::size_t{1});
  }
}

void SharedRows::check(std::span<const float> x, std::span<const float> gradient, std::size_t width,
                       std::size_t behind) const {
  const auto fits = [&](std::size_t size, std::size_t rows, const char* what) {
    if (size < behind || size - behind < rows * width || (size - behind) % width != 0) {
      misfit(std::to_string(size) + " " + what + " for " + std::to_string(rows) + " or more rows of " +
             std::to_string(width) + " numbers and " + std::to_string(behind) + " behind them");
    }
  };
  fits(x.size(), rows_, "parameters");
  fits(gradient.size(), gradient_rows_, "derivatives");
}

void SharedRows::read(std::size_t c, const float* shared, std::size_t width, double* out) const {
  std::fill_n(out, width, 0.0);
  for (std::int64_t i = ptr_[c]; i < ptr_[c + 1]; ++i) {
    const Entry& entry = entries_[i];
    const float* from = shared + entry.row * width;
    for (std::size_t k = 0; k < width; ++k) out[k] += entry.factor * static_cast<double>(from[k]);
  }
}

void SharedRows::add(std::size_t c, const double* own, std::size_t width, float* gradient) const {
  for (std::int64_t i = ptr_[c]; i < ptr_[c + 1]; ++i) {
    const Entry& entry = entries_[i];
    float* to = gradient + entry.to * width;
    for (std::size_t k = 0; k < width; ++k) to[k] += static_cast<float>(entry.factor * own[k]);
  }
}

SomeRows add(std::span<const std::uint32_t> row, std::span<const float> values,
             std::span<const std::uint32_t> other_row, std::span<const float> other_values, std::size_t width) {
  if (values.size() < row.size() * width || other_values.size() < other_row.size() * width ||
      values.size() - row.size() * width != other_values.size() - other_row.size() * width) {
    misfit(std::to_string(row.size()) + " rows with " + std::to_string(values.size()) + " numbers and " +
           std::to_string(other_row.size()) + " rows with " + std::to_string(other_values.size()));
  }
  SomeRows out;
  out.row.reserve(std::max(row.size(), other_row.size()));
  std::set_union(row.begin(), row.end(), other_row.begin(), other_row.end(), std::back_inserter(out.row));
  out.values.resize(values.size() - row.size() * width + out.row.size() * width);
  const float* a = values.data();
  const float* b = other_values.data();
  float* to = out.values.data();
  std::size_t i = 0;
  std::size_t j = 0;
  for (const std::uint32_t r : out.row) {
    const bool left = i < row.size() && row[i] == r;
    const bool right = j < other_row.size() && other_row[j] == r;
    if (left && right) {
      for (std::size_t k = 0; k < width; ++k) to[k] = a[k] + b[k];
    } else {
      std::copy_n(left ? a : b, width, to);
    }
    if (left) ++i, a += width;
    if (right) ++j, b += width;
    to += width;
  }
  for (std::size_t k = 0; k < values.size() - row.size() * width; ++k) to[k] = a[k] + b[k];
  return out;
}

}  // namespace spanloom
