#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/base/kernels.hpp"
#include "spanloom/inference/markov.hpp"

namespace spanloom {

// The states in an order in which those that go on alike stand together: many do, as where a label leads depends on the
// last label alone. Places of states are padded to whole vectors, kind by kind, and so are the labels that may follow.
struct MarkovStates {
  // A label that may follow, and the place that it leads to.
  struct Way {
    std::size_t label, to;
  };
  struct Kind {
    std::size_t first = 0, width = 0;  // its places, padded
    std::vector<Way> ways;             // in the order of labels
    std::size_t stride = 0;            // of the ways, padded
    std::vector<double> by_way;        // [ways, width]: exp of steps
    std::vector<double> rows;          // [width, stride]: the same, transposed
  };

  explicit MarkovStates(const MarkovSearch& search) : labels(search.labels()), stride(search.stride()) {
    const std::size_t states = search.states();
    std::vector<std::vector<std::size_t>> alike;  // the states of each kind
    for (std::size_t h = 0; h < states; ++h) {
      const auto same = [&](const auto& kind) { return std::ranges::equal(search.goes(h), search.goes(kind.front())); };
      const auto known = std::ranges::find_if(alike, same);
      if (known == alike.end()) {
        alike.push_back({h});
      } else {
        known->push_back(h);
      }
    }
    std::vector<std::size_t> place(states);
    for (const auto& own : alike) {
      Kind& kind = kinds.emplace_back();
      kind.first = order.size();
      kind.width = kernels::padded(own.size());
      for (const std::size_t h : own) {
        place[h] = order.size();
        order.push_back(h);
      }
      order.resize(kind.first + kind.width, states);
      kind_of.resize(order.size(), kinds.size() - 1);
    }
    order.resize((order.size() + kernels::kLane - 1) / kernels::kLane * kernels::kLane, states);
    kind_of.resize(order.size(), 0);
    const auto ways = [&](std::size_t state) {
      std::vector<Way> made;
      for (std::size_t y = 0; y < labels; ++y) {
        const std::int32_t to = search.goes(state)[y];
        if (to >= 0) made.push_back({y, place[static_cast<std::size_t>(to)]});
      }
      return made;
    };
    begins = ways(states);
    start = search.exp_step(states);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      Kind& kind = kinds[k];
      kind.ways = ways(alike[k].front());
      kind.stride = kernels::padded(kind.ways.size());
      kind.by_way.assign(kind.ways.size() * kind.width, 0.0);
      kind.rows.assign(kind.width * kind.stride, 0.0);
      for (std::size_t i = 0; i < alike[k].size(); ++i) {
        const double* step = search.exp_step(alike[k][i]);
        for (std::size_t w = 0; w < kind.ways.size(); ++w) {
          kind.rows[i * kind.stride + w] = kind.by_way[w * kind.width + i] = step[kind.ways[w].label];
        }
      }
    }
    by_label.assign(labels * order.size(), 0.0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool is_state = order[i] < states;
      last.push_back(is_state ? search.last(order[i]) : -1);
      ends.push_back(is_state && search.may_end(order[i]) ? 1.0 : 0.0);
      for (std::size_t y = 0; is_state && y < labels; ++y) {
        by_label[y * order.size() + i] = search.exp_step(order[i])[y];
      }
    }
  }

  std::size_t size() const { return order.size(); }
  const Kind& kind(std::size_t place) const { return kinds[kind_of[place]]; }
  // exp of the steps of the ways from a place.
  const double* steps(std::size_t place) const {
    return &kind(place).rows[(place - kind(place).first) * kind(place).stride];
  }

  std::size_t labels, stride;
  std::vector<Kind> kinds;
  std::vector<std::size_t> order, kind_of;  // the state at each place, or how many there are; its kind
  std::vector<std::int32_t> last;           // the label of each place
  std::vector<double> ends;                 // whether a sequence may end at a place
  std::vector<double> by_label;             // [labels, places]: exp of steps
  std::vector<Way> begins;                  // where the first label leads
  const double* start = nullptr;            // [labels]: exp of the steps at the start
};

}  // namespace spanloom
