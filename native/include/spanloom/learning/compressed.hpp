#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/base/sparse.hpp"

namespace spanloom {

// The training matrix with equal columns merged, by rows and by columns.
//
// Features that fire at exactly the same sites (most rare features do: every n-gram around a word seen once) get the
// same gradient, and under an L2 penalty from the same start the same weight. A class of m such features with weight w
// each is one parameter v = sqrt(m) w: its sites see sqrt(m) v = m w, and its penalty v^2 = m w^2 is theirs. The
// optimum, and every step of a gradient method on the way, is that of the whole matrix.
//
// Bundles: features come along with each other (a word's affixes, shape and clusters with the word). What stands side
// by side in several places is added up once, as a bundle, and the rows have the bundle instead; bundles that stand
// side by side are bundled again, in levels. It is the same matrix as a product of sparser ones. Ids of `rows` and
// members from classes() on are bundles; sites from rows.rows() on are the bundles that a class or a bundle is a member
// of.
struct CompressedRows {
  SparseRows rows;                      // ids are classes, then bundles
  std::vector<std::int64_t> class_ptr;  // [classes + 1]: class c owns entries class_ptr[c] .. class_ptr[c + 1] of:
  std::vector<std::uint32_t> sites;     //   its sites, ascending
  std::vector<float> site_values;       //   and values there, or empty
  std::vector<std::uint32_t> class_of;  // [features]
  std::vector<double> scale;            // [classes]: sqrt(m)

  std::vector<std::int64_t> bundle_ptr{0};       // [bundles + 1]: bundle b owns entries bundle_ptr[b] .. of:
  std::vector<std::uint32_t> members;            //   its classes, and bundles of lower levels
  std::vector<std::int64_t> bundle_site_ptr{0};  // [bundles + 1]: the same for:
  std::vector<std::uint32_t> bundle_sites;       //   its sites, ascending
  std::vector<std::size_t> level_ptr{0};         // [levels + 1]: level l has the bundles from level_ptr[l] on

  std::size_t classes() const { return class_ptr.size() - 1; }
  std::size_t bundles() const { return bundle_ptr.size() - 1; }
  std::size_t levels() const { return level_ptr.size() - 1; }
};

struct Compression {
  bool merge = true;                    // false: every feature is a class of its own
  bool bundles = true;                  // false: none, as for rows with values
  std::span<const std::uint32_t> keys;  // [features]: only features with the same key are merged; empty: all may be
  int threads = 1;                      // 0: all cores; the result is the same for any number
};
CompressedRows compress(const SparseRows& rows, const Compression& how);

// Puts bundles into rows that have none; their values must be ones.
void bundle(CompressedRows& x, int threads);

}  // namespace spanloom
