#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

#include "spanloom/base/memory.hpp"
#include "spanloom/learning/compressed.hpp"

namespace spanloom {
namespace {

constexpr std::uint32_t kFewestUses = 4;  // of a pair: with fewer, writing its sum costs what it saves
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

constexpr std::int64_t kAhead = 16;  // entries between the prefetch of a counter and its use

// Two symbols side by side.
using Pair = std::uint64_t;
Pair pair_of(const std::uint32_t* ids) { return std::uint64_t{ids[0]} << 32 | ids[1]; }
std::array<std::uint32_t, 2> symbols_of(Pair pair) {
  return {static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair)};
}

std::span<const std::uint32_t> row_of(const SparseRows& rows, std::size_t r) {
  return {rows.ids.data() + rows.row_ptr[r], static_cast<std::size_t>(rows.row_ptr[r + 1] - rows.row_ptr[r])};
}

std::uint64_t hash(Pair pair) { return pair * 0x9e3779b97f4a7c15ULL; }

// Counts how often pairs are seen, or more where two share a counter: what is rare here is rare.
class PairFilter {
 public:
  explicit PairFilter(std::size_t pairs)
      : shift_(64 - std::clamp(static_cast<int>(std::bit_width(pairs)), 10, 28)),
        counters_(std::size_t{1} << (64 - shift_), 0) {}

  void count(Pair pair) {
    std::uint8_t& counter = counters_[hash(pair) >> shift_];
    counter = static_cast<std::uint8_t>(counter + (counter < kFewestUses));
  }
  SPANLOOM_INLINE void fetch(Pair pair) const { prefetch(&counters_[hash(pair) >> shift_]); }
  bool often(Pair pair) const { return counters_[hash(pair) >> shift_] >= kFewestUses; }

 private:
  int shift_;
  LargeVector<std::uint8_t> counters_;
};

// Numbers pairs in the order in which they are first seen, and counts them.
class PairNumbers {
 public:
  PairNumbers() : table_(std::size_t{1} << bits_) {}

  std::uint32_t size() const { return size_; }

  SPANLOOM_INLINE void fetch(Pair pair) const { prefetch(&table_[hash(pair) >> (64 - bits_)]); }

  // Counts a pair and returns its number.
  std::uint32_t add(Pair pair) {
    Place* place = find(pair);
    if (place->count == 0) {
      if (2 * (std::size_t{size_} + 1) > table_.size()) {
        grow();
        place = find(pair);
      }
      *place = {pair, size_++, 0};
    }
    place->count += place->count < kNone;
    return place->number;
  }

  // Calls body(number, pair, count) for all pairs, in no order.
  template <class Body>
  void each(const Body& body) const {
    for (const Place& place : table_) {
      if (place.count > 0) body(place.number, place.pair, place.count);
    }
  }

 private:
  struct Place {
    Pair pair;
    std::uint32_t number;
    std::uint32_t count;
  };

  // Where the pair is, or the empty place where it belongs.
  Place* find(Pair pair) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash(pair) >> (64 - bits_);
    while (table_[at].count > 0 && table_[at].pair != pair) at = (at + 1) & mask;
    return &table_[at];
  }

  void grow() {
    LargeVector<Place> old(std::size_t{1} << ++bits_);
    old.swap(table_);
    for (const Place& place : old) {
      if (place.count > 0) *find(place.pair) = place;
    }
  }

  int bits_ = 16;
  std::uint32_t size_ = 0;
  LargeVector<Place> table_;
};

// Rows rewritten with symbols for pairs of neighbours (Re-Pair, Larsson and Moffat 2000, many pairs in a round):
// symbols from `classes` on are pairs of earlier symbols.
class Rewriting {
 public:
  Rewriting(SparseRows& rows, std::uint32_t classes) : rows_(rows), classes_(classes), symbols_(classes) {}

  // Replaces pairs that stand in many places; returns whether it was worth another round.
  bool round() {
    const std::size_t before = rows_.ids.size();
    number_pairs();
    choose();
    replace();
    return rows_.ids.size() + before / 50 < before;
  }

  // The members of every pair as bundles, and what a symbol of the rows is now called.
  void finish(CompressedRows& x);

 private:
  // numbers_[e]: the number of the pair that begins with entry e, or kNone at a row's end and for what is too rare.
  void number_pairs() {
    LargeVector<std::uint32_t> seen(symbols_, 0);
    for (const std::uint32_t id : rows_.ids) ++seen[id];
    PairFilter filter(rows_.ids.size());
    const auto each = [&](const auto& fetch, const auto& body) {
      const std::uint32_t* ids = rows_.ids.data();
      const auto last_ahead = static_cast<std::int64_t>(rows_.ids.size()) - kAhead - 2;
      for (std::size_t r = 0; r < rows_.rows(); ++r) {
        for (std::int64_t e = rows_.row_ptr[r]; e + 1 < rows_.row_ptr[r + 1]; ++e) {
          if (e <= last_ahead) fetch(pair_of(ids + e + kAhead));
          if (seen[ids[e]] >= kFewestUses && seen[ids[e + 1]] >= kFewestUses) body(e, pair_of(ids + e));
        }
      }
    };
    each([&](Pair pair) { filter.fetch(pair); }, [&](std::int64_t, Pair pair) { filter.count(pair); });
    PairNumbers found;
    numbers_.assign(rows_.ids.size(), kNone);
    each(
        [&](Pair pair) {
          filter.fetch(pair);
          found.fetch(pair);
        },
        [&](std::int64_t e, Pair pair) {
          if (filter.often(pair)) numbers_[e] = found.add(pair);
        });
    counts_.assign(found.size(), 0);
    known_.assign(found.size(), 0);
    found.each([&](std::uint32_t number, Pair pair, std::uint32_t count) {
      counts_[number] = count;
      known_[number] = pair;
    });
  }

  // Leaves in numbers_ the pairs that a row takes, the most frequent first, none of which share an entry.
  void choose() {
    uses_.assign(counts_.size(), 0);
    std::vector<std::uint32_t> count;
    std::vector<std::uint8_t> take;
    for (std::size_t r = 0; r < rows_.rows(); ++r) {
      std::uint32_t* numbers = numbers_.data() + rows_.row_ptr[r];
      const std::size_t n = row_of(rows_, r).size();
      // From 1 on, with none before the first and after the last.
      count.assign(n + 2, 0);
      take.assign(n + 2, 0);
      for (std::size_t i = 0; i < n; ++i) {
        if (numbers[i] != kNone && counts_[numbers[i]] >= kFewestUses) count[i + 1] = counts_[numbers[i]];
      }
      // A pair is taken unless one beside it that is more frequent, or as frequent and before it, is.
      const auto left_first = [&](std::size_t i) { return count[i - 1] > 0 && count[i - 1] >= count[i]; };
      const auto right_first = [&](std::size_t i) { return count[i + 1] > count[i]; };
      for (std::size_t i = 1; i <= n; ++i) {
        if (count[i] > 0 && !right_first(i)) take[i] = !left_first(i) || !take[i - 1];
      }
      for (std::size_t i = n; i > 0; --i) {
        if (count[i] > 0 && right_first(i)) take[i] = !take[i + 1] && !left_first(i);
      }
      for (std::size_t i = 1; i <= n; ++i) {
        if (count[i] > 0 && right_first(i) && left_first(i)) take[i] = !take[i - 1] && !take[i + 1];
        if (take[i]) {
          ++uses_[numbers[i - 1]];
        } else {
          numbers[i - 1] = kNone;
        }
      }
    }
  }

  // Gives the pairs that are used often enough a symbol, and writes it.
  void replace() {
    std::vector<std::uint32_t> symbol(uses_.size(), kNone);
    for (std::size_t p = 0; p < uses_.size(); ++p) {
      if (uses_[p] < kFewestUses) continue;
      if (symbols_ == kNone) throw std::length_error("[bundle] more than 2^32 features and bundles");
      symbol[p] = symbols_++;
      pairs_.push_back(known_[p]);
    }
    std::int64_t to = 0;
    std::int64_t e = 0;
    for (std::size_t r = 0; r < rows_.rows(); ++r) {
      for (const std::int64_t end = rows_.row_ptr[r + 1]; e < end; ++e, ++to) {
        const std::uint32_t number = numbers_[e];
        const bool pair = number != kNone && symbol[number] != kNone;
        rows_.ids[to] = pair ? symbol[number] : rows_.ids[e];
        e += pair;
      }
      rows_.row_ptr[r + 1] = to;
    }
    rows_.ids.resize(to);
  }

  SparseRows& rows_;
  std::uint32_t classes_;
  std::uint32_t symbols_;
  std::vector<Pair> pairs_;  // [symbols - classes]
  std::vector<Pair> known_;  // pairs of this round by number
  std::vector<std::uint32_t> numbers_, counts_, uses_;
};

void Rewriting::finish(CompressedRows& x) {
  // What other pairs alone use, once, or twice and is short, is put in its place: it costs no more than a bundle.
  std::vector<std::uint32_t> uses(pairs_.size(), 0);
  const auto use = [&](std::uint32_t symbol, std::uint32_t often) {
    if (symbol >= classes_) uses[symbol - classes_] = std::min(uses[symbol - classes_] + often, 3U);
  };
  for (const std::uint32_t id : rows_.ids) use(id, 3);
  for (const Pair pair : pairs_) {
    for (const std::uint32_t symbol : symbols_of(pair)) use(symbol, 1);
  }
  std::vector<std::vector<std::uint32_t>> levels;
  std::vector<std::uint32_t> level(pairs_.size(), 0);
  std::vector<std::uint8_t> kept(pairs_.size(), 0);
  std::vector<std::int64_t> ptr{0};
  std::vector<std::uint32_t> members;
  for (std::uint32_t p = 0; p < pairs_.size(); ++p) {
    for (const std::uint32_t symbol : symbols_of(pairs_[p])) {
      if (symbol < classes_) {
        members.push_back(symbol);
        continue;
      }
      const std::uint32_t q = symbol - classes_;
      if (kept[q]) {
        members.push_back(symbol);
        level[p] = std::max(level[p], level[q] + 1);
      } else {
        for (std::int64_t m = ptr[q]; m < ptr[q + 1]; ++m) members.push_back(members[m]);
        level[p] = std::max(level[p], level[q]);
      }
    }
    ptr.push_back(static_cast<std::int64_t>(members.size()));
    kept[p] = uses[p] > 2 || (uses[p] == 2 && ptr[p + 1] - ptr[p] > 3);
    if (!kept[p]) continue;
    levels.resize(std::max<std::size_t>(levels.size(), level[p] + std::size_t{1}));
    levels[level[p]].push_back(p);
  }
  std::vector<std::uint32_t> name(pairs_.size(), kNone);
  const auto rename = [&](std::uint32_t symbol) { return symbol < classes_ ? symbol : name[symbol - classes_]; };
  for (const auto& one : levels) {
    for (const std::uint32_t p : one) {
      name[p] = classes_ + static_cast<std::uint32_t>(x.bundles());
      for (std::int64_t m = ptr[p]; m < ptr[p + 1]; ++m) x.members.push_back(rename(members[m]));
      x.bundle_ptr.push_back(static_cast<std::int64_t>(x.members.size()));
    }
    x.level_ptr.push_back(x.bundles());
  }
  for (std::uint32_t& id : rows_.ids) id = rename(id);
  rows_.ids.shrink_to_fit();
  rows_.width = classes_ + static_cast<std::uint32_t>(x.bundles());
}

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
    const auto one = [&](std::uint32_t id, std::size_t site) {
      if (id < classes) {
        visit(of_classes, id, site);
      } else {
        visit(of_bundles, id - classes, site);
      }
    };
    for (std::size_t r = 0; r < x.rows.rows(); ++r) {
      for (const std::uint32_t id : row_of(x.rows, r)) one(id, r);
    }
    for (std::size_t b = 0; b < x.bundles(); ++b) {
      for (std::int64_t m = x.bundle_ptr[b]; m < x.bundle_ptr[b + 1]; ++m) one(x.members[m], x.rows.rows() + b);
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
  {
    Rewriting rewriting(x.rows, static_cast<std::uint32_t>(x.classes()));
    while (rewriting.round()) continue;
    rewriting.finish(x);
  }
  if (x.rows.rows() + x.bundles() > kNone) {
    throw std::length_error("[bundle] more than 2^32 sites with " + std::to_string(x.bundles()) + " bundles");
  }
  list_sites(x);
}

}  // namespace spanloom
