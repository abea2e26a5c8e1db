#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanloom {

// The features active at every site of a corpus: a sparse matrix, one row a site, sentences one after another.
struct SparseRows {
  std::vector<std::int64_t> group_ptr{0};  // [sentences + 1]: sentence g owns rows group_ptr[g] .. group_ptr[g + 1]
  std::vector<std::int64_t> row_ptr{0};    // [rows + 1]: row r owns entries row_ptr[r] .. row_ptr[r + 1]
  std::vector<std::uint32_t> ids;          // [entries]: feature of each entry, < width
  std::vector<float> values;               // [entries], or empty when every value is 1
  std::uint32_t width = 0;                 // number of features

  std::size_t groups() const { return group_ptr.size() - 1; }
  std::size_t rows() const { return row_ptr.size() - 1; }
  std::size_t entries() const { return ids.size(); }

  // Throws std::invalid_argument, with the values, unless the pointers ascend, fit the arrays and every id < width.
  void check() const;
};

}  // namespace spanloom
