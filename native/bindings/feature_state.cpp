#include "feature_state.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace nb = nanobind;

namespace spanloom::bindings {

void give_pools(const std::vector<StringPool>& pools, nb::dict& arrays) {
  std::vector<std::uint8_t> strings;
  std::vector<std::uint64_t> ends, sizes;
  for (const StringPool& pool : pools) {
    std::size_t end = strings.size();
    const std::string& bytes = pool.strings().bytes();
    strings.insert(strings.end(), bytes.begin(), bytes.end());
    for (std::uint32_t i = 0; i < pool.size(); ++i) ends.push_back(end += pool[i].size());
    sizes.push_back(pool.size());
  }
  arrays["strings"] = give(std::move(strings));
  arrays["string_ends"] = give(std::move(ends));
  arrays["pool_sizes"] = give(std::move(sizes));
}

nb::dict table_state(const FeatureTable& table) {
  nb::dict arrays;
  give_pools(table.pools(), arrays);
  arrays["template_of"] = give(std::vector<std::uint32_t>(table.template_of()));
  arrays["keys"] = give(table.key_stream());
  return arrays;
}

std::vector<StringPool> read_pools(const Input<std::uint8_t>& strings, const Input<std::uint64_t>& string_ends,
                                   const Input<std::uint64_t>& pool_sizes) {
  const std::string_view bytes(reinterpret_cast<const char*>(strings.data()), strings.size());
  std::vector<StringPool> pools;
  std::size_t next = 0;
  std::uint64_t start = 0;
  for (const std::uint64_t size : span(pool_sizes)) {
    StringPool& pool = pools.emplace_back();
    if (size > string_ends.size() - next) throw std::invalid_argument("feature strings end too early");
    if (size > 0) {
      const std::uint64_t end = std::min<std::uint64_t>(bytes.size(), string_ends.data()[next + size - 1]);
      pool.reserve(size, std::max(end, start) - start);
    }
    for (std::uint64_t i = 0; i < size; ++i, ++next) {
      const std::uint64_t end = string_ends.data()[next];
      if (end < start || end > bytes.size()) throw std::invalid_argument("ends of feature strings do not ascend");
      if (pool.insert(bytes.substr(start, end - start)) != i)
        throw std::invalid_argument("feature strings are not distinct");
      start = end;
    }
  }
  if (next != string_ends.size() || start != bytes.size())
    throw std::invalid_argument("there are feature strings that belong to no view");
  return pools;
}

std::shared_ptr<const FeatureTable> read_table(
    std::shared_ptr<const Program> program, const Input<std::uint8_t>& strings, const Input<std::uint64_t>& string_ends,
    const Input<std::uint64_t>& pool_sizes, const Input<std::uint32_t>& template_of, const Input<std::uint32_t>& keys) {
  return std::make_shared<const FeatureTable>(std::move(program), read_pools(strings, string_ends, pool_sizes),
                                              copy(template_of), span(keys));
}

}  // namespace spanloom::bindings
