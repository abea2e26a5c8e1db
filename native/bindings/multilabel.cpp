#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "arrays.hpp"
#include "bindings.hpp"
#include "feature_reader.hpp"
#include "feature_state.hpp"
#include "spanloom/learning/hildreth.hpp"
#include "spanloom/learning/subset_finder.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

using SubsetSpec = std::pair<std::uint32_t, std::vector<std::uint32_t>>;

PairProgram make_pairs(const ProgramHandle& handle, const std::vector<std::vector<std::uint32_t>>& sides,
                       bool distance) {
  PairProgram pairs{handle.program, {}, distance};
  for (const auto& of_template : sides) {
    auto& out = pairs.sides.emplace_back();
    for (const std::uint32_t side : of_template) {
      if (side > 3) throw std::invalid_argument("side " + std::to_string(side) + " is not 0, 1, 2 or 3");
      out.push_back(static_cast<Side>(side));
    }
  }
  pairs.check();
  return pairs;
}

Rule parse_rule(const std::string& name) {
  if (name == "mira") return Rule::mira;
  if (name == "ranking") return Rule::ranking;
  if (name == "perceptron") return Rule::perceptron;
  if (name == "loglinear") return Rule::loglinear;
  throw std::invalid_argument("unknown rule '" + name + "'");
}

// Score, type, tokens; and log-odds after them.
using Candidate = std::tuple<double, std::uint32_t, std::vector<std::uint32_t>>;
using ScoredCandidate = std::tuple<double, std::uint32_t, std::vector<std::uint32_t>, double>;

Candidate give_one(Subset&& one) { return {one.score, one.type, std::move(one.tokens)}; }

ScoredCandidate give_one(Rescoring::Scored&& one) {
  return {one.subset.score, one.subset.type, std::move(one.subset.tokens), one.odds};
}

template <class T>
auto give_all(std::vector<T>&& found) {
  std::vector<decltype(give_one(std::move(found.front())))> out;
  out.reserve(found.size());
  for (T& one : found) out.push_back(give_one(std::move(one)));
  return out;
}

template <class T>
auto give_all(std::vector<std::vector<T>>&& sentences) {
  std::vector<decltype(give_all(std::move(sentences.front())))> out;
  out.reserve(sentences.size());
  for (auto& found : sentences) out.push_back(give_all(std::move(found)));
  return out;
}

auto give_weights(const SubsetWeights& weights) {
  return std::make_tuple(give(std::vector<float>(weights.tokens)), give(std::vector<float>(weights.distances)),
                         table_state(*weights.table), give(std::vector<float>(weights.pairs)));
}

void bind_skip_lattice(nb::module_& m) {
  nb::class_<SkipLattice>(m, "SkipLattice", "All typed subsets of n tokens with gaps up to a bound, as a graph.")
      .def(nb::init<std::size_t, std::size_t>(), "types"_a, "max_gap"_a)
      .def("cells", &SkipLattice::cells, "n"_a)
      .def("start", &SkipLattice::start, "n"_a, "i"_a)
      .def("end", &SkipLattice::end, "n"_a, "i"_a)
      .def("step", &SkipLattice::step, "n"_a, "j"_a, "i"_a)
      .def(
          "graph", [](const SkipLattice& self, std::size_t n) { return Graph(*self.graph(n)); }, "n"_a)
      .def(
          "best",
          [](const SkipLattice& self, std::size_t n, const Input<double>& scores, std::size_t k, double above,
             const Restrictions& restrictions) {
            std::vector<Subset> found;
            {
              const nb::gil_scoped_release release;
              found = self.best(n, span(scores), k, above, restrictions);
            }
            return give_all(std::move(found));
          },
          "n"_a, "scores"_a, "k"_a, "above"_a, "restrictions"_a = Restrictions{},
          "Return (score, type, tokens) of the k best subsets, without those that a better one forbids.");
}

std::vector<Subset> subsets_of(const std::vector<Candidate>& given) {
  std::vector<Subset> subsets;
  for (const auto& [score, type, tokens] : given) subsets.push_back({score, type, tokens});
  return subsets;
}

TokenSurface surface_of(const Input<std::int32_t>& word, const Input<std::int32_t>& ending,
                        const Input<std::int32_t>& outline, const Input<std::int32_t>& pos,
                        const Input<std::uint8_t>& flags) {
  return {span(word), span(ending), span(outline), span(pos), span(flags)};
}

void bind_rescoring(nb::module_& m) {
  m.def(
      "describe_candidates",
      [](const std::vector<Candidate>& candidates, const Input<std::int32_t>& word, const Input<std::int32_t>& ending,
         const Input<std::int32_t>& outline, const Input<std::int32_t>& pos, const Input<std::uint8_t>& flags,
         bool tagged) {
        std::vector<double> flat;
        for (const Numbers& one :
             describe(subsets_of(candidates), surface_of(word, ending, outline, pos, flags), tagged)) {
          flat.insert(flat.end(), one.begin(), one.end());
        }
        return give(std::move(flat));
      },
      "candidates"_a, "word"_a, "ending"_a, "outline"_a, "pos"_a, "flags"_a, nb::kw_only(), "tagged"_a,
      "The numbers of the discontinuous ones of (score, type, tokens), one after the other.");

  nb::class_<Rescoring>(m, "Rescoring", "New scores for discontinuous candidates.")
      .def(
          "__init__",
          [](Rescoring* self, const Input<double>& mean, const Input<double>& spread, const Input<double>& weights,
             double bias, double least, const Input<double>& thresholds) {
            new (self) Rescoring(span(mean), span(spread), copy(weights), bias, least, copy(thresholds));
          },
          "mean"_a, "spread"_a, "weights"_a, "bias"_a, "least"_a, "thresholds"_a)
      .def(
          "rescore",
          [](const Rescoring& self, const std::vector<Candidate>& candidates, const Input<std::int32_t>& word,
             const Input<std::int32_t>& ending, const Input<std::int32_t>& outline, const Input<std::int32_t>& pos,
             const Input<std::uint8_t>& flags, const Restrictions& restrictions, const Input<double>& above,
             bool tagged) {
            return give_all(self.rescore(subsets_of(candidates), surface_of(word, ending, outline, pos, flags), tagged,
                                         restrictions, span(above)));
          },
          "candidates"_a, "word"_a, "ending"_a, "outline"_a, "pos"_a, "flags"_a, "restrictions"_a, "above"_a,
          nb::kw_only(), "tagged"_a,
          "The (score, type, tokens) of a sentence as (score, type, tokens, log-odds), the best first.");
}

void bind_subset_learner(nb::module_& m) {
  m.def(
      "hildreth",
      [](const Input<double>& gram, const Input<double>& b, double upper, double tolerance, std::size_t max_sweeps) {
        return give(hildreth(span(gram), span(b), upper, tolerance, max_sweeps));
      },
      "gram"_a, "b"_a, "upper"_a, "tolerance"_a = 1e-9, "max_sweeps"_a = 10000,
      "The dual variables of the smallest change d with a_i . d >= b_i; gram[i, j] = a_i . a_j.");

  m.def(
      "soft_hildreth",
      [](const Input<double>& gram, const Input<double>& b, double upper, double tolerance, std::size_t max_sweeps) {
        return give(soft_hildreth(span(gram), span(b), upper, tolerance, max_sweeps));
      },
      "gram"_a, "b"_a, "upper"_a, "tolerance"_a = 1e-9, "max_sweeps"_a = 10000,
      "The same for the smallest change with log loss upper * log(1 + exp(b_i - a_i . d)).");

  m.def(
      "ranking_hildreth",
      [](const Input<double>& gram, const Input<double>& scores, std::size_t right, double upper, double tolerance,
         std::size_t max_sweeps) {
        return give(ranking_hildreth(span(gram), span(scores), right, upper, tolerance, max_sweeps));
      },
      "gram"_a, "scores"_a, "right"_a, "upper"_a, "tolerance"_a = 1e-9, "max_sweeps"_a = 10000,
      "The same for the smallest change after which the first ones score 1 more than all others; summed by vector.");

  nb::class_<SubsetLearner::Epoch>(m, "SubsetEpoch")
      .def_ro("loss", &SubsetLearner::Epoch::loss)
      .def_ro("wrong", &SubsetLearner::Epoch::wrong)
      .def_ro("scoring", &SubsetLearner::Epoch::scoring)
      .def_ro("searching", &SubsetLearner::Epoch::searching)
      .def_ro("solving", &SubsetLearner::Epoch::solving)
      .def_ro("updating", &SubsetLearner::Epoch::updating);

  nb::class_<SubsetLearner>(m, "SubsetLearner", "Online learning of subset scores.")
      .def(
          "__init__",
          [](SubsetLearner* self, const SparseRows& rows, const std::vector<std::string>& names, nb::handle columns,
             const PairProgram& pairs, std::size_t types, std::size_t max_gap,
             const std::vector<std::vector<SubsetSpec>>& gold, const std::string& rule, double limit, std::size_t k,
             const Restrictions& restrictions, std::uint64_t seed) {
            const TokenInput input = read_input(names, columns, nb::none());
            const LearnerSettings settings{parse_rule(rule), limit, k, restrictions, seed};
            const nb::gil_scoped_release release;
            std::vector<std::vector<Subset>> subsets;
            for (const auto& sentence : gold) {
              auto& out = subsets.emplace_back();
              for (const auto& [type, tokens] : sentence) out.push_back({0, type, tokens});
            }
            new (self) SubsetLearner(rows, input, pairs, types, max_gap, std::move(subsets), settings);
          },
          "rows"_a, "names"_a, "columns"_a, "pairs"_a, "types"_a, "max_gap"_a, "gold"_a, "rule"_a, "limit"_a, "k"_a,
          "restrictions"_a, "seed"_a, nb::keep_alive<1, 2>())
      .def("epoch", &SubsetLearner::epoch, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "weights",
          [](const SubsetLearner& self, bool averaged) {
            SubsetWeights weights;
            {
              const nb::gil_scoped_release release;
              weights = self.weights(averaged);
            }
            return give_weights(weights);
          },
          "averaged"_a, "Return (token weights, distance weights, state of the pair features, pair weights).");
}

void bind_subset_finder(nb::module_& m) {
  nb::class_<SubsetFinder>(m, "SubsetFinder", "Trained subset scores at work.")
      .def(
          "__init__",
          [](SubsetFinder* self, const PairProgram& pairs, std::size_t types, std::size_t max_gap,
             const Input<float>& tokens, const Input<float>& distances, const Input<std::uint8_t>& strings,
             const Input<std::uint64_t>& string_ends, const Input<std::uint64_t>& pool_sizes,
             const Input<std::uint32_t>& template_of, const Input<std::uint32_t>& keys,
             const Input<float>& pair_weights) {
            const nb::gil_scoped_release release;
            auto table = read_table(pairs.program, strings, string_ends, pool_sizes, template_of, keys);
            new (self) SubsetFinder(pairs, types, max_gap,
                                    {copy(tokens), copy(distances), std::move(table), copy(pair_weights)});
          },
          "pairs"_a, "types"_a, "max_gap"_a, "tokens"_a, "distances"_a, "strings"_a, "string_ends"_a, "pool_sizes"_a,
          "template_of"_a, "keys"_a, "pair_weights"_a)
      .def_prop_ro("pair_features", [](const SubsetFinder& self) { return self.weights().table->size(); })
      .def(
          "pair_feature", [](const SubsetFinder& self, std::uint32_t id) { return self.weights().table->name(id); },
          "id"_a)
      .def(
          "scores",
          [](const SubsetFinder& self, const SparseRows& rows, const std::vector<std::string>& names,
             nb::handle columns, std::size_t sentence) {
            const TokenInput input = read_input(names, columns, nb::none());
            return give(self.scores(rows, input, sentence));
          },
          "rows"_a, "names"_a, "columns"_a, "sentence"_a = 0, "The scores of a sentence's cells, see SkipLattice.")
      .def(
          "pair_ids",
          [](const SubsetFinder& self, const std::vector<std::string>& names, nb::handle columns, std::size_t sentence,
             std::size_t j, std::size_t i) {
            const TokenInput input = read_input(names, columns, nb::none());
            return give(self.pair_ids(input, sentence, j, i));
          },
          "names"_a, "columns"_a, "sentence"_a, "j"_a, "i"_a, "The known features of a pair of tokens.")
      .def(
          "find",
          [](const SubsetFinder& self, const SparseRows& rows, const std::vector<std::string>& names,
             nb::handle columns, std::size_t k, const Input<double>& thresholds, double above,
             const Restrictions& restrictions, int threads) {
            const TokenInput input = read_input(names, columns, nb::none());
            std::vector<std::vector<Subset>> found;
            {
              const nb::gil_scoped_release release;
              found = self.find(rows, input, k, span(thresholds), above, restrictions, threads);
            }
            return give_all(std::move(found));
          },
          "rows"_a, "names"_a, "columns"_a, "k"_a, "thresholds"_a, "above"_a, "restrictions"_a, "threads"_a,
          "Of each sentence, (score, type, tokens) of its subsets, the best first.")
      .def(
          "find_rescored",
          [](const SubsetFinder& self, const SparseRows& rows, const std::vector<std::string>& names,
             nb::handle columns, std::size_t k, double least, const Rescoring& rescoring,
             const Input<std::int32_t>& word, const Input<std::int32_t>& ending, const Input<std::int32_t>& outline,
             const Input<std::int32_t>& pos, const Input<std::uint8_t>& flags, const Input<std::uint8_t>& tagged,
             const Restrictions& restrictions, const Input<double>& above, int threads) {
            const TokenInput input = read_input(names, columns, nb::none());
            std::vector<std::vector<Rescoring::Scored>> found;
            {
              const nb::gil_scoped_release release;
              found =
                  self.find_rescored(rows, input, k, least, rescoring, surface_of(word, ending, outline, pos, flags),
                                     span(tagged), restrictions, span(above), threads);
            }
            return give_all(std::move(found));
          },
          "rows"_a, "names"_a, "columns"_a, "k"_a, "least"_a, "rescoring"_a, "word"_a, "ending"_a, "outline"_a, "pos"_a,
          "flags"_a, "tagged"_a, "restrictions"_a, "above"_a, "threads"_a,
          "Of each sentence, (score, type, tokens, log-odds) of its candidates after rescoring, the best first.");
}

}  // namespace

void bind_multilabel(nb::module_& m) {
  nb::class_<Restrictions>(m, "Restrictions", "Which subsets of a sentence do not go together.")
      .def(
          "__init__",
          [](Restrictions* self, bool no_overlap, bool no_embedding, bool no_self_embedding) {
            new (self) Restrictions{no_overlap, no_embedding, no_self_embedding};
          },
          nb::kw_only(), "no_overlap"_a = false, "no_embedding"_a = false, "no_self_embedding"_a = false)
      .def_ro("no_overlap", &Restrictions::no_overlap)
      .def_ro("no_embedding", &Restrictions::no_embedding)
      .def_ro("no_self_embedding", &Restrictions::no_self_embedding);
  bind_skip_lattice(m);
  nb::class_<PairProgram>(m, "PairProgram",
                          "Templates over pairs of tokens; sides are 0 left, 1 right, 2 between, 3 whole.")
      .def(
          "__init__",
          [](PairProgram* self, const ProgramHandle& program, const std::vector<std::vector<std::uint32_t>>& sides,
             bool distance) { new (self) PairProgram(make_pairs(program, sides, distance)); },
          "program"_a, "sides"_a, nb::kw_only(), "distance"_a);
  bind_rescoring(m);
  bind_subset_learner(m);
  bind_subset_finder(m);
}

}  // namespace spanloom::bindings
