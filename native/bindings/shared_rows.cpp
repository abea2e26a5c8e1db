#include "spanloom/learning/shared_rows.hpp"

#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {

void bind_shared_rows(nb::module_& m) {
  m.def(
      "evaluate_shared",
      [](Objective& objective, const Input<float>& x, const Input<std::uint32_t>& rows,
         const Input<std::uint32_t>& own_rows, const Input<double>& factors, std::size_t width, std::size_t behind,
         const Output<float>& gradient) {
        const nb::gil_scoped_release release;
        return SharedRows{span(rows), span(own_rows), span(factors), width}.evaluate(
            objective, span(x), behind, {gradient.data(), gradient.size()});
      },
      "objective"_a, "x"_a, "rows"_a, "own_rows"_a, "factors"_a, "width"_a, "behind"_a, "gradient"_a,
      "The objective of a block whose row own_rows[i] has factors[i] times row rows[i] of x, each of `width` numbers, "
      "and `behind` numbers behind the rows. Adds its derivatives by x to `gradient`.");

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
