#include "spanloom/learning/objective.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/trampoline.h>

#include <algorithm>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

// An objective whose values come from Python. With `single`, parameters and gradients are float there: half the memory
// to write and to send.
class PythonObjective : public Objective {
 public:
  PythonObjective(std::size_t size, bool single) : size_(size), single_(single) {}
  std::size_t size() const override { return size_; }

  double evaluate(std::span<const double> x, std::span<double> gradient) override {
    const nb::gil_scoped_acquire acquire;
    return single_ ? evaluate_as<float>(x, gradient) : evaluate_as<double>(x, gradient);
  }

  // Returns (value, gradient).
  virtual nb::object call(nb::object x) = 0;

 private:
  template <class T>
  double evaluate_as(std::span<const double> x, std::span<double> gradient) {
    const nb::object result = call(nb::cast(give(std::vector<T>(x.begin(), x.end()))));
    const auto [value, found] = nb::cast<std::pair<double, Input<T>>>(result);
    if (found.size() != gradient.size()) {
      throw nb::value_error(("an objective of " + std::to_string(size_) + " parameters returned a gradient of " +
                             std::to_string(found.size()))
                                .c_str());
    }
    std::copy_n(found.data(), found.size(), gradient.begin());
    return value;
  }

  std::size_t size_;
  bool single_;
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
      "`evaluate(x)` that returns (value, gradient); with `single=True`, x and the gradient are float32 there.")
      .def(nb::init<std::size_t, bool>(), "size"_a, nb::kw_only(), "single"_a = false)
      .def_prop_ro("size", &Objective::size)
      .def(
          "evaluate",
          [](Objective& self, const Input<double>& x) {
            const std::size_t size = self.size();
            std::unique_ptr<double[]> gradient(new double[size]);  // every place of it is written
            double value = 0;
            {
              const nb::gil_scoped_release release;
              value = self.evaluate(span(x), {gradient.get(), size});
            }
            double* data = gradient.release();
            const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
            return std::make_tuple(value, Array<double>(data, {size}, owner));
          },
          "x"_a, "Return (value, gradient).");
}

}  // namespace spanloom::bindings
