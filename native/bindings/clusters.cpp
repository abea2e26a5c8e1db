#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "spanloom/features/brown.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {

void bind_clusters(nb::module_& m) {
  m.def(
      "brown_clusters",
      [](const Input<std::uint32_t>& tokens, const Input<std::int64_t>& line_ptr, std::size_t words,
         std::size_t clusters, const nb::object& progress, int threads) {
        BrownClusters found;
        {
          const nb::gil_scoped_release release;
          const auto report = [&progress](std::size_t done, std::size_t total) {
            const nb::gil_scoped_acquire acquire;
            if (!progress.is_none()) progress(done, total);
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
          };
          found = brown_clusters(span(tokens), span(line_ptr), words, clusters, report, threads);
        }
        return std::make_tuple(give(std::move(found.cluster_of)), found.paths);
      },
      "tokens"_a, "line_ptr"_a, "words"_a, "clusters"_a, "progress"_a = nb::none(), "threads"_a = 0,
      "Return (cluster of each word, path of each cluster).");
}

}  // namespace spanloom::bindings
