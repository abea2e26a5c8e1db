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
//
// Bundles: where one feature is, others always are (a word's affixes, shape and clusters where the word is). Those that
// many sites share are added up once, as a bundle, and the rows have the bundle instead: the same matrix as a product
// of two sparser ones. Entries of `rows` from classes() on are bundles; sites of a class from rows.rows() on are the
// bundles that it is a member of.
struct CompressedRows {
  SparseRows rows;                      // ids are classes, then bundles
  std::vector<std::int64_t> class_ptr;  // [classes + 1]: class c owns entries class_ptr[c] .. class_ptr[c + 1] of:
  std::vector<std::uint32_t> sites;     //   its sites, ascending
  std::vector<float> site_values;       //   and values there, or empty
  std::vector<std::uint32_t> class_of;  // [features]
  std::vector<double> scale;            // [classes]: sqrt(m)

  std::vector<std::int64_t> bundle_ptr{0};       // [bundles + 1]: bundle b owns entries bundle_ptr[b] .. of:
  std::vector<std::uint32_t> members;            //   its classes
  std::vector<std::int64_t> bundle_site_ptr{0};  // [bundles + 1]: the same for:
  std::vector<std::uint32_t> bundle_sites;       //   its sites, ascending

  std::size_t classes() const { return class_ptr.size() - 1; }
  std::size_t bundles() const { return bundle_ptr.size() - 1; }
};

// merge = false keeps every feature a class of its own; bundles = false leaves bundles alone, as do rows with values.
CompressedRows compress(const SparseRows& rows, bool merge, bool bundles);

// Puts bundles into rows that have none; their values must be ones.
void bundle(CompressedRows& x);

}  // namespace spanloom
