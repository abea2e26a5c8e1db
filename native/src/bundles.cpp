#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

#include "spanloom/compressed.hpp"

namespace spanloom {
namespace {

constexpr std::int64_t kFewestSites = 4;  // of a class that may lead a bundle
constexpr std::uint32_t kFarthest = 128;  // entries before and after it that may belong to it
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

std::span<const std::uint32_t> row_of(const SparseRows& rows, std::size_t r) {
  return {rows.ids.data() + rows.row_ptr[r], static_cast<std::size_t>(rows.row_ptr[r + 1] - rows.row_ptr[r])};
}

// What stands around a class wherever it is: as many entries before and after it as are the same in all its rows.
// Extractors write what a word has to say in one place and in one order, so this finds most of what comes along.
struct Surroundings {
  std::int64_t entry = -1;  // where it was seen first
  std::uint32_t before = 0;
  std::uint32_t after = 0;

  std::uint32_t length() const { return before + 1 + after; }
};

std::vector<Surroundings> find_surroundings(const SparseRows& rows, std::size_t classes) {
  std::vector<Surroundings> out(classes);
  const std::uint32_t* ids = rows.ids.data();
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::int64_t e = rows.row_ptr[r]; e < rows.row_ptr[r + 1]; ++e) {
      Surroundings& around = out[ids[e]];
      const auto before = static_cast<std::uint32_t>(std::min<std::int64_t>(e - rows.row_ptr[r], kFarthest));
      const auto after = static_cast<std::uint32_t>(std::min<std::int64_t>(rows.row_ptr[r + 1] - e - 1, kFarthest));
      if (around.entry < 0) {
        around = {e, before, after};
        continue;
      }
      const std::uint32_t* here = ids + e;
      const std::uint32_t* there = ids + around.entry;
      around.before = std::min(around.before, before);
      around.after = std::min(around.after, after);
      std::uint32_t same = 0;
      while (same < around.before && *(here - same - 1) == *(there - same - 1)) ++same;
      around.before = same;
      same = 0;
      while (same < around.after && here[same + 1] == there[same + 1]) ++same;
      around.after = same;
    }
  }
  return out;
}

// Covers rows by surroundings that do not overlap, the longest first.
class Cover {
 public:
  struct Piece {
    std::uint32_t leader;
    std::uint32_t first;  // place in the row
    std::uint32_t last;
  };

  explicit Cover(const CompressedRows& x)
      : rows_(x.rows), around_(find_surroundings(x.rows, x.classes())), rank_(x.classes(), kNone) {
    const auto sites = [&](std::uint32_t c) { return x.class_ptr[c + 1] - x.class_ptr[c]; };
    for (std::uint32_t c = 0; c < x.classes(); ++c) {
      if (sites(c) >= kFewestSites && length(c) > 1) order_.push_back(c);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) {
      return length(a) != length(b) ? length(a) > length(b) : sites(a) > sites(b);
    });
    for (std::uint32_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = i;
  }

  std::uint32_t length(std::uint32_t c) const { return around_[c].length(); }

  // The pieces of row r, in the order of their places.
  const std::vector<Piece>& of(std::size_t r) {
    const auto row = row_of(rows_, r);
    ranked_.clear();
    for (std::uint32_t place = 0; place < row.size(); ++place) {
      const std::uint32_t rank = rank_[row[place]];
      if (rank != kNone) ranked_.push_back(std::uint64_t{rank} << 32 | place);
    }
    std::sort(ranked_.begin(), ranked_.end());
    taken_.assign(row.size(), 0);
    pieces_.clear();
    for (const std::uint64_t one : ranked_) {
      const std::uint32_t leader = order_[one >> 32];
      const auto place = static_cast<std::uint32_t>(one);
      const std::uint32_t first = place - around_[leader].before;
      const std::uint32_t last = place + around_[leader].after;
      if (std::any_of(taken_.begin() + first, taken_.begin() + last + 1, [](auto t) { return t != 0; })) continue;
      std::fill(taken_.begin() + first, taken_.begin() + last + 1, std::uint8_t{1});
      pieces_.push_back({leader, first, last});
    }
    std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.first < b.first; });
    return pieces_;
  }

  // Leaves out what costs more than it saves: what few rows use. Others may then take its place, so that in the end one
  // or the other may have a few uses less than were counted.
  void prune(const std::vector<std::int64_t>& uses) {
    for (const std::uint32_t c : order_) {
      const std::int64_t members = length(c);
      if (2 * uses[c] * (members - 1) <= 3 * members) rank_[c] = kNone;
    }
  }

 private:
  const SparseRows& rows_;
  std::vector<Surroundings> around_;  // [classes]
  std::vector<std::uint32_t> order_;  // classes by what is to be taken first
  std::vector<std::uint32_t> rank_;   // [classes]: where it is in order_
  std::vector<std::uint64_t> ranked_;
  std::vector<std::uint8_t> taken_;
  std::vector<Piece> pieces_;
};

// Lists by id, filled in the order in which sites come.
class Lists {
 public:
  explicit Lists(std::size_t ids) : ptr_(ids + 1, 0) {}
  void count(std::uint32_t id) { ++ptr_[id + std::size_t{1}]; }
  void counted() {
    std::partial_sum(ptr_.begin(), ptr_.end(), ptr_.begin());
    next_.assign(ptr_.begin(), ptr_.end() - 1);
    sites_.resize(static_cast<std::size_t>(ptr_.back()));
  }
  void add(std::uint32_t id, std::size_t site) { sites_[next_[id]++] = static_cast<std::uint32_t>(site); }
  void give(std::vector<std::int64_t>& ptr, std::vector<std::uint32_t>& sites) {
    ptr = std::move(ptr_);
    sites = std::move(sites_);
  }

 private:
  std::vector<std::int64_t> ptr_, next_;
  std::vector<std::uint32_t> sites_;
};

// Where every class and every bundle is, from the rows and the members of bundles.
void list_sites(CompressedRows& x) {
  const auto classes = static_cast<std::uint32_t>(x.classes());
  Lists of_classes(classes);
  Lists of_bundles(x.bundles());
  const auto each = [&](auto&& visit) {
    for (std::size_t r = 0; r < x.rows.rows(); ++r) {
      for (const std::uint32_t id : row_of(x.rows, r)) {
        if (id < classes) {
          visit(of_classes, id, r);
        } else {
          visit(of_bundles, id - classes, r);
        }
      }
    }
    for (std::size_t b = 0; b < x.bundles(); ++b) {
      for (std::int64_t m = x.bundle_ptr[b]; m < x.bundle_ptr[b + 1]; ++m) {
        visit(of_classes, x.members[m], x.rows.rows() + b);
      }
    }
  };
  each([](Lists& lists, std::uint32_t id, std::size_t) { lists.count(id); });
  of_classes.counted();
  of_bundles.counted();
  each([](Lists& lists, std::uint32_t id, std::size_t site) { lists.add(id, site); });
  of_classes.give(x.class_ptr, x.sites);
  of_bundles.give(x.bundle_site_ptr, x.bundle_sites);
}

}  // namespace

void bundle(CompressedRows& x) {
  SparseRows& rows = x.rows;
  Cover cover(x);
  const auto classes = static_cast<std::uint32_t>(x.classes());
  std::vector<std::int64_t> uses(classes, 0);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (const Cover::Piece& piece : cover.of(r)) ++uses[piece.leader];
  }
  cover.prune(uses);

  std::vector<std::uint32_t> number(classes, kNone);  // of the bundle that a class leads
  std::vector<std::uint32_t> ids;
  std::vector<std::int64_t> row_ptr{0};
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    const auto row = row_of(rows, r);
    std::uint32_t place = 0;
    for (const Cover::Piece& piece : cover.of(r)) {
      ids.insert(ids.end(), row.begin() + place, row.begin() + piece.first);
      place = piece.last + 1;
      if (number[piece.leader] == kNone) {
        number[piece.leader] = static_cast<std::uint32_t>(x.bundles());
        x.members.insert(x.members.end(), row.begin() + piece.first, row.begin() + place);
        x.bundle_ptr.push_back(static_cast<std::int64_t>(x.members.size()));
      }
      ids.push_back(classes + number[piece.leader]);
    }
    ids.insert(ids.end(), row.begin() + place, row.end());
    row_ptr.push_back(static_cast<std::int64_t>(ids.size()));
  }
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (rows.rows() + x.bundles() > kMost || x.classes() + x.bundles() > kMost) {
    throw std::length_error("[bundle] more than 2^32 sites or features with " + std::to_string(x.bundles()) +
                            " bundles");
  }
  rows.ids = std::move(ids);
  rows.row_ptr = std::move(row_ptr);
  rows.width = classes + static_cast<std::uint32_t>(x.bundles());
  list_sites(x);
}

}  // namespace spanloom
