#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace spanloom {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// A semiring says what "sum" over alternatives and "product" along a structure mean. `sum` gets the values of all edges
// into a node at once, so that each can do it in its best way. lift() turns the score of an edge into a value.

// Values are scores, and a structure's is the sum of those of its edges.
struct LogDomain {
  static constexpr double zero = kMinusInfinity;
  static double lift(double score) { return score; }
  static double times(double a, double b) { return a + b; }
};

// (log-sum-exp, +): the partition function.
struct LogSemiring : LogDomain {
  static double sum(std::span<const double> values) {
    double top = kMinusInfinity;
    for (const double v : values) top = std::max(top, v);
    if (top == kMinusInfinity) return top;
    double total = 0;
    for (const double v : values) total += std::exp(v - top);
    return top + std::log(total);
  }
};

// (max, +): the score of the best structure.
struct MaxSemiring : LogDomain {
  static double sum(std::span<const double> values) {
    double top = kMinusInfinity;
    for (const double v : values) top = std::max(top, v);
    return top;
  }
};

// (+, *) on ones: the number of structures. A score of -inf forbids an edge.
struct CountSemiring {
  static constexpr double zero = 0.0;
  static double lift(double score) { return score == kMinusInfinity ? 0.0 : 1.0; }
  static double times(double a, double b) { return a * b; }
  static double sum(std::span<const double> values) {
    double total = 0;
    for (const double v : values) total += v;
    return total;
  }
};

}  // namespace spanloom
