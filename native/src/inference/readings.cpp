#include "spanloom/inference/readings.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/inference/semirings.hpp"
#include "walks.hpp"

namespace spanloom {
namespace {

// Mass that is too small to be seen in any result.
constexpr double kNothing = 1e-30;

template <class Reading>
void check(const Trellis& trellis, const Reading& reading) {
  if (trellis.columns != reading.columns()) {
    throw std::invalid_argument("[readings] a reading of " + std::to_string(reading.columns()) +
                                " columns for a trellis of " + std::to_string(trellis.columns));
  }
}

void check_cells(std::span<const std::int32_t> cells, std::size_t columns) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] < 0 || static_cast<std::size_t>(cells[i]) / columns != i)
      throw std::invalid_argument("[readings] site " + std::to_string(i) + " has no cell, or more than one");
  }
}

// The mass of paths on which a mention from one start is open: by state of the reading and node of the layer.
template <class Reading>
class Follower {
 public:
  Follower(const Trellis& trellis, const Reading& reading)
      : trellis_(trellis), reading_(reading), ended_(static_cast<std::size_t>(reading.types())) {}

  // Opens mentions at a site, of one type or, with type < 0, of all.
  void open(std::size_t site, std::int32_t type) {
    layer_ = site + 1;
    clear(now_);
    states_ = 0;
    const Trellis& t = trellis_;
    for (std::int64_t v = t.layer_ptr[site]; v < t.layer_ptr[site + 1]; ++v) {
      if (t.mass[v] == 0.0) continue;
      for (std::int64_t e = t.edge_ptr[v]; e < t.edge_ptr[v + 1]; ++e) {
        const std::int32_t y = t.column[t.target[e]];
        if (y == t.border() || (type >= 0 && reading_.type(y) != type)) continue;
        const std::int32_t state = reading_.opens(t.column[v], y);
        if (state >= 0) add(now_, state, t.target[e], layer_, t.mass[v] * t.prob[e]);
      }
    }
    finish();
  }

  // Goes on to the next layer; afterwards ended(type) is the probability that a mention ends before it.
  void advance() {
    const Trellis& t = trellis_;
    clear(next_);
    std::fill(ended_.begin(), ended_.end(), 0.0);
    const std::size_t width = t.width(layer_);
    const std::size_t states = states_;
    states_ = 0;
    for (std::size_t q = 0; q < states; ++q) {
      for (std::size_t i = 0; i < width; ++i) {
        const double mass = now_[q * width + i];
        if (mass < kNothing) continue;
        const std::int64_t v = t.layer_ptr[layer_] + static_cast<std::int64_t>(i);
        const std::int32_t x = t.column[v];
        for (std::int64_t e = t.edge_ptr[v]; e < t.edge_ptr[v + 1]; ++e) {
          const Step step = reading_.step(static_cast<std::int32_t>(q), x, t.column[t.target[e]]);
          const double p = mass * t.prob[e];
          if (step.ends) ended_[reading_.type(x)] += p;
          if (step.state >= 0) add(next_, step.state, t.target[e], layer_ + 1, p);
        }
      }
    }
    ++layer_;
    std::swap(now_, next_);
    finish();
  }

  double at_most(std::size_t) const { return 1.0; }
  double left() const { return left_; }
  double ended(std::int32_t type) const { return ended_[type]; }
  std::size_t site() const { return layer_ - 1; }

 private:
  void clear(std::vector<double>& values) { values.clear(); }

  void add(std::vector<double>& values, std::int32_t state, std::int32_t node, std::size_t layer, double p) {
    const std::size_t width = trellis_.width(layer);
    const auto needed = (static_cast<std::size_t>(state) + 1) * width;
    if (values.size() < needed) values.resize(needed, 0.0);
    states_ = std::max(states_, static_cast<std::size_t>(state) + 1);
    values[static_cast<std::size_t>(state) * width + static_cast<std::size_t>(node - trellis_.layer_ptr[layer])] += p;
  }

  // Drops the highest states if next to nothing is there, so that depth stays small.
  void finish() {
    const std::size_t width = trellis_.width(layer_);
    left_ = 0;
    std::size_t used = 0;
    for (std::size_t q = 0; q < states_; ++q) {
      double own = 0;
      for (std::size_t i = 0; i < width; ++i) own += now_[q * width + i];
      left_ += own;
      if (own >= kNothing) used = q + 1;
    }
    states_ = used;
  }

  const Trellis& trellis_;
  const Reading& reading_;
  std::size_t layer_ = 0;
  std::size_t states_ = 0;
  double left_ = 0;
  std::vector<double> now_, next_, ended_;
};

}  // namespace

FlatReading::FlatReading(std::vector<std::int32_t> types, std::span<const std::uint8_t> borders)
    : types_(std::move(types)) {
  const std::size_t n = types_.size();
  if (borders.size() != n * n) {
    throw std::invalid_argument("[FlatReading] " + std::to_string(borders.size()) + " borders for " +
                                std::to_string(n) + " columns");
  }
  borders_.assign((n + 1) * (n + 1), 1);
  for (std::size_t x = 0; x < n; ++x) std::copy_n(&borders[x * n], n, &borders_[x * (n + 1)]);
  for (std::size_t x = 0; x < n; ++x) {
    if (types_[x] < -1) throw std::invalid_argument("[FlatReading] type " + std::to_string(types_[x]));
    count_ = std::max(count_, types_[x] + 1);
    for (std::size_t y = 0; y < n; ++y) {
      if (types_[x] != types_[y] && !borders[x * n + y]) {
        throw std::invalid_argument("[FlatReading] no border between columns " + std::to_string(x) + " and " +
                                    std::to_string(y) + " of different types");
      }
    }
  }
  types_.push_back(-1);
}

SeparatorReading::SeparatorReading(std::vector<std::int32_t> separators) : separators_(std::move(separators)) {
  for (const std::int32_t separator : separators_) {
    if (separator < 0 || separator > 7) {
      throw std::invalid_argument("[SeparatorReading] separator " + std::to_string(separator) + ", not 0 to 7");
    }
  }
  separators_.push_back(0);
}

void FlatReading::read(std::span<const std::int32_t> cells, std::vector<Found>& out) const {
  check_cells(cells, columns());
  const auto n = static_cast<std::int32_t>(cells.size());
  const auto size = static_cast<std::int32_t>(columns());
  for (std::int32_t i = 0, start = 0; i < n; ++i) {
    const std::int32_t own = cells[i] - i * size;
    if (i + 1 < n && !border(own, cells[i + 1] - (i + 1) * size)) continue;
    if (types_[own] >= 0) out.push_back({start, i + 1, types_[own], 0.0});
    start = i + 1;
  }
}

void SeparatorReading::read(std::span<const std::int32_t> cells, std::vector<Found>& out) const {
  check_cells(cells, columns());
  std::vector<std::int32_t> open;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto gap = static_cast<std::int32_t>(i);
    const std::int32_t what = separators_[static_cast<std::size_t>(cells[i]) - i * columns()];
    if ((what & 2) != 0) {
      if ((what & 4) == 0) {
        for (; !open.empty(); open.pop_back()) out.push_back({open.back(), gap, 0, 0.0});
      } else if (!open.empty()) {
        out.push_back({open.back(), gap, 0, 0.0});
        if (open.size() > 1) open.pop_back();
      }
    }
    if ((what & 1) != 0) open.push_back(gap);
  }
}

template <class Reading>
void probabilities(const Trellis& trellis, const Reading& reading, std::span<Found> mentions) {
  check(trellis, reading);
  Follower<Reading> follower(trellis, reading);
  follow_given(follower, trellis.sites(), reading.types(), mentions);
}

template <class Reading>
std::vector<Found> mentions_above(const Trellis& trellis, const Reading& reading, double above) {
  check(trellis, reading);
  Follower<Reading> follower(trellis, reading);
  return follow_all(follower, trellis.sites(), reading.types(), above);
}

template <class Reading>
Trellis clamp(const Trellis& trellis, const Reading& reading, const Found& mention, bool must) {
  check(trellis, reading);
  const Trellis& old = trellis;
  const bool possible = mention.start >= 0 && mention.start < mention.end &&
                        mention.end <= static_cast<std::int32_t>(old.sites()) && mention.type >= 0 &&
                        mention.type < reading.types();
  if (!possible) {
    Trellis same = old;
    if (must) same.log_z = kMinusInfinity;
    return same;
  }
  const auto opening = static_cast<std::size_t>(mention.start) + 1;
  const auto closing = static_cast<std::size_t>(mention.end) + 1;
  Trellis made;
  made.columns = old.columns;
  made.log_z = old.log_z;
  // Nodes of the current layer: (node of the old trellis, state of the reading or -1 if nothing is followed).
  struct Copy {
    std::int32_t node;
    std::int32_t state;
  };
  std::vector<Copy> now{{0, -1}}, next;
  std::vector<std::vector<std::int32_t>> number;  // [node of the next layer][state + 1]: its copy, or -1
  made.layer_ptr = {0, 1};
  made.column = {old.column[0]};
  for (std::size_t layer = 0; layer + 2 < old.layer_ptr.size(); ++layer) {
    const std::size_t into = layer + 1;
    const auto base = static_cast<std::int32_t>(made.column.size());
    next.clear();
    number.assign(old.width(into), {});
    for (const Copy& copy : now) {
      for (std::int64_t e = old.edge_ptr[copy.node]; e < old.edge_ptr[copy.node + 1]; ++e) {
        if (old.log_prob[e] == kMinusInfinity) continue;
        const std::int32_t x = old.column[copy.node];
        const std::int32_t y = old.column[old.target[e]];
        std::int32_t state = -1;
        bool found = false;
        if (into == opening) {
          if (y != old.border() && reading.type(y) == mention.type) state = reading.opens(x, y);
        } else if (copy.state >= 0) {
          const Step step = reading.step(copy.state, x, y);
          found = step.ends && into == closing;
          state = step.state;
        }
        if (into == closing) {
          if (found != must) continue;
          state = -1;
        } else if (into >= opening && into < closing && must && state < 0) {
          continue;
        }
        const auto i = static_cast<std::size_t>(old.target[e] - old.layer_ptr[into]);
        auto& copies = number[i];
        const auto s = static_cast<std::size_t>(state + 1);
        if (copies.size() <= s) copies.resize(s + 1, -1);
        if (copies[s] < 0) {
          copies[s] = base + static_cast<std::int32_t>(next.size());
          next.push_back({old.target[e], state});
        }
        made.target.push_back(copies[s]);
        made.log_prob.push_back(old.log_prob[e]);
      }
      made.edge_ptr.push_back(static_cast<std::int64_t>(made.target.size()));
    }
    for (const Copy& copy : next) made.column.push_back(old.column[copy.node]);
    made.layer_ptr.push_back(static_cast<std::int64_t>(made.column.size()));
    std::swap(now, next);
  }
  made.edge_ptr.push_back(static_cast<std::int64_t>(made.target.size()));
  if (now.empty()) {
    Trellis none = old;
    none.log_z = kMinusInfinity;
    return none;
  }
  made.normalise();
  return made;
}

double set_probability(const Trellis& trellis, const FlatReading& reading, std::span<const Found> mentions) {
  check(trellis, reading);
  const std::size_t n = trellis.sites();
  std::vector<std::int32_t> type(n + 1, -1);
  std::vector<std::uint8_t> border(n + 1, 0);
  border[0] = border[n] = 1;
  for (const Found& one : mentions) {
    if (one.start < 0 || one.start >= one.end || one.end > static_cast<std::int32_t>(n)) return 0.0;
    border[one.start] = border[one.end] = 1;
    for (std::int32_t t = one.start; t < one.end; ++t) type[t] = one.type;
  }
  std::vector<double> mass(trellis.nodes(), 0.0);
  mass[0] = 1.0;
  for (std::size_t layer = 0; layer + 2 < trellis.layer_ptr.size(); ++layer) {
    for (std::int64_t v = trellis.layer_ptr[layer]; v < trellis.layer_ptr[layer + 1]; ++v) {
      if (mass[v] == 0.0) continue;
      for (std::int64_t e = trellis.edge_ptr[v]; e < trellis.edge_ptr[v + 1]; ++e) {
        const std::int32_t y = trellis.column[trellis.target[e]];
        if (layer < n && reading.type(y) != type[layer]) continue;
        // Borders within the outside are none of a mention's.
        const bool outside = layer > 0 && layer < n && type[layer] < 0 && type[layer - 1] < 0;
        if (!outside && reading.border(trellis.column[v], y) != (border[layer] != 0)) continue;
        mass[trellis.target[e]] += mass[v] * trellis.prob[e];
      }
    }
  }
  return mass.back();
}

template void probabilities(const Trellis&, const FlatReading&, std::span<Found>);
template void probabilities(const Trellis&, const SeparatorReading&, std::span<Found>);
template std::vector<Found> mentions_above(const Trellis&, const FlatReading&, double);
template std::vector<Found> mentions_above(const Trellis&, const SeparatorReading&, double);
template Trellis clamp(const Trellis&, const FlatReading&, const Found&, bool);
template Trellis clamp(const Trellis&, const SeparatorReading&, const Found&, bool);

}  // namespace spanloom
