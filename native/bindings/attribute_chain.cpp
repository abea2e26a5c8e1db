#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "attribute_reader.hpp"
#include "bindings.hpp"
#include "spanloom/inference/attribute_tagger.hpp"
#include "spanloom/learning/likelihood.hpp"
#include "spanloom/learning/online_chain.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

StringPool pool_of(const std::vector<std::string>& names, const char* what) {
  StringPool pool;
  for (const std::string& name : names) {
    if (pool.insert(name) != pool.size() - 1)
      throw nb::value_error((std::string(what) + " '" + name + "' stands twice").c_str());
  }
  return pool;
}

// A tagger with the names of its attributes and labels.
struct NamedTagger {
  StringPool attributes;
  StringPool labels;
  AttributeTagger tagger;

  AttributeSequences read(nb::handle sequences) {
    const nb::object given = sequence(sequences, "the sequences");
    AttributeSequences out;
    for (std::size_t g = 0; g < length(given); ++g) read_sequence(item(given, g), attributes, false, out, g);
    return out;
  }

  nb::list best(const AttributeSequences& data, int threads) const {
    std::vector<std::int32_t> found;
    {
      const nb::gil_scoped_release release;
      found = tagger.best(data, threads);
    }
    const nb::list names = strings(labels);
    nb::list out;
    for (std::size_t g = 0; g < data.groups(); ++g) {
      const auto first = static_cast<std::size_t>(data.group_ptr[g]);
      const auto last = static_cast<std::size_t>(data.group_ptr[g + 1]);
      nb::object one = nb::steal(PyList_New(static_cast<Py_ssize_t>(last - first)));
      for (std::size_t t = first; t < last; ++t) {
        const nb::object label = nb::borrow(names[static_cast<std::size_t>(found[t])]);
        PyList_SET_ITEM(one.ptr(), static_cast<Py_ssize_t>(t - first), label.inc_ref().ptr());
      }
      out.append(one);
    }
    return out;
  }

  double log_probability(AttributeSequences data, const std::vector<std::string>& path) const {
    data.labels.clear();
    for (const std::string& label : path) {
      const std::uint32_t id = labels.find(label);
      if (id == kNone) throw nb::value_error(("the model has no label '" + label + "'").c_str());
      data.labels.push_back(static_cast<std::int32_t>(id));
    }
    return tagger.log_probabilities(data, 1).at(0);
  }
};

std::vector<std::int32_t> best_labels(const ChainFeatures& features, const std::vector<double>& weights,
                                      const AttributeSequences& data, int threads) {
  if (weights.size() != features.size()) {
    throw std::invalid_argument("[best_labels] " + std::to_string(features.size()) +
                                " features need as many weights; " + std::to_string(weights.size()) + " are given");
  }
  const auto states = weights.begin() + static_cast<std::ptrdiff_t>(features.states());
  std::vector<double> transitions(features.transition_of.size(), 0.0);
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    if (features.transition_of[i] >= 0) transitions[i] = states[features.transition_of[i]];
  }
  return AttributeTagger(features.label_count, features.ptr, features.labels, {weights.begin(), states},
                         std::move(transitions))
      .best(data, threads);
}

// global_of[cell]: the parameter of a global cell, or -1.
Tying global_tying(const std::vector<std::int32_t>& global_of) {
  Tying tying;
  tying.ptr.push_back(0);
  for (const std::int32_t parameter : global_of) {
    if (parameter >= 0) tying.params.push_back(parameter);
    tying.ptr.push_back(static_cast<std::int64_t>(tying.params.size()));
    tying.width = std::max(tying.width, static_cast<std::size_t>(parameter + 1));
  }
  return tying;
}

std::shared_ptr<Likelihood> paired_likelihood(std::shared_ptr<CompressedRows> rows,
                                              std::shared_ptr<Structure> structure, const Supervision& supervision,
                                              const std::pair<Input<std::int64_t>, Input<std::uint32_t>>& pairs,
                                              const std::optional<Input<std::int32_t>>& global_of, int threads) {
  const Layout::Support support{copy(pairs.first), copy(pairs.second)};
  Tying global = global_of ? global_tying(copy(*global_of)) : Tying{};
  const nb::gil_scoped_release release;
  return std::make_shared<Likelihood>(std::move(rows), std::move(structure), supervision, support, std::move(global),
                                      threads);
}

}  // namespace

void bind_attribute_chain(nb::module_& m) {
  nb::class_<ChainFeatures>(m, "ChainFeatures", "Which pairs of attribute and label, and of labels, have a weight.")
      .def(
          "__init__",
          [](ChainFeatures* self, const AttributeSequences& data, std::size_t attributes, std::size_t labels,
             double min_freq, bool all_states, bool all_transitions) {
            const nb::gil_scoped_release release;
            new (self) ChainFeatures(
                ChainFeatures::observe(data, attributes, labels, {min_freq, all_states, all_transitions}));
          },
          "data"_a, "attributes"_a, "labels"_a, "min_freq"_a = 0.0, nb::kw_only(), "all_states"_a = false,
          "all_transitions"_a = false)
      .def("__len__", &ChainFeatures::size)
      .def_ro("transitions", &ChainFeatures::transitions, "How many pairs of labels have a weight.")
      .def_prop_ro("ptr", [](nb::handle self) { return view(nb::cast<ChainFeatures&>(self).ptr, self); })
      .def_prop_ro("labels", [](nb::handle self) { return view(nb::cast<ChainFeatures&>(self).labels, self); })
      .def(
          "label_sets", [](const ChainFeatures& self) { return give(self.label_sets()); },
          "A number for each attribute; attributes with weights for the same labels have the same.")
      .def_prop_ro("transition_of",
                   [](nb::handle self) { return view(nb::cast<ChainFeatures&>(self).transition_of, self); })
      .def(
          "best",
          [](const ChainFeatures& self, const Input<double>& weights, const AttributeSequences& data, int threads) {
            const std::vector<double> given = copy(weights);
            std::vector<std::int32_t> found;
            {
              const nb::gil_scoped_release release;
              found = best_labels(self, given, data, threads);
            }
            return give(std::move(found));
          },
          "weights"_a, "data"_a, "threads"_a = 0, "The label of every item in the best sequences under these weights.");

  m.def("paired_likelihood", &paired_likelihood, "rows"_a, "structure"_a, "supervision"_a, "pairs"_a,
        "global_of"_a = nb::none(), "threads"_a = 0,
        "A likelihood in which only given pairs (ptr, columns) of feature and column have a weight, and of the global "
        "cells those with a number of at least 0.");

  nb::class_<OnlineChain>(m, "OnlineChain", "Weights of chain features, learned one sequence after the other.")
      .def(
          "__init__",
          [](OnlineChain* self, const AttributeSequences& data, const ChainFeatures& features, std::uint64_t seed) {
            new (self) OnlineChain(data, features, seed);
          },
          "data"_a, "features"_a, "seed"_a)
      .def_prop_ro("sequences", &OnlineChain::sequences)
      .def("reset", &OnlineChain::reset, "variance"_a = 1.0, "Forget everything but the order of the sequences.")
      .def("shuffle", &OnlineChain::shuffle, "Draw a new order of the sequences.")
      .def("perceptron", &OnlineChain::perceptron, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "passive_aggressive",
          [](OnlineChain& self, int type, double c, bool error_sensitive) {
            const nb::gil_scoped_release release;
            return self.passive_aggressive({type, c, error_sensitive});
          },
          "type"_a = 1, "c"_a = 1.0, nb::kw_only(), "error_sensitive"_a = true)
      .def("arow", &OnlineChain::arow, "gamma"_a = 1.0, nb::call_guard<nb::gil_scoped_release>())
      .def("descend", &OnlineChain::descend, "count"_a, "lambda_"_a, "t0"_a, "seen"_a = 0.0,
           nb::call_guard<nb::gil_scoped_release>())
      .def("loss", &OnlineChain::loss, "count"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("weights", [](const OnlineChain& self) { return give(std::vector<double>(self.weights())); })
      .def("averaged", [](const OnlineChain& self) { return give(self.averaged()); });

  nb::class_<NamedTagger>(m, "AttributeTagger", "A first-order chain over ready attributes at work.")
      .def(
          "__init__",
          [](NamedTagger* self, const std::vector<std::string>& attributes, const std::vector<std::string>& labels,
             const Input<std::int64_t>& ptr, const Input<std::uint32_t>& columns, const Input<double>& weights,
             const Input<double>& transitions) {
            if (ptr.size() != attributes.size() + 1) {
              throw nb::value_error((std::to_string(attributes.size()) + " attributes, and pointers for " +
                                     std::to_string(ptr.size()) + " less one")
                                        .c_str());
            }
            new (self)
                NamedTagger{pool_of(attributes, "attribute"), pool_of(labels, "label"),
                            AttributeTagger(labels.size(), copy(ptr), copy(columns), copy(weights), copy(transitions))};
          },
          "attributes"_a, "labels"_a, "ptr"_a, "columns"_a, "weights"_a, "transitions"_a)
      .def("read", &NamedTagger::read, "sequences"_a,
           "Look attributes up, those of each item of each sequence; unknown ones are left out.")
      .def("best", &NamedTagger::best, "data"_a, "threads"_a = 0,
           nb::sig("def best(self, data: AttributeSequences, threads: int = 0) -> list[list[str]]"))
      .def(
          "marginals",
          [](const NamedTagger& self, const AttributeSequences& data, int threads) {
            std::vector<double> found;
            {
              const nb::gil_scoped_release release;
              found = self.tagger.marginals(data, threads);
            }
            return give(std::move(found));
          },
          "data"_a, "threads"_a = 0, "P(label) of every item: [items * labels].")
      .def("log_probability", &NamedTagger::log_probability, "data"_a, "labels"_a,
           "The log-probability of these labels for a single sequence.");
}

}  // namespace spanloom::bindings
