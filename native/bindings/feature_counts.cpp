#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "feature_reader.hpp"
#include "feature_state.hpp"
#include "spanloom/features/feature_count.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

FeatureCounts count(const ProgramHandle& handle, const std::string& sites, const std::vector<std::string>& names,
                    nb::handle columns, nb::handle own, int threads, std::shared_ptr<Lattices> lattices) {
  TokenInput input = read_input(names, columns, own);
  input.lattices = std::move(lattices);
  const nb::gil_scoped_release release;
  return count_features(handle.program, input, parse_sites(sites), threads);
}

nb::dict state(const FeatureCounts& self) {
  nb::dict arrays;
  give_pools(self.pools, arrays);
  std::vector<std::uint64_t> sizes;
  KeyStream keys;
  std::vector<std::uint64_t> key_sizes;
  std::vector<std::uint32_t> counts, first_row;
  for (const Candidates& some : self.candidates) {
    sizes.push_back(some.counts.size());
    key_sizes.push_back(some.keys.size());
    keys.insert(keys.end(), some.keys.begin(), some.keys.end());
    counts.insert(counts.end(), some.counts.begin(), some.counts.end());
    first_row.insert(first_row.end(), some.first_row.begin(), some.first_row.end());
  }
  arrays["rows"] = give(std::vector<std::uint64_t>{self.rows});
  arrays["sizes"] = give(std::move(sizes));
  arrays["key_sizes"] = give(std::move(key_sizes));
  arrays["keys"] = give(std::move(keys));
  arrays["counts"] = give(std::move(counts));
  arrays["first_row"] = give(std::move(first_row));
  return arrays;
}

// The next `size` numbers of an array, of which `done` have been taken.
std::vector<std::uint32_t> take(const Input<std::uint32_t>& array, std::size_t& done, std::uint64_t size) {
  if (size > array.size() - done) throw std::invalid_argument("feature counts: an array ends too early");
  const std::uint32_t* from = array.data() + done;
  done += size;
  return {from, from + size};
}

FeatureCounts from_state(const ProgramHandle& handle, const Input<std::uint64_t>& rows,
                         const Input<std::uint8_t>& strings, const Input<std::uint64_t>& string_ends,
                         const Input<std::uint64_t>& pool_sizes, const Input<std::uint64_t>& sizes,
                         const Input<std::uint64_t>& key_sizes, const Input<std::uint32_t>& keys,
                         const Input<std::uint32_t>& counts, const Input<std::uint32_t>& first_row) {
  const nb::gil_scoped_release release;
  if (rows.size() != 1 || sizes.size() != key_sizes.size())
    throw std::invalid_argument("feature counts: the sizes of arrays do not fit each other");
  FeatureCounts result{handle.program, rows.data()[0], read_pools(strings, string_ends, pool_sizes), {}};
  std::size_t keys_done = 0, counts_done = 0, rows_done = 0;
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    result.candidates.push_back({take(keys, keys_done, key_sizes.data()[t]), take(counts, counts_done, sizes.data()[t]),
                                 take(first_row, rows_done, sizes.data()[t])});
  }
  if (keys_done != keys.size() || counts_done != counts.size() || rows_done != first_row.size())
    throw std::invalid_argument("feature counts: an array is too long");
  result.check();
  return result;
}

}  // namespace

void bind_feature_counts(nb::module_& m) {
  nb::class_<FeatureCounts>(m, "FeatureCounts", "How often each feature occurs in some sentences, and where first.")
      .def_static("count", &count, "program"_a, "sites"_a, "names"_a, "columns"_a, "own"_a.none(), "threads"_a,
                  "lattices"_a = nb::none())
      .def_static("from_state", &from_state, "program"_a, nb::kw_only(), "rows"_a, "strings"_a, "string_ends"_a,
                  "pool_sizes"_a, "sizes"_a, "key_sizes"_a, "keys"_a, "counts"_a, "first_row"_a)
      .def_static(
          "merge",
          [](const std::vector<const FeatureCounts*>& parts, int threads) {
            if (std::ranges::find(parts, nullptr) != parts.end()) throw std::invalid_argument("a part is None");
            const nb::gil_scoped_release release;
            return merge_counts(parts, threads);
          },
          "parts"_a, "threads"_a, "The counts of all parts, one after the other.")
      .def("state", &state, "As arrays by name, for from_state.");
}

}  // namespace spanloom::bindings
