#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "feature_reader.hpp"
#include "feature_state.hpp"
#include "spanloom/features/feature_count.hpp"
#include "spanloom/features/feature_rows.hpp"
#include "spanloom/text/unicode.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

using OpSpec = std::pair<std::string, std::vector<std::int64_t>>;
using ViewSpec = std::pair<std::uint32_t, std::vector<OpSpec>>;
using ResourceSpec = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The numbers after the name: lengths for affixes and n-grams (low, high), for flags (both, then flag numbers), for
// lookup the resource, for cluster the resource, then lengths.
Op make_op(const OpSpec& spec) {
  const auto& [name, numbers] = spec;
  const auto number = [&](std::size_t i) {
    if (i >= numbers.size() || numbers[i] < 0 || numbers[i] >= kNone)
      throw std::invalid_argument("operation '" + name + "' needs a non-negative number " + std::to_string(i));
    return static_cast<std::uint32_t>(numbers[i]);
  };
  Op op;
  op.kind = op_kind(name);
  switch (op.kind) {
    case OpKind::prefix:
    case OpKind::suffix:
    case OpKind::ngrams:
      op.low = number(0);
      op.high = number(1);
      break;
    case OpKind::flags:
      op.both = number(0) != 0;
      for (std::size_t i = 1; i < numbers.size(); ++i) {
        if (number(i) >= flag_names().size())
          throw std::invalid_argument("flag " + std::to_string(number(i)) + " does not exist");
        op.mask |= std::uint64_t{1} << number(i);
      }
      break;
    case OpKind::lookup:
    case OpKind::cluster:
      op.resource = number(0);
      for (std::size_t i = 1; i < numbers.size(); ++i) op.lengths.push_back(number(i));
      break;
    default:
      break;
  }
  return op;
}

TemplateKind template_kind(const std::string& name) {
  if (name == "conjunction") return TemplateKind::conjunction;
  if (name == "bag") return TemplateKind::bag;
  if (name == "sequence") return TemplateKind::sequence;
  if (name == "own") return TemplateKind::own;
  if (name == "bias") return TemplateKind::bias;
  throw std::invalid_argument("unknown kind of template '" + name + "'");
}

Part make_part(const std::string& name) {
  static constexpr std::string_view names[] = {"first", "last", "inside", "left", "right", "span", "gap"};
  const auto* found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) throw std::invalid_argument("unknown part of a segment '" + name + "'");
  return static_cast<Part>(found - std::begin(names));
}

std::shared_ptr<const Program> make_program(std::uint32_t columns, const std::vector<ViewSpec>& views,
                                            const std::vector<Template>& templates,
                                            const std::vector<ResourceSpec>& resources) {
  auto program = std::make_shared<Program>();
  program->columns = columns;
  for (const auto& [column, ops] : views) {
    spanloom::View& view = program->views.emplace_back();
    view.column = column;
    for (const OpSpec& op : ops) view.ops.push_back(make_op(op));
  }
  program->templates = templates;
  for (const ResourceSpec& spec : resources) {
    Resource& resource = program->resources.emplace_back();
    for (const auto& [key, values] : spec) resource.add(key, values);
  }
  program->check();
  return program;
}

std::pair<FeatureRows*, SparseRows> fit(const ProgramHandle& handle, const std::string& sites,
                                        const std::vector<std::string>& names, nb::handle columns, nb::handle own,
                                        int threads, std::shared_ptr<Lattices> lattices) {
  TokenInput input = read_input(names, columns, own);
  input.lattices = std::move(lattices);
  const nb::gil_scoped_release release;
  auto table =
      std::make_shared<FeatureTable>(make_table(count_features(handle.program, input, parse_sites(sites), threads)));
  auto rows = std::make_unique<FeatureRows>(std::move(table), parse_sites(sites));
  SparseRows filled = rows->rows(input, threads);
  return {rows.release(), std::move(filled)};
}

FeatureRows* from_state(const ProgramHandle& handle, const std::string& sites, const Input<std::uint8_t>& strings,
                        const Input<std::uint64_t>& string_ends, const Input<std::uint64_t>& pool_sizes,
                        const Input<std::uint32_t>& template_of, const Input<std::uint32_t>& keys) {
  const nb::gil_scoped_release release;
  return new FeatureRows(read_table(handle.program, strings, string_ends, pool_sizes, template_of, keys),
                         parse_sites(sites));
}

}  // namespace

void bind_features(nb::module_& m) {
  m.def("unicode_version", [] { return std::string(unicode_version()); }, "Unicode version of the native tables.");
  m.def(
      "flag_names", [] { return std::vector<std::string>(flag_names().begin(), flag_names().end()); },
      "Names of the orthographic flags.");

  nb::class_<Atom>(m, "ProgramAtom", "A view read at a distance from the site, or from the last token of a segment.")
      .def(
          "__init__",
          [](Atom* self, std::uint32_t view, std::int32_t offset, bool from_last) {
            new (self) Atom{view, offset, from_last};
          },
          "view"_a, "offset"_a, nb::kw_only(), "from_last"_a = false);
  nb::class_<Template>(m, "ProgramTemplate", "What becomes of the values of atoms.")
      .def(
          "__init__",
          [](Template* self, const std::string& kind, std::vector<Atom> atoms, std::vector<std::string> labels,
             std::uint32_t min_count, const std::string& part, std::uint32_t index) {
            new (self)
                Template{template_kind(kind), std::move(atoms), min_count, std::move(labels), make_part(part), index};
          },
          "kind"_a, "atoms"_a, "labels"_a, nb::kw_only(), "min_count"_a = 1, "part"_a = "inside", "index"_a = 0,
          "The part of a segment that it belongs to and, for left and right, which token of it from 1.");

  nb::class_<ProgramHandle>(m, "FeatureProgram", "Views and templates, compiled.")
      .def(
          "__init__",
          [](ProgramHandle* self, std::uint32_t columns, const std::vector<ViewSpec>& views,
             const std::vector<Template>& templates, const std::vector<ResourceSpec>& resources) {
            new (self) ProgramHandle{make_program(columns, views, templates, resources)};
          },
          "columns"_a, "views"_a, "templates"_a, "resources"_a)
      .def_prop_ro(
          "layout", [](const ProgramHandle& self) { return self.program->layout(); }, "Which rows segments need.")
      .def(
          "values",
          [](const ProgramHandle& self, std::uint32_t view, std::string_view text) {
            if (view >= self.program->views.size())
              throw std::out_of_range("view " + std::to_string(view) + " does not exist");
            Transformer transform(self.program->resources);
            const StringList& values = transform.apply(self.program->views[view].ops, text);
            std::vector<std::string> out;
            for (std::size_t i = 0; i < values.size(); ++i) out.emplace_back(values[i]);
            return out;
          },
          "view"_a, "text"_a, "What a view makes of one string.");

  nb::class_<FeatureRows>(m, "FeatureRows", "A frozen feature table and the loop that fills rows from it.")
      .def_static("fit", &fit, "program"_a, "sites"_a, "names"_a, "columns"_a, "own"_a.none(), "threads"_a,
                  "lattices"_a = nb::none())
      .def_static(
          "from_counts",
          [](const FeatureCounts& counts, const std::string& sites) {
            const nb::gil_scoped_release release;
            return new FeatureRows(std::make_shared<FeatureTable>(make_table(counts)), parse_sites(sites));
          },
          "counts"_a, "sites"_a)
      .def_static("from_state", &from_state, "program"_a, "sites"_a, "strings"_a, "string_ends"_a, "pool_sizes"_a,
                  "template_of"_a, "keys"_a)
      .def(
          "rows",
          [](const FeatureRows& self, const std::vector<std::string>& names, nb::handle columns, nb::handle own,
             int threads, std::shared_ptr<Lattices> lattices) {
            TokenInput input = read_input(names, columns, own);
            input.lattices = std::move(lattices);
            const nb::gil_scoped_release release;
            return self.rows(input, threads);
          },
          "names"_a, "columns"_a, "own"_a.none(), "threads"_a, "lattices"_a = nb::none())
      .def(
          "keep",
          [](const FeatureRows& self, const Input<std::uint32_t>& ids) {
            const nb::gil_scoped_release release;
            return new FeatureRows(std::make_shared<FeatureTable>(self.table().keep({ids.data(), ids.size()})),
                                   self.sites());
          },
          "ids"_a)
      .def(
          "renumbered",
          [](const FeatureRows& self, const Input<std::uint32_t>& numbers) {
            return new FeatureRows(self.shared_table(), self.sites(), copy(numbers));
          },
          "numbers"_a, "The same features, with numbers[f] for f in rows; the table is shared.")
      .def(
          "numbers_in",
          [](const FeatureRows& self, const FeatureRows& other) {
            return give(self.table().numbers_in(other.table()));
          },
          "other"_a, "For each feature the number of the one with its name in another table, or 2**32 - 1.")
      .def_prop_ro("size", [](const FeatureRows& self) { return self.table().size(); })
      .def(
          "name", [](const FeatureRows& self, std::uint32_t id) { return self.table().name(id); }, "id"_a)
      .def("names",
           [](const FeatureRows& self) {
             std::vector<std::string> names;
             names.reserve(self.table().size());
             for (std::uint32_t f = 0; f < self.table().size(); ++f) names.push_back(self.table().name(f));
             return names;
           })
      .def("state", [](const FeatureRows& self) { return table_state(self.table()); });
}

}  // namespace spanloom::bindings
