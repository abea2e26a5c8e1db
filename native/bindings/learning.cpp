#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "arrays.hpp"
#include "bindings.hpp"
#include "spanloom/inference/chain.hpp"
#include "spanloom/learning/adagrad.hpp"
#include "spanloom/learning/dual_ascent.hpp"
#include "spanloom/learning/lbfgs.hpp"
#include "spanloom/learning/likelihood.hpp"
#include "spanloom/learning/perceptron.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

Tying of(const Tying* given) { return given == nullptr ? Tying{} : *given; }

Supervision one_structure(const Input<std::int64_t>& ptr, const Input<std::int32_t>& cells) {
  return {{copy(ptr), copy(cells)}, {}, {}, {}};
}

std::shared_ptr<const CompressedRows> compressed(const SparseRows& rows, bool merge, bool observed, int threads) {
  const nb::gil_scoped_release release;
  return std::make_shared<const CompressedRows>(
      compress(rows, {.merge = merge, .bundles = !observed, .keys = {}, .threads = threads}));
}

void make_likelihood(Likelihood* self, std::shared_ptr<const CompressedRows> rows,
                     std::shared_ptr<const Structure> structure, Supervision supervision, const Tying* site_tying,
                     const Tying* global_tying, bool observed, int threads) {
  Tying site = of(site_tying);
  Tying global = of(global_tying);
  const nb::gil_scoped_release release;
  new (self) Likelihood(std::move(rows), std::move(structure), std::move(supervision), std::move(site),
                        std::move(global), observed, threads);
}

}  // namespace

void bind_learning(nb::module_& m) {
  bind_objective(m);

  nb::class_<CompressedRows>(
      m, "CompressedRows",
      "Training rows with equal feature columns merged, by row and column. With bundles, columns "
      "that come along with others are added up once for all rows that share them.")
      .def(
          "__init__",
          [](CompressedRows* self, const SparseRows& rows, bool merge, bool bundles,
             const std::optional<Input<std::uint32_t>>& keys, int threads) {
            const std::vector<std::uint32_t> own = keys ? copy(*keys) : std::vector<std::uint32_t>();
            const nb::gil_scoped_release release;
            new (self)
                CompressedRows(compress(rows, {.merge = merge, .bundles = bundles, .keys = own, .threads = threads}));
          },
          "rows"_a, nb::kw_only(), "merge"_a = true, "bundles"_a = true, "keys"_a = nb::none(), "threads"_a = 0,
          "keys: one a feature; only features with the same key are merged. The result is the same for any number of "
          "threads.")
      .def_prop_ro("classes", &CompressedRows::classes, "Number of distinct feature columns.")
      .def_prop_ro("bundles", &CompressedRows::bundles, "Number of bundles of columns.")
      .def_prop_ro(
          "entries", [](const CompressedRows& self) { return self.rows.entries() + self.members.size(); },
          "What is added up to score all rows: classes and bundles of rows, members of bundles.")
      .def_prop_ro(
          "class_of",
          [](nb::handle_t<CompressedRows> self) { return view(nb::cast<CompressedRows&>(self).class_of, self); },
          "[features]: the class of each feature.");

  bind_supervision(m);

  nb::class_<Tying>(m, "Tying", "How parameters add up to scores: score s is the sum of those of ptr[s] .. ptr[s + 1].")
      .def(
          "__init__",
          [](Tying* self, const Input<std::int64_t>& ptr, const Input<std::int32_t>& params, std::size_t width,
             const std::optional<Input<double>>& values) {
            new (self) Tying{copy(ptr), copy(params), width, values ? copy(*values) : std::vector<double>()};
          },
          "ptr"_a, "params"_a, "width"_a, "values"_a = nb::none(),
          "params: numbers below width; values: what each counts, 1 if not given.");

  nb::class_<Likelihood, Objective>(m, "Likelihood", "Negative log-likelihood of what is known of sentences.")
      .def(
          "__init__",
          [](Likelihood* self, std::shared_ptr<CompressedRows> rows, std::shared_ptr<Structure> structure,
             const Supervision& supervision, const Tying* site_tying, const Tying* global_tying, bool observed,
             int threads) {
            make_likelihood(self, std::move(rows), std::move(structure), supervision, site_tying, global_tying,
                            observed, threads);
          },
          "rows"_a, "structure"_a, "supervision"_a, "site_tying"_a = nb::none(), "global_tying"_a = nb::none(),
          nb::kw_only(), "observed"_a = false, "threads"_a = 0)
      .def(
          "__init__",
          [](Likelihood* self, const SparseRows& rows, std::shared_ptr<Structure> structure,
             const Supervision& supervision, const Tying* site_tying, const Tying* global_tying, bool merge,
             bool observed, int threads) {
            make_likelihood(self, compressed(rows, merge, observed, threads), std::move(structure), supervision,
                            site_tying, global_tying, observed, threads);
          },
          "rows"_a, "structure"_a, "supervision"_a, "site_tying"_a = nb::none(), "global_tying"_a = nb::none(),
          nb::kw_only(), "merge"_a = true, "observed"_a = false, "threads"_a = 0)
      .def(
          "__init__",
          [](Likelihood* self, std::shared_ptr<CompressedRows> rows, std::shared_ptr<Structure> structure,
             const Input<std::int64_t>& gold_ptr, const Input<std::int32_t>& gold_cells, const Tying* site_tying,
             const Tying* global_tying, bool observed, int threads) {
            make_likelihood(self, std::move(rows), std::move(structure), one_structure(gold_ptr, gold_cells),
                            site_tying, global_tying, observed, threads);
          },
          "rows"_a, "structure"_a, "gold_ptr"_a, "gold_cells"_a, "site_tying"_a = nb::none(),
          "global_tying"_a = nb::none(), nb::kw_only(), "observed"_a = false, "threads"_a = 0)
      .def(
          "__init__",
          [](Likelihood* self, const SparseRows& rows, std::shared_ptr<Structure> structure,
             const Input<std::int64_t>& gold_ptr, const Input<std::int32_t>& gold_cells, const Tying* site_tying,
             const Tying* global_tying, bool merge, bool observed, int threads) {
            make_likelihood(self, compressed(rows, merge, observed, threads), std::move(structure),
                            one_structure(gold_ptr, gold_cells), site_tying, global_tying, observed, threads);
          },
          "rows"_a, "structure"_a, "gold_ptr"_a, "gold_cells"_a, "site_tying"_a = nb::none(),
          "global_tying"_a = nb::none(), nb::kw_only(), "merge"_a = true, "observed"_a = false, "threads"_a = 0)
      .def_prop_ro("classes", &Likelihood::classes, "Number of distinct feature columns.")
      .def_prop_ro("features", &Likelihood::features)
      .def_prop_ro("convex", &Likelihood::convex, "Whether its only minimum is the lowest: all but for masks.")
      .def_prop_ro("sparse_classes", &Likelihood::sparse_classes, "Of the classes, how many are kept as cells.")
      .def(
          "weights", [](const Likelihood& self, const Input<double>& x) { return give(self.weights(span(x))); }, "x"_a,
          "The score weights of every feature: [features * columns].")
      .def(
          "parameters",
          [](const Likelihood& self, const Input<float>& weights, const Input<double>& global) {
            return give(self.parameters(span(weights), span(global)));
          },
          "weights"_a, "global_weights"_a,
          "The x nearest to weights [features * parameter columns] and global parameters.")
      .def(
          "pair_weights",
          [](const Likelihood& self, const Input<double>& x) { return give(self.pair_weights(span(x))); }, "x"_a,
          "The weights of given or observed pairs, feature after feature.")
      .def(
          "global_weights",
          [](const Likelihood& self, const Input<double>& x) { return give(self.global_weights(span(x))); }, "x"_a);

  nb::class_<Lbfgs::Step>(m, "LbfgsStep")
      .def_ro("value", &Lbfgs::Step::value)
      .def_ro("gradient_norm", &Lbfgs::Step::gradient_norm)
      .def_ro("x_norm", &Lbfgs::Step::x_norm)
      .def_ro("step_length", &Lbfgs::Step::step_length)
      .def_ro("evaluations", &Lbfgs::Step::evaluations)
      .def_ro("moved", &Lbfgs::Step::moved)
      .def_ro("lower_bound", &Lbfgs::Step::lower_bound, "Of the minimum of a convex objective; needs l2.");

  nb::class_<Lbfgs>(m, "Lbfgs", "L-BFGS, or OWL-QN when l1 > 0, one iteration a call.")
      .def(
          "__init__",
          [](Lbfgs* self, std::shared_ptr<Objective> objective, const Input<double>& x, double l1, double l2,
             std::size_t memory, int threads, int max_evaluations) {
            std::vector<double> start = copy(x);
            const nb::gil_scoped_release release;
            new (self)
                Lbfgs(std::move(objective), std::move(start),
                      {.l1 = l1, .l2 = l2, .memory = memory, .max_evaluations = max_evaluations, .threads = threads});
          },
          "objective"_a, "x"_a, "l1"_a = 0.0, "l2"_a = 0.0, "memory"_a = 6, "threads"_a = 0, "max_evaluations"_a = 20)
      .def_prop_ro("state", [](const Lbfgs& self) { return self.state(); })
      .def("iterate",
           [](Lbfgs& self) {
             const nb::gil_scoped_release release;
             return Lbfgs::Step(self.iterate());
           })
      .def("x", [](const Lbfgs& self) { return give(std::vector<double>(self.x())); }, "A copy of x.");

  nb::class_<Adagrad>(m, "Adagrad", "Stochastic likelihood with a step for every weight.")
      .def(
          "__init__",
          [](Adagrad* self, const SparseRows& rows, std::shared_ptr<Structure> structure,
             const Supervision& supervision, double l2, double rate, double damping, std::uint64_t seed) {
            new (self) Adagrad(rows, std::move(structure), supervision, l2, rate, damping, seed);
          },
          "rows"_a, "structure"_a, "supervision"_a, "l2"_a, "rate"_a, "damping"_a, "seed"_a)
      .def(
          "__init__",
          [](Adagrad* self, const SparseRows& rows, std::shared_ptr<Structure> structure,
             const Input<std::int64_t>& gold_ptr, const Input<std::int32_t>& gold_cells, double l2, double rate,
             double damping, std::uint64_t seed) {
            new (self)
                Adagrad(rows, std::move(structure), one_structure(gold_ptr, gold_cells), l2, rate, damping, seed);
          },
          "rows"_a, "structure"_a, "gold_ptr"_a, "gold_cells"_a, "l2"_a, "rate"_a, "damping"_a, "seed"_a)
      .def("epoch", &Adagrad::epoch, nb::call_guard<nb::gil_scoped_release>(),
           "Visit every sentence once; return the sum of their losses, each before its step.")
      .def(
          "weights",
          [](const Adagrad& self) {
            return std::make_tuple(give(self.weights()), give(std::vector<double>(self.global_weights())));
          },
          "Return ([features * columns], [global cells]).");

  nb::class_<DualAscent>(m, "DualAscent",
                         "Stochastic dual coordinate ascent on the likelihood of problems over the same rows, with an "
                         "L2 penalty; with share > 0 their weights have something in common.")
      .def(
          "__init__",
          [](DualAscent* self, std::shared_ptr<CompressedRows> rows,
             const std::vector<std::shared_ptr<Structure>>& structures,
             const std::vector<std::shared_ptr<Supervision>>& supervisions, double l2, std::uint64_t seed,
             double share) {
            if (structures.size() != supervisions.size()) {
              throw std::invalid_argument("[DualAscent] received " + std::to_string(structures.size()) +
                                          " structures and " + std::to_string(supervisions.size()) +
                                          " supervisions; every problem has one of each");
            }
            std::vector<DualAscent::Problem> problems;
            for (std::size_t t = 0; t < structures.size(); ++t) {
              if (!structures[t] || !supervisions[t]) {
                throw std::invalid_argument("[DualAscent] problem " + std::to_string(t) + " is None");
              }
              problems.push_back({structures[t], *supervisions[t]});
            }
            new (self) DualAscent(std::move(rows), std::move(problems), share, l2, seed);
          },
          "rows"_a, "structures"_a, "supervisions"_a, "l2"_a, "seed"_a, nb::kw_only(), "share"_a = 0.0)
      .def("round", &DualAscent::round, nb::call_guard<nb::gil_scoped_release>(),
           "Make several passes; return a lower bound of the minimum.")
      .def(
          "pull",
          [](DualAscent& self, double strength, const Input<double>& towards) {
            nb::gil_scoped_release released;
            self.pull(strength, {towards.data(), towards.size()});
          },
          "strength"_a, "towards"_a, "From now on minimise with strength * |w - towards|^2 more.")
      .def_prop_ro("steps", &DualAscent::steps, "How many sentences were visited since the beginning.")
      .def(
          "x",
          [](const DualAscent& self, std::size_t problem) {
            if (problem >= self.problems()) {
              throw std::invalid_argument("[DualAscent] there are " + std::to_string(self.problems()) +
                                          " problems; received number " + std::to_string(problem));
            }
            return give(self.x(problem));
          },
          "problem"_a = 0, "The weights of a problem, as the parameters of Likelihood.");

  nb::class_<Perceptron>(m, "Perceptron", "Averaged structured perceptron.")
      .def(
          "__init__",
          [](Perceptron* self, const SparseRows& rows, std::shared_ptr<Structure> structure,
             const Supervision& supervision,
             std::uint64_t seed) { new (self) Perceptron(rows, std::move(structure), supervision, seed); },
          "rows"_a, "structure"_a, "supervision"_a, "seed"_a)
      .def(
          "__init__",
          [](Perceptron* self, const SparseRows& rows, std::shared_ptr<Structure> structure,
             const Input<std::int64_t>& gold_ptr, const Input<std::int32_t>& gold_cells, std::uint64_t seed) {
            new (self) Perceptron(rows, std::move(structure), one_structure(gold_ptr, gold_cells), seed);
          },
          "rows"_a, "structure"_a, "gold_ptr"_a, "gold_cells"_a, "seed"_a)
      .def("epoch", &Perceptron::epoch, nb::call_guard<nb::gil_scoped_release>(),
           "Visit every sentence once; return the number of wrong ones.")
      .def(
          "averaged",
          [](const Perceptron& self) { return std::make_tuple(give(self.weights()), give(self.global_weights())); },
          "Return ([features * columns], [global cells]).");
}

}  // namespace spanloom::bindings
