#include "spanloom/base/sparse.hpp"

#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
void bind_sparse(nb::module_& m) {
  nb::class_<SparseRows>(m, "SparseRows", "The features active at every site, sentence after sentence.")
      .def(
          "__init__",
          [](SparseRows* self, const Input<std::int64_t>& group_ptr, const Input<std::int64_t>& row_ptr,
             const Input<std::uint32_t>& ids, std::uint32_t width, const std::optional<Input<float>>& values) {
            SparseRows rows;
            rows.group_ptr = copy(group_ptr);
            rows.row_ptr = copy(row_ptr);
            rows.ids = copy(ids);
            if (values) rows.values = copy(*values);
            rows.width = width;
            rows.check();
            new (self) SparseRows(std::move(rows));
          },
          "group_ptr"_a, "row_ptr"_a, "ids"_a, "width"_a, "values"_a = nb::none())
      .def_prop_ro("groups", &SparseRows::groups)
      .def_prop_ro("rows", &SparseRows::rows)
      .def_prop_ro("entries", &SparseRows::entries)
      .def_ro("width", &SparseRows::width)
      .def_prop_ro("group_ptr",
                   [](nb::handle_t<SparseRows> self) { return view(nb::cast<SparseRows&>(self).group_ptr, self); })
      .def_prop_ro("row_ptr",
                   [](nb::handle_t<SparseRows> self) { return view(nb::cast<SparseRows&>(self).row_ptr, self); })
      .def_prop_ro("ids", [](nb::handle_t<SparseRows> self) { return view(nb::cast<SparseRows&>(self).ids, self); })
      .def_prop_ro("values", [](nb::handle_t<SparseRows> self) -> std::optional<View<float>> {
        const auto& rows = nb::cast<SparseRows&>(self);
        if (rows.values.empty() && rows.entries() > 0) return std::nullopt;
        return view(rows.values, self);
      });
}

}  // namespace spanloom::bindings
