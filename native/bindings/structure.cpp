#include "spanloom/inference/structure.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include "arrays.hpp"
#include "bindings.hpp"
#include "spanloom/inference/chain.hpp"
#include "spanloom/inference/choice.hpp"
#include "spanloom/inference/decoder.hpp"
#include "spanloom/inference/edge.hpp"
#include "spanloom/inference/hypergraph.hpp"
#include "spanloom/inference/segmental.hpp"
#include "spanloom/inference/segments.hpp"
#include "spanloom/inference/spans.hpp"
#include "spanloom/inference/tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

using OptionalMask = std::optional<Input<std::uint8_t>>;
using OptionalMasks = std::optional<std::pair<Input<std::int64_t>, Input<std::uint8_t>>>;

const std::uint8_t* mask_of(const Structure& structure, Unit unit, const OptionalMask& mask) {
  if (!mask) return nullptr;
  check_mask(structure, unit, mask->size());
  return mask->data();
}

template <class Kind>
void bind_lattice_structure(nb::module_& m, const char* name, const char* doc) {
  nb::class_<Kind, Structure>(m, name, doc)
      .def(
          "__init__",
          [](Kind* self, std::size_t columns, std::shared_ptr<Lattices> lattices) {
            new (self) Kind(columns, std::move(lattices));
          },
          "columns"_a, "lattices"_a);
}

}  // namespace

void bind_structure(nb::module_& m) {
  nb::class_<Structure>(m, "Structure", "How the cells of a sentence go together, whatever their scores.")
      .def_prop_ro("columns", &Structure::columns)
      .def_prop_ro("global_cells", &Structure::global_cells)
      .def_prop_ro("stride", &Structure::stride)
      .def(
          "choices",
          [](const Structure& self, std::size_t sites, std::size_t number) { return self.choices({sites, number}); },
          "sites"_a, "number"_a = 0, "How many rows of `columns` choices a mask has.")
      .def(
          "graph",
          [](const Structure& self, std::size_t sites, std::size_t number, const OptionalMask& mask) {
            const std::uint8_t* allowed = mask_of(self, {sites, number}, mask);
            return Graph(allowed == nullptr ? *self.graph({sites, number}) : *self.graph({sites, number}, allowed));
          },
          "sites"_a, "number"_a = 0, "mask"_a = nb::none(),
          "The structure for this many sites as an explicit graph, with nothing but what the mask allows.")
      .def(
          "expectations",
          [](const Structure& self, const Input<double>& scores, const Input<double>& global, std::size_t number,
             const OptionalMask& mask) {
            const std::size_t sites = check_table(self, scores.size());
            const std::uint8_t* allowed = mask_of(self, {sites, number}, mask);
            std::vector<double> table = padded_table(self, span(scores));
            std::vector<double> expected(table.size());
            std::vector<double> out(sites * self.columns() + self.global_cells());
            double log_z = 0;
            {
              const nb::gil_scoped_release release;
              const auto solver = self.solver(span(global));
              log_z = solver->expectations({sites, number}, table.data(), expected.data(), allowed);
              solver->add_global(std::span(out).subspan(sites * self.columns()));
            }
            for (std::size_t t = 0; t < sites; ++t) {
              std::copy_n(&expected[t * self.stride()], self.columns(), &out[t * self.columns()]);
            }
            return std::make_tuple(log_z, give(std::move(out)));
          },
          "scores"_a, "global_scores"_a, "number"_a = 0, "mask"_a = nb::none(),
          "Return (log Z, expected uses of every cell) for scores [sites * columns] of one sentence. A mask [choices * "
          "columns] has 0 for what no structure may use; choices are sites, or candidate segments. For sets of "
          "segments "
          "it may have 2 for what every structure must use.")
      .def(
          "best",
          [](const Structure& self, const Input<double>& scores, const Input<double>& global, std::size_t number,
             const OptionalMask& mask) {
            const std::size_t sites = check_table(self, scores.size());
            const std::uint8_t* allowed = mask_of(self, {sites, number}, mask);
            const std::vector<double> table = padded_table(self, span(scores));
            std::vector<std::int32_t> cells;
            double score = 0;
            {
              const nb::gil_scoped_release release;
              score = self.solver(span(global))->best({sites, number}, table.data(), cells, false, allowed);
            }
            return std::make_tuple(score, give(std::move(cells)));
          },
          "scores"_a, "global_scores"_a, "number"_a = 0, "mask"_a = nb::none(),
          "Return (score, site cells) of the best structure of one sentence.");

  nb::class_<ChainStructure, Structure>(m, "ChainStructure", "A linear chain with one label per site.")
      .def(
          "__init__",
          [](ChainStructure* self, std::size_t labels, const Input<std::uint8_t>& allowed,
             const Input<std::uint8_t>& start, const Input<std::uint8_t>& end) {
            new (self) ChainStructure(labels, copy(allowed), copy(start), copy(end));
          },
          "labels"_a, "allowed"_a, "start"_a, "end"_a);

  nb::class_<ChoiceStructure, Structure>(m, "ChoiceStructure", "One column at every site, each chosen for itself.")
      .def(nb::init<std::size_t>(), "columns"_a);

  bind_lattice_structure<SegmentStructure>(m, "SegmentStructure", "Segmentations along the lattices of sentences.");
  bind_lattice_structure<SpanStructure>(m, "SpanStructure", "Sets of segments, each chosen for itself.");
  nb::class_<SegmentalStructure, Structure>(
      m, "SegmentalStructure",
      "Sets of segments: starts that see the furthest end before them, a chain of ends for each.")
      .def(
          "__init__",
          [](SegmentalStructure* self, std::shared_ptr<Lattices> lattices) {
            new (self) SegmentalStructure(std::move(lattices));
          },
          "lattices"_a);
  nb::class_<TreeStructure, Structure>(m, "TreeStructure", "Sets of segments of which no two cross, as trees.")
      .def(
          "__init__",
          [](TreeStructure* self, std::size_t columns, std::shared_ptr<Lattices> lattices,
             const Input<std::int32_t>& next) { new (self) TreeStructure(columns, std::move(lattices), copy(next)); },
          "columns"_a, "lattices"_a, "next"_a, "next[context * columns + column]: the context within such a mention.");
  nb::class_<EdgeStructure, Structure>(m, "EdgeStructure", "Mention separators as edges between two nodes per token.")
      .def(nb::init<>());

  nb::class_<HypergraphStructure, Structure>(m, "HypergraphStructure", "The mention hypergraph of one type.")
      .def(nb::init<>());

  nb::class_<GraphStructure, Structure>(m, "GraphStructure", "A graph for each number of sites.")
      .def(nb::init<std::size_t, std::size_t>(), "columns"_a, "global_cells"_a)
      .def(
          "set", [](GraphStructure& self, std::size_t sites, const Graph& graph) { self.set(sites, graph); }, "sites"_a,
          "graph"_a)
      .def("has", &GraphStructure::has, "sites"_a);

  m.def(
      "weight_table",
      [](std::size_t rows, std::size_t width) {
        if (width != 0 && rows > std::numeric_limits<std::size_t>::max() / 8 / width) throw std::bad_array_new_length();
        auto held = std::make_unique<LargeVector<float>>(rows * width, 0.0F);
        float* data = held->data();
        nb::capsule owner(held.release(), [](void* p) noexcept { delete static_cast<LargeVector<float>*>(p); });
        return nb::ndarray<nb::numpy, float, nb::ndim<2>>(data, {rows, width}, owner);
      },
      "rows"_a, "width"_a, "Zeros in memory for tables that are read in random order, see memory.hpp.");

  nb::class_<Decoder>(m, "Decoder", "Structures with their weights: from features to best structures and scores.")
      .def(
          "__init__",
          [](Decoder* self, std::shared_ptr<Structure> structure, const Input<float>& weights,
             const Input<double>& global) {
            new (self) Decoder({{std::move(structure), span(weights), copy(global)}});
          },
          "structure"_a, "weights"_a, "global_weights"_a)
      .def_static(
          "joined",
          [](const std::vector<std::tuple<std::shared_ptr<Structure>, Input<float>, Input<double>>>& given) {
            std::vector<Decoder::Part> parts;
            for (const auto& [structure, weights, global] : given) {
              parts.push_back({structure, span(weights), copy(global)});
            }
            return Decoder(parts);
          },
          "parts"_a, "One decoder for several (structure, weights, global weights): features are looked up once.")
      .def_static(
          "over",
          [](const std::vector<std::pair<std::shared_ptr<Structure>, Input<double>>>& given,
             const nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>& table) {
            std::vector<Decoder::Part> parts;
            for (const auto& [structure, global] : given) parts.push_back({structure, {}, copy(global)});
            return Decoder(parts, {table.data(), table.size()});
          },
          "parts"_a, "table"_a.noconvert(), nb::keep_alive<0, 2>(),
          "One decoder for several (structure, global weights) over a table that it does not copy: the columns of "
          "each, padded to its stride, side by side.")
      .def_prop_ro("size", &Decoder::size, "Number of structures.")
      .def(
          "set_offsets",
          [](Decoder& self, std::size_t part, const Input<double>& offsets) { self.set_offsets(part, copy(offsets)); },
          "part"_a, "offsets"_a,
          "Add offsets[k] to the score of column k of one structure at every site, for trees at the rows of segments.")
      .def(
          "best",
          [](const Decoder& self, const SparseRows& rows, int threads,
             const std::vector<std::shared_ptr<Structure>>& structures, const std::vector<OptionalMasks>& masks) {
            std::vector<const Structure*> own;
            for (const auto& structure : structures) own.push_back(structure.get());
            std::vector<Masks> allowed;
            for (const auto& one : masks) {
              allowed.push_back(one ? Masks{copy(one->first), copy(one->second)} : Masks{});
            }
            std::vector<Structures> found;
            {
              const nb::gil_scoped_release release;
              found = self.best(rows, threads, own, allowed);
            }
            std::vector<std::pair<Array<std::int64_t>, Array<std::int32_t>>> out;
            for (Structures& one : found) out.emplace_back(give(std::move(one.ptr)), give(std::move(one.cells)));
            return out;
          },
          "rows"_a, "threads"_a = 0, "structures"_a = std::vector<std::shared_ptr<Structure>>{},
          "masks"_a = std::vector<OptionalMasks>{},
          "Return (ptr, cells) for each structure: the site cells of each sentence's best choice. Masks, if there are "
          "any, "
          "are (ptr, values) for each structure, or None; a sentence without values has no mask.")
      .def(
          "scores",
          [](const Decoder& self, const SparseRows& rows, int threads, std::size_t part) {
            std::vector<double> table;
            {
              const nb::gil_scoped_release release;
              table = self.scores(rows, part, threads);
            }
            return give(std::move(table));
          },
          "rows"_a, "threads"_a = 0, "part"_a = 0,
          "The score table [sites * columns] of all sentences, without offsets.")
      .def(
          "all_scores",
          [](const Decoder& self, const SparseRows& rows, int threads) {
            std::vector<std::vector<double>> tables;
            {
              const nb::gil_scoped_release release;
              tables = self.all_scores(rows, threads);
            }
            nb::list out;
            for (auto& table : tables) out.append(give(std::move(table)));
            return out;
          },
          "rows"_a, "threads"_a = 0,
          nb::sig("def all_scores(self, rows: SparseRows, threads: int = 0) -> list[Annotated[NDArray[numpy.float64], "
                  "dict(shape=(None,))]]"),
          "The score tables of every structure, at the price of one.");
}

}  // namespace spanloom::bindings
