#include "spanloom/learning/subset_learner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "spanloom/base/kernels.hpp"
#include "spanloom/learning/hildreth.hpp"

namespace spanloom {
namespace {

constexpr double kTolerance = 1e-4;
constexpr std::size_t kSweeps = 1000;

// Seconds since it was made or last asked.
class Stopwatch {
 public:
  double lap() {
    const auto before = std::exchange(last_, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(last_ - before).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

bool same(const Subset& a, const Subset& b) { return a.type == b.type && a.tokens == b.tokens; }

}  // namespace

void LearnedWeights::grow(std::size_t size) {
  now.resize(size, 0.0F);
  weighted_.resize(size, 0.0);
}

void LearnedWeights::add(std::size_t i, double change, double time) {
  now[i] += static_cast<float>(change);
  weighted_[i] += change * time;
}

SubsetCells subset_cells(std::span<const std::uint32_t> tokens) {
  SubsetCells cells;
  cells.tokens.emplace_back(tokens.front(), Role::start);
  for (std::size_t m = 1; m < tokens.size(); ++m) {
    const std::uint32_t j = tokens[m - 1], i = tokens[m];
    const bool next = i == j + 1;
    cells.tokens.emplace_back(j, next ? Role::next_left : Role::skip_left);
    cells.tokens.emplace_back(i, next ? Role::next_right : Role::skip_right);
    if (!next) cells.skips.emplace_back(j, i);
  }
  cells.tokens.emplace_back(tokens.back(), Role::end);
  return cells;
}

SubsetLearner::SubsetLearner(const SparseRows& rows, const TokenInput& input, PairProgram pairs, std::size_t types,
                             std::size_t max_gap, std::vector<std::vector<Subset>> gold, LearnerSettings settings)
    : rows_(rows),
      pairs_(std::move(pairs)),
      lattice_(types, max_gap),
      gold_(std::move(gold)),
      settings_(settings),
      random_(settings.seed),
      types_(types),
      stride_(kernels::padded(kRoles * types)) {
  rows_.check();
  pairs_.check();
  if (rows_.groups() != gold_.size() || input.sentence_ptr.size() != rows_.group_ptr.size() ||
      !std::ranges::equal(input.sentence_ptr, rows_.group_ptr)) {
    throw std::invalid_argument("[SubsetLearner] " + std::to_string(rows_.groups()) + " sentences with features, " +
                                std::to_string(gold_.size()) + " with subsets, " + std::to_string(input.sentences()) +
                                " with pairs, or of different lengths");
  }
  for (std::size_t s = 0; s < gold_.size(); ++s) {
    for (const Subset& one : gold_[s]) {
      bool fits = one.type < types_ && !one.tokens.empty() && one.tokens.back() < input.length(s);
      for (std::size_t m = 1; m < one.tokens.size() && fits; ++m) {
        fits = one.tokens[m] > one.tokens[m - 1] && one.tokens[m] - one.tokens[m - 1] <= max_gap + 1;
      }
      if (!fits) {
        throw std::invalid_argument("[SubsetLearner] a subset of sentence " + std::to_string(s) +
                                    " has an unknown type, tokens out of order, or a gap wider than " +
                                    std::to_string(max_gap));
      }
    }
  }
  values_ = learn_values(*pairs_.program, input, pools_);
  tokens_.grow(rows_.width * stride_);
  if (pairs_.distance) distances_.grow(kDistanceRanges * types_);
}

void SubsetLearner::score(std::size_t s) {
  const auto first = static_cast<std::size_t>(rows_.group_ptr[s]);
  const auto last = static_cast<std::size_t>(rows_.group_ptr[s + 1]);
  const float* values = rows_.values.empty() ? nullptr : rows_.values.data();
  table_.resize((last - first) * stride_);
  kernels::gather_rows(tokens_.now.data(), stride_, rows_.row_ptr.data(), rows_.ids, values, first, last,
                       table_.data());
  PairReader reader(pairs_, values_, first, last - first);
  subset_scores(
      lattice_, last - first, table_.data(), stride_, distances_.now, pair_weights_.now.data(), reader,
      [&](std::uint32_t index, std::span<const std::uint32_t> key) { return index_.find(index, key); }, scores_);
}

SubsetLearner::Constraint SubsetLearner::constrain(std::size_t s, const Subset& subset, double y) {
  const auto first = static_cast<std::size_t>(rows_.group_ptr[s]);
  const std::size_t n = static_cast<std::size_t>(rows_.group_ptr[s + 1]) - first;
  Constraint one{y, 0, subset.type, subset_cells(subset.tokens), {}};
  const auto cell = [&](std::size_t site) { return scores_[site * types_ + subset.type]; };
  one.score = cell(lattice_.start(n, subset.tokens.front())) + cell(lattice_.end(n, subset.tokens.back()));
  for (std::size_t m = 1; m < subset.tokens.size(); ++m) {
    one.score += cell(lattice_.step(n, subset.tokens[m - 1], subset.tokens[m]));
  }
  PairReader reader(pairs_, values_, first, n);
  for (const auto& [j, i] : one.cells.skips) {
    auto& ids = one.pairs.emplace_back();
    reader.set_left(j);
    for (std::size_t m = j + std::size_t{1}; m < i; ++m) reader.add_between(m);
    reader.features(i, false, [&](std::uint32_t index, std::span<const std::uint32_t> key, bool) {
      ids.push_back(index_.insert(index, key));
    });
    std::ranges::sort(ids);
  }
  pair_weights_.grow(index_.size() * types_);
  return one;
}

// Puts the features of every token of a sentence in ascending order, so that two can be compared in one pass.
void SubsetLearner::sort_rows(std::size_t s) {
  const auto first = rows_.row_ptr[static_cast<std::size_t>(rows_.group_ptr[s])];
  sorted_.clear();
  for (auto r = static_cast<std::size_t>(rows_.group_ptr[s]); r < static_cast<std::size_t>(rows_.group_ptr[s + 1]);
       ++r) {
    for (auto e = static_cast<std::size_t>(rows_.row_ptr[r]); e < static_cast<std::size_t>(rows_.row_ptr[r + 1]); ++e) {
      sorted_.emplace_back(rows_.ids[e], rows_.values.empty() ? 1.0F : rows_.values[e]);
    }
    std::sort(sorted_.begin() + (rows_.row_ptr[r] - first), sorted_.end());
  }
}

// The features that two tokens of the sentence at hand share.
double SubsetLearner::token_dot(std::size_t s, std::size_t a, std::size_t b) {
  if (a > b) std::swap(a, b);
  const auto [place, fresh] = dots_.try_emplace(static_cast<std::uint64_t>(a) << 32 | b, 0.0);
  if (!fresh) return place->second;
  const auto first = static_cast<std::size_t>(rows_.group_ptr[s]);
  const auto row = [&](std::size_t token) {
    const std::int64_t* ptr = &rows_.row_ptr[first + token];
    return std::span(sorted_).subspan(static_cast<std::size_t>(ptr[0] - rows_.row_ptr[first]),
                                      static_cast<std::size_t>(ptr[1] - ptr[0]));
  };
  double sum = 0;
  for (auto left = row(a), right = row(b); !left.empty() && !right.empty();) {
    const std::uint32_t id = left[0].first, other = right[0].first;
    if (id == other) sum += static_cast<double>(left[0].second) * static_cast<double>(right[0].second);
    if (id <= other) left = left.subspan(1);
    if (other <= id) right = right.subspan(1);
  }
  place->second = sum;
  return sum;
}

double SubsetLearner::dot(std::size_t s, const Constraint& a, const Constraint& b) {
  if (a.type != b.type) return 0;
  double sum = 0;
  for (const auto& [token_a, role_a] : a.cells.tokens) {
    for (const auto& [token_b, role_b] : b.cells.tokens) {
      if (role_a == role_b) sum += token_dot(s, token_a, token_b);
    }
  }
  for (std::size_t p = 0; p < a.pairs.size(); ++p) {
    for (std::size_t q = 0; q < b.pairs.size(); ++q) {
      const auto range = [](const auto& skip) { return distance_range(skip.second - skip.first); };
      if (pairs_.distance && range(a.cells.skips[p]) == range(b.cells.skips[q])) sum += 1;
      for (auto i = a.pairs[p].begin(), j = b.pairs[q].begin(); i != a.pairs[p].end() && j != b.pairs[q].end();) {
        if (*i == *j) sum += 1;
        if (*i <= *j)
          ++i;
        else
          ++j;
      }
    }
  }
  return sum;
}

double SubsetLearner::far(const std::vector<Constraint>& right) const {
  // Without restrictions the k best are looked at in any case.
  if (!settings_.restrictions.any()) return -std::numeric_limits<double>::infinity();
  if (settings_.rule != Rule::ranking) return -1;
  double least = std::numeric_limits<double>::infinity();
  for (const Constraint& one : right) least = std::min(least, one.score);
  return least - 1;
}

// gram[i, j] = f_i . f_j of the members.
std::vector<double> SubsetLearner::gram(std::size_t s, const std::vector<Constraint>& all,
                                        const std::vector<std::size_t>& members) {
  const std::size_t m = members.size();
  std::vector<double> out(m * m, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) out[i * m + j] = out[j * m + i] = dot(s, all[members[i]], all[members[j]]);
  }
  return out;
}

double SubsetLearner::loss(const std::vector<Constraint>& all) const {
  double sum = 0;
  for (const Constraint& one : all) {
    const double margin = one.y * one.score;
    if (settings_.rule == Rule::mira) sum += std::max(0.0, 1 - margin);
    if (settings_.rule == Rule::loglinear) sum += std::max(0.0, -margin) + std::log1p(std::exp(-std::abs(margin)));
    if (settings_.rule == Rule::perceptron) sum += margin <= 0 ? 1 : 0;
    if (settings_.rule == Rule::ranking && one.y > 0) {
      for (const Constraint& other : all) sum += other.y < 0 ? std::max(0.0, 1 - one.score + other.score) : 0;
    }
  }
  return sum;
}

std::vector<double> SubsetLearner::steps(std::size_t s, const std::vector<Constraint>& all) {
  std::vector<double> alpha(all.size(), 0.0);
  if (settings_.rule == Rule::perceptron) {
    const auto wrong = [&](const Constraint& one) { return one.y * one.score <= 0; };
    const auto wrong_of = [&](double y) {
      return static_cast<double>(std::ranges::count_if(all, [&](const auto& one) { return one.y == y && wrong(one); }));
    };
    const double missed = wrong_of(1), false_ones = wrong_of(-1);
    for (std::size_t a = 0; a < all.size(); ++a) {
      if (wrong(all[a])) alpha[a] = settings_.limit / (all[a].y > 0 ? missed : false_ones);
    }
    return alpha;
  }
  std::vector<std::size_t> members;
  if (settings_.rule == Rule::ranking) {  // the correct ones come first
    if (loss(all) == 0) return alpha;
    members.resize(all.size());
    std::iota(members.begin(), members.end(), std::size_t{0});
    std::vector<double> scores;
    for (const Constraint& one : all) scores.push_back(one.score);
    const auto right = static_cast<std::size_t>(std::ranges::count_if(all, [](const auto& one) { return one.y > 0; }));
    return ranking_hildreth(gram(s, all, members), scores, right, settings_.limit, kTolerance, kSweeps);
  }
  // Types share no feature: each is a problem of its own. One whose margins hold needs no change.
  std::vector<double> b;
  for (std::uint32_t type = 0; type < types_; ++type) {
    members.clear();
    b.clear();
    bool violated = settings_.rule == Rule::loglinear;
    for (std::size_t a = 0; a < all.size(); ++a) {
      if (all[a].type != type) continue;
      members.push_back(a);
      b.push_back((settings_.rule == Rule::mira ? 1 : 0) - all[a].y * all[a].score);
      violated |= b.back() > 0;
    }
    if (!violated) continue;
    const std::size_t m = members.size();
    std::vector<double> products = gram(s, all, members);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) products[i * m + j] *= all[members[i]].y * all[members[j]].y;
    }
    const std::vector<double> found = settings_.rule == Rule::mira
                                          ? hildreth(products, b, settings_.limit, kTolerance, kSweeps)
                                          : soft_hildreth(products, b, settings_.limit, kTolerance, kSweeps);
    for (std::size_t i = 0; i < m; ++i) alpha[members[i]] = found[i];
  }
  return alpha;
}

void SubsetLearner::update(std::size_t s, const Constraint& one, double by) {
  const auto first = static_cast<std::size_t>(rows_.group_ptr[s]);
  for (const auto& [token, role] : one.cells.tokens) {
    const std::size_t column = static_cast<std::size_t>(role) * types_ + one.type;
    for (std::int64_t e = rows_.row_ptr[first + token]; e < rows_.row_ptr[first + token + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const double change = rows_.values.empty() ? by : by * static_cast<double>(rows_.values[at]);
      tokens_.add(rows_.ids[at] * stride_ + column, change, seen_);
    }
  }
  for (std::size_t p = 0; p < one.pairs.size(); ++p) {
    for (const std::uint32_t id : one.pairs[p]) pair_weights_.add(id * types_ + one.type, by, seen_);
    if (!pairs_.distance) continue;
    const auto& [j, i] = one.cells.skips[p];
    distances_.add(distance_range(i - j) * types_ + one.type, by, seen_);
  }
}

SubsetLearner::Epoch SubsetLearner::epoch() {
  std::vector<std::size_t> order(gold_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);

  Epoch result;
  std::vector<Constraint> all;
  for (const std::size_t s : order) {
    const auto n = static_cast<std::size_t>(rows_.group_ptr[s + 1] - rows_.group_ptr[s]);
    Stopwatch watch;
    score(s);
    result.scoring += watch.lap();
    dots_.clear();
    sort_rows(s);
    all.clear();
    for (const Subset& one : gold_[s]) all.push_back(constrain(s, one, 1));
    const auto best = lattice_.best(n, scores_, settings_.k == 0 ? n : settings_.k, far(all), settings_.restrictions);
    result.searching += watch.lap();
    for (const Subset& one : best) {
      if (std::ranges::any_of(gold_[s], [&](const Subset& right) { return same(one, right); })) continue;
      all.push_back(constrain(s, one, -1));
    }
    bool wrong = false;
    for (const Constraint& one : all) wrong |= one.y > 0 ? one.score <= 0 : one.score > 0;
    result.loss += loss(all);
    result.wrong += wrong ? 1 : 0;
    const std::vector<double> alpha = steps(s, all);
    result.solving += watch.lap();
    for (std::size_t a = 0; a < all.size(); ++a) {
      if (alpha[a] != 0) update(s, all[a], alpha[a] * all[a].y);
    }
    ++seen_;
    result.updating += watch.lap();
  }
  return result;
}

SubsetWeights SubsetLearner::weights(bool averaged) const {
  const auto value = [&](const LearnedWeights& from, std::size_t i) {
    return averaged ? from.mean(i, seen_) : from.now[i];
  };
  SubsetWeights out;
  const std::size_t columns = kRoles * types_;
  out.tokens.reserve(rows_.width * columns);
  for (std::size_t f = 0; f < rows_.width; ++f) {
    for (std::size_t c = 0; c < columns; ++c) out.tokens.push_back(value(tokens_, f * stride_ + c));
  }
  for (std::size_t i = 0; i < distances_.now.size(); ++i) out.distances.push_back(value(distances_, i));
  std::vector<std::uint32_t> kept;
  std::vector<float> row(types_);
  for (std::uint32_t p = 0; p < index_.size(); ++p) {
    for (std::size_t t = 0; t < types_; ++t) row[t] = value(pair_weights_, p * types_ + t);
    if (std::ranges::all_of(row, [](float w) { return w == 0; })) continue;
    kept.push_back(p);
    out.pairs.insert(out.pairs.end(), row.begin(), row.end());
  }
  out.table = std::make_shared<FeatureTable>(index_.freeze(pairs_, pools_, kept));
  return out;
}

}  // namespace spanloom
