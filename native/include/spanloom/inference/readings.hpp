#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/inference/trellis.hpp"

namespace spanloom {

// A mention as readings find it: tokens [start, end) and the number of its label.
struct Found {
  std::int32_t start = 0;
  std::int32_t end = 0;
  std::int32_t type = 0;
  double prob = 0;
};

// A reading says which mentions the columns of a path stand for. It follows one start at a time: whether a mention
// opens between two neighbouring columns (with which state, or -1), and what a further column does to it.
struct Step {
  std::int32_t state = 0;  // -1: it is closed for good
  bool ends = false;       // a mention from the start followed ends before this column's site
};

// One label per token. A mention goes on from one label to the next unless there is a border between them.
class FlatReading {
 public:
  // types: [columns], -1 for labels outside of mentions; borders: [columns * columns], from * columns + to.
  FlatReading(std::vector<std::int32_t> types, std::span<const std::uint8_t> borders);

  std::size_t columns() const { return types_.size() - 1; }
  std::int32_t types() const { return count_; }
  std::int32_t type(std::int32_t column) const { return types_[column]; }
  bool border(std::int32_t x, std::int32_t y) const { return borders_[x * types_.size() + y] != 0; }

  // Appends the mentions of a path, given its site cells in ascending order. Throws std::invalid_argument unless there
  // is one for each site.
  void read(std::span<const std::int32_t> cells, std::vector<Found>& out) const;

  std::int32_t opens(std::int32_t x, std::int32_t y) const { return types_[y] >= 0 && border(x, y) ? 0 : -1; }
  Step step(std::int32_t, std::int32_t x, std::int32_t y) const {
    return border(x, y) ? Step{-1, true} : Step{0, false};
  }

 private:
  std::vector<std::int32_t> types_;    // [columns + 1]: the last is the border of the sentence
  std::vector<std::uint8_t> borders_;  // [columns + 1, columns + 1]
  std::int32_t count_ = 0;
};

// One separator per gap, read as nested (see spanloom.schemes.separators): E without C ends all open mentions; E with C
// ends the one opened last, which stays open if it is the only one; S opens one.
//
// The state of a start is 2 d + (1 if it is at the bottom of the stack), with d starts above it that are still open. It
// is at the bottom if nothing continues over its gap.
class SeparatorReading {
 public:
  // separators: [columns], S + 2 E + 4 C of each column.
  explicit SeparatorReading(std::vector<std::int32_t> separators);

  std::size_t columns() const { return separators_.size() - 1; }
  std::int32_t types() const { return 1; }
  std::int32_t type(std::int32_t) const { return 0; }

  // Appends the mentions of a path, given its site cells in ascending order, as they end. Throws std::invalid_argument
  // unless there is one for each site.
  void read(std::span<const std::int32_t> cells, std::vector<Found>& out) const;

  std::int32_t opens(std::int32_t, std::int32_t y) const {
    const std::int32_t what = separators_[y];
    return (what & 1) == 0 ? -1 : (what & 4) != 0 ? 0 : 1;
  }
  Step step(std::int32_t state, std::int32_t, std::int32_t y) const {
    const std::int32_t what = separators_[y];
    if ((what & 4) == 0) return {-1, (what & 2) != 0};
    Step next{state, false};
    if ((what & 2) != 0) {
      if (state >= 2) {
        next.state -= 2;
      } else {
        next = {state == 1 ? 1 : -1, true};
      }
    }
    if ((what & 1) != 0 && next.state >= 0) next.state += 2;
    return next;
  }

 private:
  std::vector<std::int32_t> separators_;  // [columns + 1]: X at the border of the sentence
};

// Fills in the probabilities of mentions: that the reading of a path holds the mention, 0 for what cannot be. Mentions
// of one start and type that stand side by side are followed together.
template <class Reading>
void probabilities(const Trellis& trellis, const Reading& reading, std::span<Found> mentions);

// Every mention with a probability of at least `above` > 0, by start, then end. A start is followed as long as as much
// mass is left.
template <class Reading>
std::vector<Found> mentions_above(const Trellis& trellis, const Reading& reading, double above);

// The trellis of the paths whose reading holds a mention, or does not; its log_z is that of these paths, -inf if there
// is none. Nodes are copied by state of the reading between the mention's start and end only.
template <class Reading>
Trellis clamp(const Trellis& trellis, const Reading& reading, const Found& mention, bool must);

// The probability that a path is read as exactly these mentions, which are in reading order and do not overlap.
double set_probability(const Trellis& trellis, const FlatReading& reading, std::span<const Found> mentions);

}  // namespace spanloom
