#include "spanloom/inference/graph.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

using Scores = Input<double>;

auto give_derivation(Derivation&& one) { return std::make_tuple(one.score, give(std::move(one.edges))); }

auto give_derivations(std::vector<Derivation>&& many) {
  std::vector<decltype(give_derivation(std::move(many.front())))> out;
  for (Derivation& one : many) out.push_back(give_derivation(std::move(one)));
  return out;
}

template <class Function>
auto without_gil(Function&& function) {
  const nb::gil_scoped_release release;
  return function();
}

}  // namespace

void bind_graph(nb::module_& m) {
  nb::class_<Graph>(m, "Graph", "A directed acyclic hypergraph whose edges carry cells; the last node is the root.")
      .def(
          "__init__",
          [](Graph* self, const Input<std::int64_t>& edge_ptr, const Input<std::int64_t>& tail_ptr,
             const Input<std::int32_t>& tails, const Input<std::int64_t>& cell_ptr, const Input<std::int32_t>& cells,
             std::int64_t cell_count) {
            Graph graph{copy(edge_ptr), copy(tail_ptr), copy(tails), copy(cell_ptr), copy(cells), cell_count};
            graph.check();
            new (self) Graph(std::move(graph));
          },
          "edge_ptr"_a, "tail_ptr"_a, "tails"_a, "cell_ptr"_a, "cells"_a, "cell_count"_a)
      .def_static(
          "from_edges",
          [](const std::vector<std::vector<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>>>& nodes,
             std::int64_t cell_count) {
            GraphBuilder builder(cell_count);
            for (const auto& edges : nodes) {
              builder.node();
              for (const auto& [tails, cells] : edges) builder.edge(tails, cells);
            }
            return builder.finish();
          },
          "nodes"_a, "cell_count"_a, "One list per node, in topological order, of (tails, cells) pairs.")
      .def_prop_ro("nodes", &Graph::nodes)
      .def_prop_ro("edges", &Graph::edges)
      .def_ro("cell_count", &Graph::cell_count)
      .def_prop_ro("cell_ptr", [](nb::handle_t<Graph> self) { return view(nb::cast<Graph&>(self).cell_ptr, self); })
      .def_prop_ro("cells", [](nb::handle_t<Graph> self) { return view(nb::cast<Graph&>(self).cells, self); })
      .def(
          "cells_of",
          [](const Graph& self, const Input<std::int64_t>& edges) {
            std::vector<std::int32_t> cells;
            for (const std::int64_t e : span(edges)) {
              if (e < 0 || e >= static_cast<std::int64_t>(self.edges())) throw nb::index_error("no such edge");
              cells.insert(cells.end(), self.cells.begin() + self.cell_ptr[e],
                           self.cells.begin() + self.cell_ptr[e + 1]);
            }
            return give(std::move(cells));
          },
          "edges"_a, "The cells that these edges use, in their order.")
      .def(
          "log_partition",
          [](const Graph& self, const Scores& scores) {
            return without_gil([&] { return log_partition(self, span(scores)); });
          },
          "scores"_a)
      .def(
          "expectations",
          [](const Graph& self, const Scores& scores) {
            std::vector<double> expected(static_cast<std::size_t>(self.cell_count));
            const double log_z = without_gil([&] { return expectations(self, span(scores), expected); });
            return std::make_tuple(log_z, give(std::move(expected)));
          },
          "scores"_a, "Return (log Z, expected number of uses of every cell).")
      .def(
          "best",
          [](const Graph& self, const Scores& scores) {
            return give_derivation(without_gil([&] { return best(self, span(scores)); }));
          },
          "scores"_a, "Return (score, edges) of the best structure.")
      .def(
          "k_best",
          [](const Graph& self, const Scores& scores, std::size_t k) {
            return give_derivations(without_gil([&] { return k_best(self, span(scores), k); }));
          },
          "scores"_a, "k"_a, "Return (score, edges) of the k best structures, best first.")
      .def("count", [](const Graph& self) { return without_gil([&] { return count(self); }); })
      .def(
          "sample",
          [](const Graph& self, const Scores& scores, std::size_t n, std::uint64_t seed) {
            return give_derivations(without_gil([&] { return sample(self, span(scores), n, seed); }));
          },
          "scores"_a, "n"_a, "seed"_a, "Draw n structures from exp(score) / Z.");
}

}  // namespace spanloom::bindings
