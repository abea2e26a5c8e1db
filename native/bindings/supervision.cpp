#include "spanloom/learning/supervision.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "spanloom/learning/structured_loss.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {

void bind_supervision(nb::module_& m) {
  nb::class_<Supervision>(m, "Supervision",
                          "What is known of each sentence: one structure, soft targets or a mask; and its weight.")
      .def(
          "__init__",
          [](Supervision* self, const Input<std::int64_t>& ptr, const Input<std::int32_t>& cells,
             const std::optional<Input<double>>& values,
             const std::optional<std::pair<Input<std::int64_t>, Input<std::uint8_t>>>& masks,
             const std::optional<Input<double>>& weights) {
            new (self) Supervision{{copy(ptr), copy(cells)}, {}, {}, {}};
            if (values) self->values = copy(*values);
            if (masks) self->masks = {copy(masks->first), copy(masks->second)};
            if (weights) self->weights = copy(*weights);
          },
          "ptr"_a, "cells"_a, "values"_a = nb::none(), "masks"_a = nb::none(), "weights"_a = nb::none(),
          "Cells of sentence s are cells[ptr[s]:ptr[s + 1]], site cells before global ones. Values are soft targets, "
          "one "
          "a cell. Masks are (ptr, numbers), see Structure.expectations; a sentence with a mask has no cells.")
      .def("__len__", &Supervision::size)
      .def_prop_ro("ptr", [](nb::handle self) { return view(nb::cast<const Supervision&>(self).structures.ptr, self); })
      .def_prop_ro("cells",
                   [](nb::handle self) { return view(nb::cast<const Supervision&>(self).structures.cells, self); })
      .def(
          "mask",
          [](const Supervision& self, std::size_t sentence) -> std::optional<Array<std::uint8_t>> {
            if (sentence >= self.size()) throw nb::index_error("there is no such sentence");
            const std::uint8_t* mask = self.masks.of(sentence);
            if (mask == nullptr) return std::nullopt;
            const auto size = self.masks.ptr[sentence + 1] - self.masks.ptr[sentence];
            return give(std::vector<std::uint8_t>(mask, mask + size));
          },
          "sentence"_a, "The mask of a sentence, or None.");

  nb::class_<StructuredLoss>(m, "StructuredLoss",
                             "The loss of score tables, and its derivatives by score: what an encoder needs.")
      .def(
          "__init__",
          [](StructuredLoss* self, std::shared_ptr<Structure> structure, const Supervision& supervision, int threads) {
            new (self) StructuredLoss(std::move(structure), supervision, threads);
          },
          "structure"_a, "supervision"_a, "threads"_a = 0)
      .def(
          "evaluate",
          [](const StructuredLoss& self, const Input<std::int64_t>& site_ptr, const Input<double>& scores,
             const Input<double>& global) {
            std::vector<double> gradient(scores.size());
            std::vector<double> global_gradient(global.size());
            double loss = 0;
            {
              const nb::gil_scoped_release release;
              loss = self.evaluate(span(site_ptr), span(scores), span(global), gradient, global_gradient);
            }
            return std::make_tuple(loss, give(std::move(gradient)), give(std::move(global_gradient)));
          },
          "site_ptr"_a, "scores"_a, "global_scores"_a,
          "Return (loss, its derivatives by score, by global score) for scores [sites * columns] of all sentences; "
          "sentence s has the sites site_ptr[s] to site_ptr[s + 1].");
}

}  // namespace spanloom::bindings
