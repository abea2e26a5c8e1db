#include "spanloom/learning/compressed.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace spanloom {
namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdULL;
  return h ^ (h >> 33);
}

// The matrix by columns.
struct Columns {
  std::vector<std::int64_t> ptr;
  std::vector<std::uint32_t> sites;
  std::vector<float> values;
};

Columns transpose(const SparseRows& rows) {
  Columns columns;
  columns.ptr.assign(rows.width + std::size_t{1}, 0);
  for (const std::uint32_t id : rows.ids) ++columns.ptr[id + std::size_t{1}];
  for (std::size_t f = 0; f < rows.width; ++f) columns.ptr[f + 1] += columns.ptr[f];
  columns.sites.resize(rows.entries());
  columns.values.resize(rows.values.size());
  std::vector<std::int64_t> next(columns.ptr.begin(), columns.ptr.end() - 1);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::int64_t e = rows.row_ptr[r]; e < rows.row_ptr[r + 1]; ++e) {
      const std::int64_t at = next[rows.ids[e]]++;
      columns.sites[at] = static_cast<std::uint32_t>(r);
      if (!rows.values.empty()) columns.values[at] = rows.values[e];
    }
  }
  return columns;
}

bool equal(const Columns& c, std::uint32_t a, std::uint32_t b) {
  const std::int64_t n = c.ptr[a + 1] - c.ptr[a];
  if (n != c.ptr[b + 1] - c.ptr[b]) return false;
  for (std::int64_t i = 0; i < n; ++i) {
    if (c.sites[c.ptr[a] + i] != c.sites[c.ptr[b] + i]) return false;
    if (!c.values.empty() && c.values[c.ptr[a] + i] != c.values[c.ptr[b] + i]) return false;
  }
  return true;
}

std::uint64_t hash(const Columns& c, std::uint32_t f) {
  std::uint64_t h = static_cast<std::uint64_t>(c.ptr[f + 1] - c.ptr[f]);
  for (std::int64_t i = c.ptr[f]; i < c.ptr[f + 1]; ++i) {
    h = mix(h, c.sites[i]);
    if (!c.values.empty()) h = mix(h, std::bit_cast<std::uint32_t>(c.values[i]));
  }
  return h;
}

}  // namespace

CompressedRows compress(const SparseRows& rows, bool merge, bool bundles) {
  rows.check();
  if (rows.rows() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("[compress] more than 2^32 sites: " + std::to_string(rows.rows()));
  }
  Columns columns = transpose(rows);
  CompressedRows out;
  out.class_of.resize(rows.width);
  std::vector<std::uint32_t> first;  // [classes]: its first feature
  std::vector<std::uint32_t> sizes;
  // Classes with one hash form a list through `next`, so that a collision only costs a comparison.
  std::unordered_map<std::uint64_t, std::uint32_t> by_hash;
  std::vector<std::uint32_t> next;
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t f = 0; f < rows.width; ++f) {
    std::uint32_t found = kNone;
    std::uint32_t head = kNone;
    std::uint64_t h = 0;
    if (merge) {
      h = hash(columns, f);
      const auto at = by_hash.find(h);
      if (at != by_hash.end()) head = at->second;
      for (std::uint32_t c = head; c != kNone && found == kNone; c = next[c]) {
        if (equal(columns, first[c], f)) found = c;
      }
    }
    if (found == kNone) {
      found = static_cast<std::uint32_t>(first.size());
      first.push_back(f);
      sizes.push_back(0);
      next.push_back(head);
      if (merge) by_hash[h] = found;
    }
    out.class_of[f] = found;
    ++sizes[found];
  }

  out.class_ptr.assign(1, 0);
  std::int64_t kept = 0;
  for (const std::uint32_t f : first) {
    for (std::int64_t i = columns.ptr[f]; i < columns.ptr[f + 1]; ++i, ++kept) {
      columns.sites[kept] = columns.sites[i];
      if (!columns.values.empty()) columns.values[kept] = columns.values[i];
    }
    out.class_ptr.push_back(kept);
  }
  columns.sites.resize(kept);
  columns.sites.shrink_to_fit();
  if (!columns.values.empty()) columns.values.resize(kept);
  out.sites = std::move(columns.sites);
  out.site_values = std::move(columns.values);
  for (const std::uint32_t n : sizes) out.scale.push_back(std::sqrt(static_cast<double>(n)));

  out.rows.width = static_cast<std::uint32_t>(first.size());
  out.rows.group_ptr = rows.group_ptr;
  out.rows.row_ptr.reserve(rows.row_ptr.size());
  out.rows.ids.reserve(kept);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::int64_t e = rows.row_ptr[r]; e < rows.row_ptr[r + 1]; ++e) {
      const std::uint32_t c = out.class_of[rows.ids[e]];
      if (first[c] != rows.ids[e]) continue;
      out.rows.ids.push_back(c);
      if (!rows.values.empty()) out.rows.values.push_back(rows.values[e]);
    }
    out.rows.row_ptr.push_back(static_cast<std::int64_t>(out.rows.ids.size()));
  }
  if (bundles && rows.values.empty()) bundle(out);
  return out;
}

}  // namespace spanloom
