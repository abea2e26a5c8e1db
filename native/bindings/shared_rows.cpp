#include "spanloom/learning/shared_rows.hpp"

#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "spanloom/learning/likelihood.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {

void bind_shared_rows(nb::module_& m) {
  nb::class_<SharedRows>(
      m, "SharedRows",
      "How the parameters of a block's classes follow from shared ones: row own_rows[i] has factors[i] times the "
      "shared row rows[i], and derivatives go to row gradient_rows[i].")
      .def(
          "__init__",
          [](SharedRows* self, std::size_t classes, const Input<std::uint32_t>& own_rows,
             const Input<std::uint32_t>& rows, const Input<double>& factors,
             const Input<std::uint32_t>& gradient_rows) {
            new (self) SharedRows(classes, span(own_rows), span(rows), span(factors), span(gradient_rows));
          },
          "classes"_a, "own_rows"_a, "rows"_a, "factors"_a, "gradient_rows"_a)
      .def(
          "evaluate",
          [](const SharedRows& self, Likelihood& likelihood, const Input<float>& x, const Output<float>& gradient) {
            const nb::gil_scoped_release release;
            return likelihood.evaluate(self, span(x), {gradient.data(), gradient.size()});
          },
          "likelihood"_a, "x"_a, "gradient"_a,
          "The likelihood at x, shared rows and then global parameters. Adds its derivatives to `gradient`.");

  m.def(
      "add_rows",
      [](const Input<std::uint32_t>& rows, const Input<float>& values, const Input<std::uint32_t>& other_rows,
         const Input<float>& other_values, std::size_t width) {
        SomeRows sum;
        {
          const nb::gil_scoped_release release;
          sum = add(span(rows), span(values), span(other_rows), span(other_values), width);
        }
        return std::make_tuple(give(std::move(sum.row)), give(std::move(sum.values)));
      },
      "rows"_a, "values"_a, "other_rows"_a, "other_values"_a, "width"_a,
      "The sum of two tables that have some rows each, numbers of rows ascending: (rows, values).");
}

}  // namespace spanloom::bindings
