#include "spanloom/inference/markov.hpp"

#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {

void bind_markov(nb::module_& m) {
  nb::class_<MarkovSearch>(m, "MarkovSearch", "Search in a trellis where each label is chosen given those before it.")
      .def(
          "__init__",
          [](MarkovSearch* self, std::size_t labels, const Input<double>& step, const Input<std::int32_t>& goes,
             const Input<std::int32_t>& last, const Input<std::uint8_t>& may_end) {
            new (self) MarkovSearch(labels, span(step), copy(goes), copy(last), copy(may_end));
          },
          "labels"_a, "step"_a, "goes"_a, "last"_a, "may_end"_a)
      .def_prop_ro("labels", &MarkovSearch::labels)
      .def_prop_ro("states", &MarkovSearch::states)
      .def(
          "best",
          [](const MarkovSearch& self, const Input<double>& local, const Input<std::int64_t>& first, std::size_t beam,
             int threads) {
            std::vector<std::int32_t> labels(local.size() / self.labels());
            std::vector<double> scores;
            {
              const nb::gil_scoped_release release;
              scores = self.best_of_all(span(local), span(first), beam, threads, labels);
            }
            return std::make_tuple(give(std::move(scores)), give(std::move(labels)));
          },
          "local"_a, "first"_a, "beam"_a = 0, "threads"_a = 0,
          "Return (log-probability of each sentence's best labels, the labels of all sites); -1 where there are none.");
}

}  // namespace spanloom::bindings
