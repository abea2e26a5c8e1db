#include "spanloom/learning/supervision.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace spanloom {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("[Supervision] " + what); }

}  // namespace

void Supervision::check(std::span<const std::int64_t> site_ptr, const Structure& structure) const {
  structures.check(site_ptr, structure);
  masks.check(site_ptr, structure);
  if (!values.empty() && values.size() != structures.cells.size()) {
    fail(std::to_string(values.size()) + " target values for " + std::to_string(structures.cells.size()) + " cells");
  }
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    fail("a target value is not finite");
  }
  if (!weights.empty() && weights.size() != size()) {
    fail(std::to_string(weights.size()) + " weights for " + std::to_string(size()) + " sentences");
  }
  for (std::size_t g = 0; g < size(); ++g) {
    if (!std::isfinite(weight(g)) || weight(g) < 0) {
      fail("the weight of sentence " + std::to_string(g) + " is " + std::to_string(weight(g)) +
           "; weights are finite and at least 0");
    }
    if (masks.of(g) != nullptr && structures.ptr[g] != structures.ptr[g + 1]) {
      fail("sentence " + std::to_string(g) + " has both a mask and cells; give one of them");
    }
  }
}

double Supervision::subtract(std::size_t g, const Structure& structure, std::size_t sites, const double* scores,
                             const double* global, double* expected, double* global_expected) const {
  const std::size_t columns = structure.columns();
  const std::size_t stride = structure.stride();
  double score = 0;
  std::size_t site = 0;  // cells ascend in general, and sites are found without a division
  for (std::int64_t i = structures.ptr[g]; i < structures.ptr[g + 1]; ++i) {
    const auto cell = static_cast<std::size_t>(structures.cells[i]);
    const double value = values.empty() ? 1.0 : values[static_cast<std::size_t>(i)];
    if (cell < sites * columns) {
      if (cell < site * columns) site = cell / columns;
      while (cell >= (site + 1) * columns) ++site;
      const std::size_t at = site * stride + (cell - site * columns);
      score += value * scores[at];
      expected[at] -= value;
    } else {
      score += value * global[cell - sites * columns];
      global_expected[cell - sites * columns] -= value;
    }
  }
  return score;
}

}  // namespace spanloom
