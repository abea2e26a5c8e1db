#include "spanloom/learning/shared_rows.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/base/memory.hpp"

namespace spanloom {
namespace {

[[noreturn]] void misfit(const std::string& what) { throw std::invalid_argument("[SharedRows] " + what); }

}  // namespace

double SharedRows::evaluate(Objective& objective, std::span<const float> x, std::size_t behind,
                            std::span<float> gradient) const {
  const std::size_t rows = row.size();
  if (own_row.size() != rows || factor.size() != rows || gradient.size() != x.size()) {
    misfit(std::to_string(rows) + " rows of " + std::to_string(width) + " numbers, " + std::to_string(own_row.size()) +
           " rows of the objective, " + std::to_string(factor.size()) + " factors, " + std::to_string(x.size()) +
           " parameters, a gradient of " + std::to_string(gradient.size()));
  }
  if (objective.size() < behind || x.size() < behind) misfit("more numbers behind the rows than parameters");
  const std::size_t own_size = objective.size() - behind;
  const std::size_t shared_size = x.size() - behind;
  for (std::size_t i = 0; i < rows; ++i) {
    if ((row[i] + std::size_t{1}) * width > shared_size) misfit("there is no shared row " + std::to_string(row[i]));
    if ((own_row[i] + std::size_t{1}) * width > own_size) misfit("there is no own row " + std::to_string(own_row[i]));
  }
  // Kept from block to block: to get and clear such memory takes as long as to use it.
  thread_local LargeVector<double> own;
  thread_local LargeVector<double> slope;
  own.assign(objective.size(), 0.0);
  slope.resize(objective.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const float* from = &x[row[i] * width];
    double* to = &own[own_row[i] * width];
    const double f = factor[i];
    for (std::size_t k = 0; k < width; ++k) to[k] += f * static_cast<double>(from[k]);
  }
  std::copy_n(x.data() + shared_size, behind, own.data() + own_size);
  const double value = objective.evaluate(own, slope);
  for (std::size_t i = 0; i < rows; ++i) {
    const double* from = &slope[own_row[i] * width];
    float* to = &gradient[row[i] * width];
    const double f = factor[i];
    for (std::size_t k = 0; k < width; ++k) to[k] += static_cast<float>(f * from[k]);
  }
  for (std::size_t k = 0; k < behind; ++k) gradient[shared_size + k] += static_cast<float>(slope[own_size + k]);
  return value;
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
