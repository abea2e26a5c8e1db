#pragma once
#include <cstdint>
#include <vector>

#include "spanloom/sparse.hpp"

namespace spanloom {

// The training matrix with equal columns merged, by rows and by columns.
//
// Features that fire at exactly the same sites (most rare features do: every n-gram around a word seen once) get the
// same gradient, and under an L2 penalty from the same start the same weight. A class of m such features with weight w
// each is one parameter v = sqrt(m) w: its sites see sqrt(m) v = m w, and its penalty v^2 = m w^2 is theirs. The
// optimum, and every step of a gradient method on the way, is that of the whole matrix.
struct CompressedRows {
  SparseRows rows;                      // ids are classes
  std::vector<std::int64_t> class_ptr;  // [classes + 1]: class c owns entries class_ptr[c] .. class_ptr[c + 1] of:
  std::vector<std::uint32_t> sites;     //   its sites, ascending
  std::vector<float> site_values;       //   and values there, or empty
  std::vector<std::uint32_t> class_of;  // [features]
  std::vector<double> scale;            // [classes]: sqrt(m)

  std::size_t classes() const { return class_ptr.size() - 1; }
};

// merge = false keeps every feature a class of its own.
CompressedRows compress(const SparseRows& rows, bool merge);

}  // namespace spanloom
