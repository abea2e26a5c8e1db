#include "spanloom/learning/compressed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "spanloom/base/hashing.hpp"
#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

std::uint64_t mixed(std::uint64_t h, std::uint64_t x) {
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

constexpr std::size_t kMostTasks = 8;         // each has a counter for every feature
constexpr std::size_t kFewEntries = 1 << 16;  // with fewer, threads cost more than they bring
constexpr std::size_t kBlock = 1 << 12;       // features that are hashed together
constexpr std::uint32_t kNextClasses = 8;     // features between the prefetch of a class and its use

// Rows by task: those from parts[t] to parts[t + 1], with about as many entries each.
std::vector<std::size_t> share(const SparseRows& rows, int threads) {
  const std::size_t tasks =
      rows.entries() < kFewEntries ? 1 : std::min(kMostTasks, static_cast<std::size_t>(thread_count(threads)));
  std::vector<std::size_t> parts{0};
  for (std::size_t t = 1; t < tasks; ++t) {
    const auto wanted = static_cast<std::int64_t>(rows.entries() * t / tasks);
    const auto at = std::lower_bound(rows.row_ptr.begin(), rows.row_ptr.end(), wanted);
    parts.push_back(std::clamp(static_cast<std::size_t>(at - rows.row_ptr.begin()), parts.back(), rows.rows()));
  }
  parts.push_back(rows.rows());
  return parts;
}

Columns transpose(const SparseRows& rows, int threads) {
  const std::vector<std::size_t> parts = share(rows, threads);
  const std::size_t tasks = parts.size() - 1;
  // next[t][f]: first how often task t has feature f, then where the next of them goes.
  std::vector<std::vector<std::int64_t>> next(tasks);
  parallel_for(tasks, threads, [&](std::size_t t) {
    next[t].assign(rows.width, 0);
    for (std::int64_t e = rows.row_ptr[parts[t]]; e < rows.row_ptr[parts[t + 1]]; ++e) ++next[t][rows.ids[e]];
  });
  Columns columns;
  columns.ptr.reserve(rows.width + std::size_t{1});
  std::int64_t total = 0;
  for (std::size_t f = 0; f < rows.width; ++f) {
    columns.ptr.push_back(total);
    for (auto& own : next) total += std::exchange(own[f], total);
  }
  columns.ptr.push_back(total);
  columns.sites.resize(rows.entries());
  columns.values.resize(rows.values.size());
  parallel_for(tasks, threads, [&](std::size_t t) {
    for (std::size_t r = parts[t]; r < parts[t + 1]; ++r) {
      for (std::int64_t e = rows.row_ptr[r]; e < rows.row_ptr[r + 1]; ++e) {
        const std::int64_t at = next[t][rows.ids[e]]++;
        columns.sites[at] = static_cast<std::uint32_t>(r);
        if (!rows.values.empty()) columns.values[at] = rows.values[e];
      }
    }
  });
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
    h = mixed(h, c.sites[i]);
    if (!c.values.empty()) h = mixed(h, std::bit_cast<std::uint32_t>(c.values[i]));
  }
  return h;
}

// Classes of features: those with equal columns and the same key, numbered by their first features.
struct Classes {
  std::vector<std::uint32_t> of;     // [features]
  std::vector<std::uint32_t> first;  // [classes]: its first feature
  std::vector<std::uint32_t> sizes;  // [classes]
};

Classes merge_equal(const Columns& columns, std::uint32_t width, std::span<const std::uint32_t> keys, int threads) {
  std::vector<std::uint64_t> hashes(width);
  parallel_for((width + kBlock - 1) / kBlock, threads, [&](std::size_t block) {
    const auto last = static_cast<std::uint32_t>(std::min<std::size_t>(width, (block + 1) * kBlock));
    for (auto f = static_cast<std::uint32_t>(block * kBlock); f < last; ++f) {
      hashes[f] = hash(columns, f);
      if (!keys.empty()) hashes[f] = mixed(hashes[f], keys[f]);
    }
  });
  Classes out;
  out.of.resize(width);
  HashSlots known;
  for (std::uint32_t f = 0; f < width; ++f) {
    if (f + kNextClasses < width) known.prefetch(hashes[f + kNextClasses]);
    std::uint32_t found = known.find(hashes[f], [&](std::uint32_t c) {
      const std::uint32_t other = out.first[c];
      return (keys.empty() || keys[other] == keys[f]) && equal(columns, other, f);
    });
    if (found == kNone) {
      found = static_cast<std::uint32_t>(out.first.size());
      out.first.push_back(f);
      out.sizes.push_back(0);
      known.insert(hashes[f], found);
    }
    out.of[f] = found;
    ++out.sizes[found];
  }
  return out;
}

Classes all_apart(std::uint32_t width) {
  Classes out;
  out.of.resize(width);
  std::iota(out.of.begin(), out.of.end(), 0U);
  out.first = out.of;
  out.sizes.assign(width, 1);
  return out;
}

// The rows with classes instead of features, each once.
SparseRows rewrite(const SparseRows& rows, const Classes& classes, std::size_t kept, int threads) {
  SparseRows out;
  out.width = static_cast<std::uint32_t>(classes.first.size());
  out.group_ptr = rows.group_ptr;
  if (out.width == rows.width) {
    out.row_ptr = rows.row_ptr;
    out.ids = rows.ids;
    out.values = rows.values;
    return out;
  }
  // [features]: the class of those that stand for it.
  std::vector<std::uint32_t> name(rows.width, kNone);
  for (std::uint32_t c = 0; c < out.width; ++c) name[classes.first[c]] = c;
  const std::vector<std::size_t> parts = share(rows, threads);
  out.row_ptr.resize(rows.row_ptr.size());
  parallel_for(parts.size() - 1, threads, [&](std::size_t t) {
    for (std::size_t r = parts[t]; r < parts[t + 1]; ++r) {
      std::int64_t n = 0;
      for (std::int64_t e = rows.row_ptr[r]; e < rows.row_ptr[r + 1]; ++e) n += name[rows.ids[e]] != kNone;
      out.row_ptr[r + 1] = n;
    }
  });
  std::partial_sum(out.row_ptr.begin(), out.row_ptr.end(), out.row_ptr.begin());
  out.ids.resize(kept);
  if (!rows.values.empty()) out.values.resize(kept);
  parallel_for(parts.size() - 1, threads, [&](std::size_t t) {
    std::int64_t to = out.row_ptr[parts[t]];
    for (std::int64_t e = rows.row_ptr[parts[t]]; e < rows.row_ptr[parts[t + 1]]; ++e) {
      const std::uint32_t c = name[rows.ids[e]];
      if (c == kNone) continue;
      out.ids[to] = c;
      if (!rows.values.empty()) out.values[to] = rows.values[e];
      ++to;
    }
  });
  return out;
}

}  // namespace

CompressedRows compress(const SparseRows& rows, const Compression& how) {
  rows.check();
  if (rows.rows() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("[compress] more than 2^32 sites: " + std::to_string(rows.rows()));
  }
  if (!how.keys.empty() && how.keys.size() != rows.width) {
    throw std::invalid_argument("[compress] " + std::to_string(how.keys.size()) + " keys for " +
                                std::to_string(rows.width) + " features");
  }
  Columns columns = transpose(rows, how.threads);
  Classes classes = how.merge ? merge_equal(columns, rows.width, how.keys, how.threads) : all_apart(rows.width);
  CompressedRows out;
  out.class_ptr.assign(1, 0);
  std::int64_t kept = 0;
  for (const std::uint32_t f : classes.first) {
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
  for (const std::uint32_t n : classes.sizes) out.scale.push_back(std::sqrt(static_cast<double>(n)));
  out.rows = rewrite(rows, classes, static_cast<std::size_t>(kept), how.threads);
  out.class_of = std::move(classes.of);
  if (how.bundles && rows.values.empty()) bundle(out, how.threads);
  return out;
}

}  // namespace spanloom
