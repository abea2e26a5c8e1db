#include "spanloom/features/brown.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

// With counts instead of probabilities, and up to constants, the quality of a clustering is
//
//   sum over c, d of g(n[c, d])  -  sum over c of degree(c) log(uses(c)),    g(n) = n log n,
//
// where degree(c) is the number of pairs that c takes part in (left and right) and uses(c) its number of tokens.
// Merging a and b costs, with d(p, q) = g(p) + g(q) - g(p + q):
//
//   loss(a, b) = sum over x not a, b of d(n[a, x], n[b, x]) + d(n[x, a], n[x, b])
//              + g(n[a, a]) + g(n[a, b]) + g(n[b, a]) + g(n[b, b]) - g(their sum)
//              + degree(a) (log(uses(a) + uses(b)) - log(uses(a))) + degree(b) (… - log(uses(b)))
//
// d is 0 where p or q is 0, so that a new or vanishing cluster changes the losses of its neighbours only. That makes
// a step cost O(clusters * neighbours of the word), and most words have few.

struct Neighbour {
  std::uint32_t word;
  std::uint32_t count;
};

// The pairs of neighbours in the text, by left and by right word.
struct Pairs {
  std::vector<std::int64_t> ptr;
  std::vector<Neighbour> list;

  std::span<const Neighbour> of(std::size_t word) const {
    return {list.data() + ptr[word], static_cast<std::size_t>(ptr[word + 1] - ptr[word])};
  }
};

Pairs collect(std::vector<std::uint64_t> keys, std::size_t words) {
  std::sort(keys.begin(), keys.end());
  Pairs pairs;
  pairs.ptr.assign(words + 1, 0);
  for (std::size_t i = 0; i < keys.size();) {
    std::size_t j = i;
    while (j < keys.size() && keys[j] == keys[i]) ++j;
    pairs.list.push_back({static_cast<std::uint32_t>(keys[i]), static_cast<std::uint32_t>(j - i)});
    ++pairs.ptr[(keys[i] >> 32) + 1];
    i = j;
  }
  for (std::size_t w = 0; w < words; ++w) pairs.ptr[w + 1] += pairs.ptr[w];
  return pairs;
}

class Window {
 public:
  Window(std::size_t slots, std::size_t total) : slots_(slots), counts_(slots * slots, 0), loss_(slots * slots, 0.0) {
    g_.resize(std::min<std::size_t>(total + 1, std::size_t{1} << 20), 0.0);
    for (std::size_t n = 2; n < g_.size(); ++n) g_[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
    reversed_ = counts_;
    log_uses_ = loss_;
    uses_.assign(slots, 0.0);
    degree_.assign(slots, 0.0);
  }

  const std::vector<std::uint32_t>& active() const { return active_; }

  // Puts a cluster with known neighbours among the active ones into a free slot; losses are up to date afterwards
  // unless `later`, when compute_all() must follow.
  void introduce(std::uint32_t z, double uses, std::span<const Neighbour> right, std::span<const Neighbour> left,
                 bool later) {
    uses_[z] = uses;
    degree_[z] = 0;
    active_.insert(std::lower_bound(active_.begin(), active_.end(), z), z);
    for (const auto [x, n] : right) add(z, x, n);
    for (const auto [x, n] : left) {
      if (x != z) add(x, z, n);
    }
    if (later) return;
    neighbours(z);
    for (const std::uint32_t x : active_) log_both(z, x);
    // Pairs of others: z is a new x in their sums, and their degrees have grown.
    for (std::size_t i = 0; i < near_.size(); ++i) {
      const std::uint32_t a = near_[i];
      for (std::size_t j = i + 1; j < near_.size(); ++j) {
        const std::uint32_t b = near_[j];
        if (a != z && b != z) change(a, b, d(n(a, z), n(b, z)) + d(n(z, a), n(z, b)));
      }
      if (a == z) continue;
      const double grown = static_cast<double>(n(a, z)) + static_cast<double>(n(z, a));
      for (const std::uint32_t b : active_) {
        if (b != a && b != z) change(a, b, grown * (log_uses_[at(a, b)] - log_uses_[at(a, a)]));
      }
    }
    for (const std::uint32_t b : active_) {
      if (b == z) continue;
      double sum = block(z, b) + spread(z, b);
      for (const std::uint32_t x : near_) {
        if (x != z && x != b) sum += d(n(z, x), n(b, x)) + d(r(z, x), r(b, x));
      }
      loss_[at(z, b)] = loss_[at(b, z)] = sum;
    }
  }

  // The losses of all active pairs from nothing.
  void compute_all(int threads) {
    for (const std::uint32_t a : active_) {
      for (const std::uint32_t b : active_) log_both(a, b);
    }
    parallel_for(active_.size(), threads, [&](std::size_t i) {
      const std::uint32_t a = active_[i];
      for (std::size_t j = 0; j < i; ++j) {
        const std::uint32_t b = active_[j];
        double sum = block(a, b) + spread(a, b);
        for (const std::uint32_t x : active_) {
          if (x != a && x != b) sum += d(n(a, x), n(b, x)) + d(r(a, x), r(b, x));
        }
        loss_[at(a, b)] = loss_[at(b, a)] = sum;
      }
    });
  }

  // The active pair whose merging costs least; ties go to the first.
  std::pair<std::uint32_t, std::uint32_t> cheapest() const {
    double least = std::numeric_limits<double>::infinity();
    std::pair<std::uint32_t, std::uint32_t> found{};
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const double* row = &loss_[at(active_[i], 0)];
      for (std::size_t j = i + 1; j < active_.size(); ++j) {
        if (row[active_[j]] < least) {
          least = row[active_[j]];
          found = {active_[i], active_[j]};
        }
      }
    }
    return found;
  }

  std::size_t neighbour_count(std::uint32_t a) {
    neighbours(a);
    return near_.size();
  }

  // Merges b into a; the slot of b is free afterwards.
  void merge(std::uint32_t a, std::uint32_t b) {
    active_.erase(std::lower_bound(active_.begin(), active_.end(), b));
    neighbours(b);
    // Pairs of others: x = a and x = b become one. Only with a neighbour of b among them does it matter.
    for (const std::uint32_t c : near_) {
      if (c == a || c == b) continue;
      for (const std::uint32_t e : active_) {
        if (e == a || e == c || (e < c && is_near_[e])) continue;
        const double before = d(r(a, c), r(a, e)) + d(r(b, c), r(b, e)) + d(n(a, c), n(a, e)) + d(n(b, c), n(b, e));
        const double after = d(r(a, c) + r(b, c), r(a, e) + r(b, e)) + d(n(a, c) + n(b, c), n(a, e) + n(b, e));
        change(c, e, after - before);
      }
    }
    // Pairs of a: their old terms go …
    for (const std::uint32_t c : active_) {
      if (c == a) continue;
      double sum = loss_[at(a, c)] - block(a, c) - spread(a, c) - d(n(a, b), n(c, b)) - d(n(b, a), n(b, c));
      for (const std::uint32_t x : near_) {
        if (x == a || x == b || x == c) continue;
        sum += d(n(a, x) + n(b, x), n(c, x)) - d(n(a, x), n(c, x));
        sum += d(r(a, x) + r(b, x), r(c, x)) - d(r(a, x), r(c, x));
      }
      loss_[at(a, c)] = sum;
    }
    for (const std::uint32_t x : near_) {
      if (x == a || x == b) continue;
      move(a, x, b, x);
      move(x, a, x, b);
    }
    move(a, a, a, b);
    move(a, a, b, a);
    move(a, a, b, b);
    uses_[a] += uses_[b];
    degree_[a] += degree_[b];
    // … and their new ones come.
    for (const std::uint32_t c : active_) log_both(a, c);
    for (const std::uint32_t c : active_) {
      if (c == a) continue;
      loss_[at(a, c)] += block(a, c) + spread(a, c);
      loss_[at(c, a)] = loss_[at(a, c)];
    }
  }

 private:
  std::size_t at(std::uint32_t a, std::uint32_t b) const { return a * slots_ + b; }
  // n[a, b] and n[b, a], both to be read along rows of memory.
  std::uint32_t n(std::uint32_t a, std::uint32_t b) const { return counts_[at(a, b)]; }
  std::uint32_t r(std::uint32_t a, std::uint32_t b) const { return reversed_[at(a, b)]; }

  double g(std::uint64_t n) const {
    return n < g_.size() ? g_[n] : static_cast<double>(n) * std::log(static_cast<double>(n));
  }

  double d(std::uint32_t p, std::uint32_t q) const {
    return p == 0 || q == 0 ? 0.0 : g(p) + g(q) - g(std::uint64_t{p} + q);
  }

  double block(std::uint32_t a, std::uint32_t b) const {
    const std::uint64_t all = std::uint64_t{n(a, a)} + n(a, b) + n(b, a) + n(b, b);
    return g(n(a, a)) + g(n(a, b)) + g(n(b, a)) + g(n(b, b)) - g(all);
  }

  double spread(std::uint32_t a, std::uint32_t b) const {
    const double both = log_uses_[at(a, b)];
    return degree_[a] * (both - log_uses_[at(a, a)]) + degree_[b] * (both - log_uses_[at(b, b)]);
  }

  void add(std::uint32_t a, std::uint32_t b, std::uint32_t count) {
    reversed_[at(b, a)] = counts_[at(a, b)] += count;
    degree_[a] += count;
    degree_[b] += count;
  }

  void move(std::uint32_t to_a, std::uint32_t to_b, std::uint32_t a, std::uint32_t b) {
    reversed_[at(to_b, to_a)] = counts_[at(to_a, to_b)] += counts_[at(a, b)];
    reversed_[at(b, a)] = counts_[at(a, b)] = 0;
  }

  void log_both(std::uint32_t a, std::uint32_t b) {
    log_uses_[at(a, b)] = log_uses_[at(b, a)] = std::log(a == b ? uses_[a] : uses_[a] + uses_[b]);
  }

  void change(std::uint32_t a, std::uint32_t b, double by) {
    loss_[at(a, b)] += by;
    loss_[at(b, a)] = loss_[at(a, b)];
  }

  // near_: the active clusters, and z itself, that stand beside z.
  void neighbours(std::uint32_t z) {
    near_.clear();
    is_near_.assign(slots_, 0);
    for (const std::uint32_t x : active_) {
      if (n(z, x) || n(x, z)) {
        near_.push_back(x);
        is_near_[x] = 1;
      }
    }
  }

  std::size_t slots_;
  std::vector<std::uint32_t> counts_;    // [slots, slots]: n[a, b]
  std::vector<std::uint32_t> reversed_;  // its transpose
  std::vector<double> loss_;             // [slots, slots], symmetric
  std::vector<double> log_uses_;         // [slots, slots]: log(uses(a) + uses(b)); log(uses(a)) on the diagonal
  std::vector<double> uses_, degree_, g_;
  std::vector<std::uint32_t> active_;  // ascending
  std::vector<std::uint32_t> near_;
  std::vector<std::uint8_t> is_near_;
};

// Names the leaves of a tree of merges: merges[i] joins two nodes into node leaves + i; leaves come first.
std::vector<std::string> name_paths(std::size_t leaves,
                                    const std::vector<std::pair<std::size_t, std::size_t>>& merges) {
  std::vector<std::string> names(leaves + merges.size());
  for (std::size_t i = merges.size(); i-- > 0;) {
    names[merges[i].first] = names[leaves + i] + '0';
    names[merges[i].second] = names[leaves + i] + '1';
  }
  names.resize(leaves);
  return names;
}

}  // namespace

BrownClusters brown_clusters(std::span<const std::uint32_t> tokens, std::span<const std::int64_t> line_ptr,
                             std::size_t words, std::size_t clusters,
                             const std::function<void(std::size_t, std::size_t)>& progress, int threads) {
  if (clusters == 0 || words == 0 || words >= kNoWord || tokens.size() >= UINT32_MAX) {
    throw std::invalid_argument("[brown_clusters] " + std::to_string(clusters) + " clusters of " +
                                std::to_string(words) + " words in " + std::to_string(tokens.size()) +
                                " tokens: all must be positive and below 2^32 - 1");
  }
  if (line_ptr.empty() || line_ptr.front() != 0 || line_ptr.back() != static_cast<std::int64_t>(tokens.size()) ||
      !std::is_sorted(line_ptr.begin(), line_ptr.end())) {
    throw std::invalid_argument("[brown_clusters] the line pointers do not fit the tokens");
  }
  std::vector<double> uses(words, 0.0);
  std::vector<std::uint64_t> forth;
  std::vector<std::uint64_t> back;
  forth.reserve(tokens.size());
  for (std::size_t line = 0; line + 1 < line_ptr.size(); ++line) {
    for (std::int64_t i = line_ptr[line]; i < line_ptr[line + 1]; ++i) {
      const std::uint32_t word = tokens[i];
      if (word == kNoWord) continue;
      if (word >= words) {
        throw std::invalid_argument("[brown_clusters] token " + std::to_string(i) + " is word " + std::to_string(word) +
                                    " of " + std::to_string(words));
      }
      uses[word] += 1;
      if (i + 1 < line_ptr[line + 1] && tokens[i + 1] != kNoWord) {
        forth.push_back(std::uint64_t{word} << 32 | tokens[i + 1]);
      }
    }
  }
  for (std::size_t w = 0; w < words; ++w) {
    if (uses[w] == 0 || (w > 0 && uses[w] > uses[w - 1])) {
      throw std::invalid_argument("[brown_clusters] words must occur and be numbered by descending frequency; word " +
                                  std::to_string(w) + " is not");
    }
  }
  for (const std::uint64_t key : forth) back.push_back(key << 32 | key >> 32);
  const std::size_t total = forth.size();
  const Pairs right = collect(std::move(forth), words);
  const Pairs left = collect(std::move(back), words);

  const std::size_t first = std::min(words, clusters);
  Window window(first + (words > first ? 1 : 0), total);
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> parent(words);          // a forest: the words of a cluster are one tree
  std::vector<std::uint32_t> slot_of(words, kNone);  // of the roots
  std::vector<std::uint32_t> owner(first + 1, kNone);
  for (std::size_t w = 0; w < words; ++w) parent[w] = static_cast<std::uint32_t>(w);
  const auto root = [&parent](std::uint32_t w) {
    while (parent[w] != w) w = parent[w] = parent[parent[w]];
    return w;
  };
  std::vector<std::uint32_t> gathered(first + 1, 0);
  // The pairs of a word with introduced ones, added up by cluster.
  const auto by_cluster = [&](std::span<const Neighbour> list) {
    std::vector<Neighbour> out;
    for (const auto [w, count] : list) {
      const std::uint32_t slot = slot_of[root(w)];
      if (slot == kNone) continue;
      if (gathered[slot] == 0) out.push_back({slot, 0});
      gathered[slot] += count;
    }
    for (Neighbour& one : out) one.count = std::exchange(gathered[one.word], 0);
    return out;
  };
  const auto introduce = [&](std::uint32_t w, std::uint32_t slot, bool later) {
    slot_of[w] = slot;
    owner[slot] = w;
    window.introduce(slot, uses[w], by_cluster(right.of(w)), by_cluster(left.of(w)), later);
  };
  // Merges the cheapest pair; the one with fewer neighbours goes. Returns (kept, freed).
  const auto merge = [&]() {
    auto [a, b] = window.cheapest();
    if (window.neighbour_count(a) < window.neighbour_count(b)) std::swap(a, b);
    window.merge(a, b);
    return std::pair{a, b};
  };

  const std::size_t steps = words + first;
  for (std::uint32_t w = 0; w < first; ++w) introduce(w, w, true);
  window.compute_all(threads);
  auto spare = static_cast<std::uint32_t>(first);
  for (auto w = static_cast<std::uint32_t>(first); w < words; ++w) {
    introduce(w, spare, false);
    const auto [kept, freed] = merge();
    parent[owner[freed]] = owner[kept];
    spare = freed;
    if (progress && w % 64 == 0) progress(w, steps);
  }

  BrownClusters out;
  std::vector<std::size_t> node(first + 1);
  for (std::size_t i = 0; i < window.active().size(); ++i) node[window.active()[i]] = i;
  for (std::uint32_t w = 0; w < words; ++w) {
    out.cluster_of.push_back(static_cast<std::uint32_t>(node[slot_of[root(w)]]));
  }
  std::vector<std::pair<std::size_t, std::size_t>> merges;
  while (window.active().size() > 1) {
    const auto [kept, freed] = merge();
    merges.emplace_back(node[kept], node[freed]);
    node[kept] = first + merges.size() - 1;
    if (progress && merges.size() % 16 == 0) progress(words + merges.size(), steps);
  }
  out.paths = name_paths(first, merges);
  return out;
}

}  // namespace spanloom
