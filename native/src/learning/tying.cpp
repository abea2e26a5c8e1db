#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/learning/layout.hpp"

namespace spanloom {

void Tying::check(std::size_t scores, const char* name) const {
  if (identity()) return;
  const bool sized =
      ptr.size() == scores + 1 && ptr.front() == 0 && ptr.back() == static_cast<std::int64_t>(params.size());
  if (!sized || !std::is_sorted(ptr.begin(), ptr.end())) {
    throw std::invalid_argument(std::string("[Tying] ") + name + " needs " + std::to_string(scores + 1) +
                                " ascending pointers, from 0 to " + std::to_string(params.size()) + ", for " +
                                std::to_string(scores) + " scores; got " + std::to_string(ptr.size()));
  }
  if (!values.empty() && values.size() != params.size()) {
    throw std::invalid_argument(std::string("[Tying] ") + name + " has " + std::to_string(values.size()) +
                                " values for " + std::to_string(params.size()) + " parameters");
  }
  for (const std::int32_t p : params) {
    if (p < 0 || static_cast<std::size_t>(p) >= width) {
      throw std::invalid_argument(std::string("[Tying] ") + name + " names parameter " + std::to_string(p) + " of " +
                                  std::to_string(width));
    }
  }
}

void Tying::apply(const double* from, std::size_t scores, double* out) const {
  if (identity()) {
    std::copy_n(from, scores, out);
    return;
  }
  for (std::size_t j = 0; j < scores; ++j) {
    double sum = 0;
    for (std::int64_t i = ptr[j]; i < ptr[j + 1]; ++i) sum += value(i) * from[params[i]];
    out[j] = sum;
  }
}

void Tying::apply_transposed(const double* scores, std::size_t n, double factor, double* out) const {
  if (identity()) {
    for (std::size_t j = 0; j < n; ++j) out[j] = factor * scores[j];
    return;
  }
  std::fill_n(out, width, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::int64_t i = ptr[j]; i < ptr[j + 1]; ++i) out[params[i]] += factor * value(i) * scores[j];
  }
}

}  // namespace spanloom
