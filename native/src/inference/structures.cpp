#include "spanloom/inference/structures.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace spanloom {

std::size_t check_pointers(const char* name, std::span<const std::int64_t> ptr, std::size_t size,
                           std::span<const std::int64_t> site_ptr) {
  const std::size_t groups = site_ptr.empty() ? 0 : site_ptr.size() - 1;
  if (ptr.size() != groups + 1 || ptr.front() != 0 || ptr.back() != static_cast<std::int64_t>(size) ||
      !std::is_sorted(ptr.begin(), ptr.end())) {
    throw std::invalid_argument("[" + std::string(name) + "] the pointers do not fit " + std::to_string(groups) +
                                " sentences");
  }
  return groups;
}

void Structures::check(std::span<const std::int64_t> site_ptr, const Structure& structure) const {
  const std::size_t groups = check_pointers("Structures", ptr, cells.size(), site_ptr);
  for (std::size_t g = 0; g < groups; ++g) {
    const auto sites = static_cast<std::size_t>(site_ptr[g + 1] - site_ptr[g]);
    const auto count = static_cast<std::int64_t>(sites * structure.columns() + structure.global_cells());
    for (std::int64_t i = ptr[g]; i < ptr[g + 1]; ++i) {
      if (cells[i] < 0 || cells[i] >= count) {
        throw std::invalid_argument("[Structures] cell " + std::to_string(cells[i]) + " of sentence " +
                                    std::to_string(g) + " is not in [0, " + std::to_string(count) + ")");
      }
    }
  }
}

}  // namespace spanloom
