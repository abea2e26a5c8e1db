#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace spanloom {

// Cuts n neighbours into half-open runs; a run ends as soon as the sizes of its members add up to `enough`.
template <class Size>
std::vector<std::pair<std::size_t, std::size_t>> runs(std::size_t n, std::size_t enough, const Size& size) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  std::size_t filled = enough;
  for (std::size_t i = 0; i < n; ++i) {
    if (filled >= enough) {
      out.emplace_back(i, i);
      filled = 0;
    }
    out.back().second = i + 1;
    filled += size(i);
  }
  return out;
}

}  // namespace spanloom
