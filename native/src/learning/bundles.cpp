#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "pair_numbers.hpp"
#include "spanloom/base/memory.hpp"
#include "spanloom/base/parallel.hpp"
#include "spanloom/learning/compressed.hpp"

namespace spanloom {
namespace {

using namespace bundling;

constexpr std::size_t kAhead = 16;        // pairs between the prefetch of a counter and its use
constexpr std::size_t kGather = 1 << 12;  // entries whose pairs are looked up together
constexpr std::size_t kMostTasks = 16;
constexpr std::size_t kFewEntries = 1 << 16;  // with fewer, threads cost more than they bring

std::span<const std::uint32_t> row_of(const SparseRows& rows, std::size_t r) {
  return {rows.ids.data() + rows.row_ptr[r], static_cast<std::size_t>(rows.row_ptr[r + 1] - rows.row_ptr[r])};
}

// Rows rewritten with symbols for pairs of neighbours (Re-Pair, Larsson and Moffat 2000, many pairs in a round):
// symbols from `classes` on are pairs of earlier symbols. Threads share the work by rows, or by hashes of pairs; what
// comes out does not depend on how it is shared.
class Rewriting {
 public:
  Rewriting(SparseRows& rows, std::uint32_t classes, int threads)
      : rows_(rows), classes_(classes), symbols_(classes), threads_(thread_count(threads)) {}

  // Replaces pairs that stand in many places; returns whether it was worth another round.
  bool round() {
    const std::size_t before = rows_.ids.size();
    share();
    number_pairs();
    choose();
    replace();
    return rows_.ids.size() + before / 50 < before;
  }

  // The members of every pair as bundles, and what a symbol of the rows is now called.
  void finish(CompressedRows& x);

 private:
  // A task's own rows, and their entries.
  struct Part {
    std::size_t first, last;
    std::int64_t begin, end;
  };

  // Cuts the rows into parts of about as many entries, one a task.
  void share() {
    const std::size_t entries = rows_.ids.size();
    const std::size_t tasks =
        entries < kFewEntries ? 1 : std::min(kMostTasks, std::max<std::size_t>(1, static_cast<std::size_t>(threads_)));
    parts_.clear();
    std::size_t first = 0;
    for (std::size_t t = 0; t < tasks; ++t) {
      const auto wanted = static_cast<std::int64_t>(entries * (t + 1) / tasks);
      const auto at =
          std::lower_bound(rows_.row_ptr.begin() + static_cast<std::ptrdiff_t>(first), rows_.row_ptr.end(), wanted);
      const std::size_t last =
          t + 1 == tasks ? rows_.rows() : std::min(rows_.rows(), static_cast<std::size_t>(at - rows_.row_ptr.begin()));
      parts_.push_back({first, last, rows_.row_ptr[first], rows_.row_ptr[last]});
      first = last;
    }
  }

  template <class Body>
  void each_task(const Body& body) const {
    parallel_for(parts_.size(), threads_, [&](std::size_t t) { body(t); });
  }

  // [symbols]: how often each stands in the rows.
  std::vector<std::uint32_t> count_symbols() const {
    std::vector<std::vector<std::uint32_t>> seen(parts_.size());
    each_task([&](std::size_t t) {
      seen[t].assign(symbols_, 0);
      for (std::int64_t e = parts_[t].begin; e < parts_[t].end; ++e) ++seen[t][rows_.ids[e]];
    });
    for (std::size_t t = 1; t < seen.size(); ++t) {
      for (std::size_t i = 0; i < symbols_; ++i) seen[0][i] += seen[t][i];
    }
    return std::move(seen[0]);
  }

  // Which task counts a pair.
  std::size_t owner(Pair pair) const {
    // The top eight bits of the hash, spread over the tasks.
    return ((hash(pair) >> 56) * parts_.size()) >> 8;
  }

  // Calls fetch(pair) and then body(entry, pair) for the pairs of a task whose symbols are both frequent.
  template <class Fetch, class Body>
  void each_pair(std::size_t task, const std::vector<std::uint8_t>& frequent, const Fetch& fetch,
                 const Body& body) const {
    const std::uint32_t* ids = rows_.ids.data();
    std::vector<std::int64_t> own(kGather + 1);
    const auto flush = [&](std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        if (i + kAhead < n) fetch(pair_of(ids + own[i + kAhead]));
        body(own[i], pair_of(ids + own[i]));
      }
    };
    std::size_t n = 0;
    for (std::size_t r = 0; r < rows_.rows(); ++r) {
      for (std::int64_t e = rows_.row_ptr[r]; e + 1 < rows_.row_ptr[r + 1]; ++e) {
        own[n] = e;
        n += owner(pair_of(ids + e)) == task && (frequent[ids[e]] & frequent[ids[e + 1]]) != 0;
        if (n == kGather) {
          flush(n);
          n = 0;
        }
      }
    }
    flush(n);
  }

  // numbers_[e]: the number of the pair that begins with entry e, or kNone at a row's end and for what is too rare.
  void number_pairs() {
    const std::vector<std::uint32_t> seen = count_symbols();
    std::vector<std::uint8_t> frequent(symbols_);
    for (std::size_t i = 0; i < symbols_; ++i) frequent[i] = seen[i] >= kFewestUses;
    PairFilter filter(rows_.ids.size());
    numbers_.assign(rows_.ids.size(), kNone);
    const std::size_t tasks = parts_.size();
    std::vector<PairNumbers> found(tasks);
    each_task([&](std::size_t t) {
      each_pair(
          t, frequent, [&](Pair pair) { filter.fetch(pair); }, [&](std::int64_t, Pair pair) { filter.count(pair); });
      each_pair(
          t, frequent,
          [&](Pair pair) {
            filter.fetch(pair);
            found[t].fetch(pair);
          },
          [&](std::int64_t e, Pair pair) {
            if (!filter.often(pair)) return;
            // Numbers of tasks alternate, so that nobody has to wait for the others.
            numbers_[e] = static_cast<std::uint32_t>(found[t].add(pair, static_cast<std::uint64_t>(e)) * tasks + t);
          });
    });
    std::size_t most = 0;
    for (const PairNumbers& one : found) most = std::max(most, static_cast<std::size_t>(one.size()) * tasks);
    if (most >= kNone) throw std::length_error("[bundle] more than 2^32 pairs of features");
    counts_.assign(most, 0);
    known_.assign(most, {});
    each_task([&](std::size_t t) {
      found[t].each([&](const PairNumbers::Place& place) {
        counts_[place.number * tasks + t] = place.count;
        known_[place.number * tasks + t] = {place.first, place.pair};
      });
    });
  }

  // Leaves in numbers_ the pairs that a row takes, the most frequent first, none of which share an entry.
  void choose() {
    std::vector<std::vector<std::uint32_t>> uses(parts_.size());
    each_task([&](std::size_t t) {
      uses[t].assign(counts_.size(), 0);
      choose(parts_[t], uses[t]);
    });
    uses_ = std::move(uses[0]);
    for (std::size_t t = 1; t < uses.size(); ++t) {
      for (std::size_t p = 0; p < uses_.size(); ++p) uses_[p] += uses[t][p];
    }
  }

  void choose(const Part& part, std::vector<std::uint32_t>& uses) {
    std::vector<std::uint32_t> count;
    std::vector<std::uint8_t> take;
    for (std::size_t r = part.first; r < part.last; ++r) {
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
          ++uses[numbers[i - 1]];
        } else {
          numbers[i - 1] = kNone;
        }
      }
    }
  }

  // Gives the pairs that are used often enough a symbol, in the order in which they were first seen, and writes it.
  void replace() {
    std::vector<std::uint32_t> used;
    for (std::size_t p = 0; p < uses_.size(); ++p) {
      if (uses_[p] >= kFewestUses) used.push_back(static_cast<std::uint32_t>(p));
    }
    std::sort(used.begin(), used.end(),
              [&](std::uint32_t a, std::uint32_t b) { return known_[a].first < known_[b].first; });
    if (used.size() >= kNone - symbols_) throw std::length_error("[bundle] more than 2^32 features and bundles");
    std::vector<std::uint32_t> symbol(uses_.size(), kNone);
    for (const std::uint32_t p : used) {
      symbol[p] = symbols_++;
      pairs_.push_back(known_[p].second);
    }
    // Every task moves what is left of its rows to their beginning; then the parts are moved together.
    each_task([&](std::size_t t) {
      Part& part = parts_[t];
      std::int64_t to = part.begin;
      std::int64_t e = part.begin;
      for (std::size_t r = part.first; r < part.last; ++r) {
        for (const std::int64_t end = r + 1 == part.last ? part.end : rows_.row_ptr[r + 1]; e < end; ++e, ++to) {
          const std::uint32_t number = numbers_[e];
          const bool pair = number != kNone && symbol[number] != kNone;
          rows_.ids[to] = pair ? symbol[number] : rows_.ids[e];
          e += pair;
        }
        rows_.row_ptr[r + 1] = to;
      }
      part.end = to;
    });
    std::int64_t to = 0;
    for (const Part& part : parts_) {
      const std::int64_t shift = part.begin - to;
      if (shift > 0) {
        std::copy(rows_.ids.begin() + part.begin, rows_.ids.begin() + part.end, rows_.ids.begin() + to);
        for (std::size_t r = part.first; r < part.last; ++r) rows_.row_ptr[r + 1] -= shift;
      }
      to += part.end - part.begin;
    }
    rows_.ids.resize(to);
  }

  SparseRows& rows_;
  std::uint32_t classes_;
  std::uint32_t symbols_;
  int threads_;
  std::vector<Part> parts_;
  std::vector<Pair> pairs_;                            // [symbols - classes]
  std::vector<std::pair<std::uint64_t, Pair>> known_;  // pairs of this round by number, with their first entries
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

void bundle(CompressedRows& x, int threads) {
  {
    Rewriting rewriting(x.rows, static_cast<std::uint32_t>(x.classes()), threads);
    while (rewriting.round()) continue;
    rewriting.finish(x);
  }
  if (x.rows.rows() + x.bundles() > kNone) {
    throw std::length_error("[bundle] more than 2^32 sites with " + std::to_string(x.bundles()) + " bundles");
  }
  list_sites(x);
}

}  // namespace spanloom
