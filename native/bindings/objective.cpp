#include "spanloom/learning/objective.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/trampoline.h>

#include <algorithm>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

// An objective whose values come from Python.
class PythonObjective : public Objective {
 public:
  explicit PythonObjective(std::size_t size) : size_(size) {}
  std::size_t size() const override { return size_; }

  double evaluate(std::span<const double> x, std::span<double> gradient) override {
    const nb::gil_scoped_acquire acquire;
    const nb::object result = call(nb::cast(give(std::vector<double>(x.begin(), x.end()))));
    const auto [value, found] = nb::cast<std::pair<double, Input<double>>>(result);
    if (found.size() != gradient.size()) {
      throw nb::value_error(("an objective of " + std::to_string(size_) + " parameters returned a gradient of " +
                             std::to_string(found.size()))
                                .c_str());
    }
    std::copy_n(found.data(), found.size(), gradient.begin());
    return value;
  }

  // Returns (value, gradient).
  virtual nb::object call(nb::object x) = 0;

 private:
  std::size_t size_;
};

class Trampoline final : public PythonObjective {
#if NB_VERSION_MAJOR >= 3
  NB_TRAMPOLINE(PythonObjective);
#else
  NB_TRAMPOLINE(PythonObjective, 1);
#endif
  nb::object call(nb::object x) override { NB_OVERRIDE_PURE_NAME("evaluate", call, x); }
};

}  // namespace

void bind_objective(nb::module_& m) {
  nb::class_<Objective, Trampoline>(
      m, "Objective",
      "A smooth function to be minimised. A subclass in Python calls `super().__init__(size)` and has a method "
      "`evaluate(x)` that returns (value, gradient).")
      .def(nb::init<std::size_t>(), "size"_a)
      .def_prop_ro("size", &Objective::size)
      .def(
          "evaluate",
          [](Objective& self, const Input<double>& x) {
            std::vector<double> gradient(self.size());
            double value = 0;
            {
              const nb::gil_scoped_release release;
              value = self.evaluate(span(x), gradient);
            }
            return std::make_tuple(value, give(std::move(gradient)));
          },
          "x"_a, "Return (value, gradient).");
}

}  // namespace spanloom::bindings
