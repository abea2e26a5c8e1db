#include "spanloom/base/sparse.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace spanloom {
namespace {

void check_pointers(const std::vector<std::int64_t>& ptr, std::size_t end, const char* name) {
  if (ptr.empty() || ptr.front() != 0 || ptr.back() != static_cast<std::int64_t>(end)) {
    throw std::invalid_argument(std::string("[SparseRows] ") + name + " must run from 0 to " + std::to_string(end));
  }
  for (std::size_t i = 1; i < ptr.size(); ++i) {
    if (ptr[i] < ptr[i - 1]) {
      throw std::invalid_argument(std::string("[SparseRows] ") + name + " descends at " + std::to_string(i) + ": " +
                                  std::to_string(ptr[i - 1]) + ", " + std::to_string(ptr[i]));
    }
  }
}

}  // namespace

void SparseRows::check() const {
  if (row_ptr.empty()) throw std::invalid_argument("[SparseRows] row_ptr is empty");
  check_pointers(group_ptr, rows(), "group_ptr");
  check_pointers(row_ptr, ids.size(), "row_ptr");
  if (!values.empty() && values.size() != ids.size()) {
    throw std::invalid_argument("[SparseRows] " + std::to_string(ids.size()) + " ids but " +
                                std::to_string(values.size()) + " values");
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= width) {
      throw std::invalid_argument("[SparseRows] feature id " + std::to_string(ids[i]) + " at entry " +
                                  std::to_string(i) + " is not below " + std::to_string(width));
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw std::invalid_argument("[SparseRows] the value at entry " + std::to_string(i) + " is not finite");
    }
  }
}

}  // namespace spanloom
