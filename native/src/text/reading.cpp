#include "spanloom/text/reading.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace spanloom::text {
namespace {

constexpr std::int32_t kStart = 1, kEnd = 2, kContinue = 4;
constexpr std::size_t kSeparators = 8;

}  // namespace

Reading Reading::segments(std::vector<std::int32_t> labels, std::vector<std::uint8_t> borders) {
  if (labels.empty() || borders.size() != labels.size() * labels.size())
    throw std::invalid_argument("[Reading] " + std::to_string(labels.size()) +
                                " columns need as many borders squared, got " + std::to_string(borders.size()));
  Reading reading;
  reading.columns_ = labels.size();
  reading.labels_ = std::move(labels);
  reading.borders_ = std::move(borders);
  return reading;
}

Reading Reading::separators(std::uint32_t label) {
  Reading reading;
  reading.columns_ = kSeparators;
  reading.labels_ = {static_cast<std::int32_t>(label)};
  return reading;
}

std::uint32_t Reading::labels() const {
  return static_cast<std::uint32_t>(std::max(0, *std::ranges::max_element(labels_) + 1));
}

void Reading::read(std::span<const std::int32_t> cells, std::uint32_t shift, std::vector<Span>& out) const {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] < 0 || static_cast<std::size_t>(cells[i]) / columns_ != i)
      throw std::invalid_argument("[Reading] site " + std::to_string(i) + " has no cell, or more than one");
  }
  if (borders_.empty())
    read_separators(cells, shift, out);
  else
    read_segments(cells, shift, out);
}

void Reading::read_segments(std::span<const std::int32_t> cells, std::uint32_t shift, std::vector<Span>& out) const {
  const auto n = static_cast<std::uint32_t>(cells.size());
  const auto column = [&](std::uint32_t i) { return static_cast<std::size_t>(cells[i]) - i * columns_; };
  for (std::uint32_t i = 0, start = 0; i < n; ++i) {
    const std::size_t own = column(i);
    if (i + 1 < n && borders_[own * columns_ + column(i + 1)] == 0) continue;
    if (labels_[own] >= 0) out.push_back({static_cast<std::uint32_t>(labels_[own]), shift + start, shift + i + 1});
    start = i + 1;
  }
}

void Reading::read_separators(std::span<const std::int32_t> cells, std::uint32_t shift, std::vector<Span>& out) const {
  const auto label = static_cast<std::uint32_t>(labels_[0]);
  std::vector<std::uint32_t> open;
  for (std::uint32_t gap = 0; gap < cells.size(); ++gap) {
    const std::int32_t what = cells[gap] & (kStart | kEnd | kContinue);
    const std::uint32_t here = shift + gap;
    if ((what & kEnd) != 0) {
      if ((what & kContinue) == 0) {
        for (; !open.empty(); open.pop_back()) out.push_back({label, open.back(), here});
      } else if (!open.empty()) {
        out.push_back({label, open.back(), here});
        if (open.size() > 1) open.pop_back();
      }
    }
    if ((what & kStart) != 0) open.push_back(here);
  }
}

}  // namespace spanloom::text
