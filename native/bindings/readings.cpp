#include "spanloom/inference/readings.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "arrays.hpp"
#include "bindings.hpp"
#include "spanloom/inference/markov_beliefs.hpp"
#include "spanloom/inference/mention_finder.hpp"
#include "spanloom/inference/mention_probabilities.hpp"
#include "spanloom/inference/segment_finder.hpp"
#include "spanloom/inference/segmental.hpp"
#include "spanloom/inference/segments.hpp"
#include "spanloom/inference/spans.hpp"
#include "spanloom/inference/tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

using Ints = Input<std::int32_t>;

std::vector<Found> read_mentions(const Ints& starts, const Ints& ends, const Ints& types) {
  if (starts.size() != ends.size() || starts.size() != types.size()) {
    throw std::invalid_argument("[readings] starts, ends and types of mentions differ in number");
  }
  std::vector<Found> mentions(starts.size());
  for (std::size_t i = 0; i < mentions.size(); ++i) mentions[i] = {starts(i), ends(i), types(i), 0.0};
  return mentions;
}

Array<double> give_probabilities(const std::vector<Found>& mentions) {
  std::vector<double> probs;
  for (const Found& one : mentions) probs.push_back(one.prob);
  return give(std::move(probs));
}

template <class Reading>
void bind_reading(nb::class_<Trellis>& trellis) {
  trellis
      .def(
          "probabilities",
          [](const Trellis& self, const Reading& reading, const Ints& starts, const Ints& ends, const Ints& types) {
            std::vector<Found> mentions = read_mentions(starts, ends, types);
            {
              const nb::gil_scoped_release release;
              probabilities(self, reading, mentions);
            }
            return give_probabilities(mentions);
          },
          "reading"_a, "starts"_a, "ends"_a, "types"_a, "The probability of each mention.")
      .def(
          "mentions",
          [](const Trellis& self, const Reading& reading, double above) {
            std::vector<Found> found;
            {
              const nb::gil_scoped_release release;
              found = mentions_above(self, reading, above);
            }
            std::vector<std::int32_t> places;
            for (const Found& one : found) places.insert(places.end(), {one.start, one.end, one.type});
            return std::make_tuple(give(std::move(places)), give_probabilities(found));
          },
          "reading"_a, "above"_a, "Return start, end, type … of the mentions with at least this probability, and it.")
      .def(
          "clamp",
          [](const Trellis& self, const Reading& reading, std::int32_t start, std::int32_t end, std::int32_t type,
             bool must) {
            const nb::gil_scoped_release release;
            return clamp(self, reading, {start, end, type, 0.0}, must);
          },
          "reading"_a, "start"_a, "end"_a, "type"_a, nb::kw_only(), "must"_a,
          "The paths whose reading holds a mention, or does not; log_z is -inf if there is none.");
}

using AnyReading = std::variant<const FlatReading*, const SeparatorReading*>;

void bind_readers(nb::module_& m) {
  nb::class_<MentionReader>(m, "MentionReader",
                            "How mentions are read off the structures of one component, and what is believed of them.")
      .def(
          "probabilities",
          [](const MentionReader& self, const Input<double>& scores, const Input<std::int64_t>& site_ptr,
             const Input<std::int64_t>& mention_ptr, const Ints& starts, const Ints& ends, const Ints& types,
             int threads) {
            MentionLists lists{span(mention_ptr), read_mentions(starts, ends, types)};
            {
              const nb::gil_scoped_release release;
              mention_probabilities(self, span(scores), span(site_ptr), lists, threads);
            }
            return give_probabilities(lists.mentions);
          },
          "scores"_a, "site_ptr"_a, "mention_ptr"_a, "starts"_a, "ends"_a, "types"_a, "threads"_a = 0,
          "The probabilities of given mentions of many sentences; scores are [site * column].");
  m.def(
      "chain_reader",
      [](std::shared_ptr<ChainStructure> structure, const Input<double>& transitions, const AnyReading& reading) {
        return std::visit([&](const auto* own) { return chain_reader(std::move(structure), copy(transitions), *own); },
                          reading);
      },
      "structure"_a, "transitions"_a, "reading"_a, "A chain whose columns are read as mentions.");
  m.def("hypergraph_reader", &hypergraph_reader,
        "The mention hypergraph of one type, as a distribution over mention sets.");
}

using Gathered = std::tuple<Array<std::int64_t>, Array<std::int32_t>, Array<double>>;

Gathered give_mentions(SentenceMentions found) {
  std::vector<std::int32_t> places;
  places.reserve(3 * found.mentions.size());
  for (const Found& one : found.mentions) places.insert(places.end(), {one.start, one.end, one.type});
  return {give(std::move(found.ptr)), give(std::move(places)), give_probabilities(found.mentions)};
}

template <class Kind>
void bind_segments(nb::module_& m) {
  m.def(
      "find_segments",
      [](const Decoder& decoder, const Kind& structure, const Ints& labels, const SparseRows& rows, int threads,
         bool probabilities, double above) {
        SentenceMentions found;
        {
          const nb::gil_scoped_release release;
          found = find_segments(decoder, structure, span(labels), rows, {probabilities, above}, threads);
        }
        return give_mentions(std::move(found));
      },
      "decoder"_a, "structure"_a, "labels"_a, "rows"_a, "threads"_a = 0, nb::kw_only(), "probabilities"_a = false,
      "above"_a = 0.0,
      "Return (ptr, places, probabilities) as MentionFinder.find does, for a decoder of one structure over segments; "
      "labels has the label of each column, -1 for what is no mention.");
  m.def(
      "segment_probabilities",
      [](const Kind& structure, const Input<double>& global, const Input<double>& scores,
         const Input<std::int64_t>& site_ptr, const Input<std::int64_t>& mention_ptr, const Ints& starts,
         const Ints& ends, const Ints& columns, int threads) {
        MentionLists lists{span(mention_ptr), read_mentions(starts, ends, columns)};
        {
          const nb::gil_scoped_release release;
          segment_probabilities(structure, span(global), span(scores), span(site_ptr), lists, threads);
        }
        return give_probabilities(lists.mentions);
      },
      "structure"_a, "global_scores"_a, "scores"_a, "site_ptr"_a, "mention_ptr"_a, "starts"_a, "ends"_a, "columns"_a,
      "threads"_a = 0, "The probabilities of given segments with columns, of many sentences.");
  m.def(
      "segment_scores",
      [](const Kind& structure, const Input<double>& scores, std::size_t number) {
        return give(segment_scores(structure, number, span(scores)));
      },
      "structure"_a, "scores"_a, "number"_a = 0, "The scores [segments * columns] of the segments of one sentence.");
}

using PartOfPython = std::tuple<std::shared_ptr<MentionReader>, Ints>;

void bind_finder(nb::module_& m) {
  nb::class_<MentionFinder>(m, "MentionFinder", "From features to mentions and their probabilities, in one pass.")
      .def(
          "__init__",
          [](MentionFinder* self, const Decoder& decoder, const std::vector<PartOfPython>& given) {
            std::vector<FinderPart> parts;
            for (const auto& [reader, labels] : given) parts.push_back({reader, copy(labels)});
            new (self) MentionFinder(decoder, std::move(parts));
          },
          "decoder"_a, "parts"_a, nb::keep_alive<1, 2>(),
          "Parts are (reader, the label of each of its types), one for each structure.")
      .def(
          "find",
          [](const MentionFinder& self, const SparseRows& rows, int threads, bool probabilities, double above,
             bool exclusive, bool flat, bool flat_types, const Input<double>& thresholds) {
            const Wanted wanted{probabilities, above, exclusive, flat, flat_types, span(thresholds)};
            SentenceMentions found;
            {
              const nb::gil_scoped_release release;
              found = self.find(rows, wanted, threads);
            }
            return give_mentions(std::move(found));
          },
          "rows"_a, "threads"_a = 0, nb::kw_only(), "probabilities"_a = false, "above"_a = 0.0, "exclusive"_a = false,
          "flat"_a = false, "flat_types"_a = false, "thresholds"_a,
          "Return (ptr, places, probabilities): sentence s has the mentions ptr[s] to ptr[s + 1], each with start, end "
          "and label. Those of the best structures; if above is more than 0, every one with that probability; if there "
          "are thresholds, one for each label, every one with that of its label. Without above: with exclusive, of "
          "those "
          "with the same tokens only the most probable one; with flat, of those that share a token; with flat_types, "
          "of "
          "those of one label that do.");
}

void bind_markov_beliefs(nb::module_& m) {
  m.def(
      "markov_probabilities",
      [](const MarkovSearch& search, const FlatReading& reading, const Input<double>& local,
         const Input<std::int64_t>& first, const Input<std::int64_t>& mention_ptr, const Ints& starts, const Ints& ends,
         const Ints& types, int threads) {
        MentionLists lists{span(mention_ptr), read_mentions(starts, ends, types)};
        std::vector<std::uint8_t> held;
        {
          const nb::gil_scoped_release release;
          markov_probabilities(search, reading, span(local), span(first), lists, held, threads);
        }
        return std::make_tuple(give_probabilities(lists.mentions), give(std::move(held)));
      },
      "search"_a, "reading"_a, "local"_a, "first"_a, "mention_ptr"_a, "starts"_a, "ends"_a, "types"_a, "threads"_a = 0,
      "Return (probabilities of given mentions, held): held is 0 for sentences that nothing is said of.");
  m.def(
      "markov_mentions",
      [](const MarkovSearch& search, const FlatReading& reading, const Input<double>& local,
         const Input<std::int64_t>& first, double above, int threads) {
        SentenceMentions found;
        std::vector<std::uint8_t> held;
        {
          const nb::gil_scoped_release release;
          found = markov_mentions(search, reading, span(local), span(first), above, held, threads);
        }
        auto [ptr, places, probs] = give_mentions(std::move(found));
        return std::make_tuple(ptr, places, probs, give(std::move(held)));
      },
      "search"_a, "reading"_a, "local"_a, "first"_a, "above"_a, "threads"_a = 0,
      "Return (ptr, places, probabilities, held): every mention with at least a probability, as MentionFinder.find; "
      "held is 0 for sentences that nothing is said of.");
  m.def(
      "markov_best",
      [](const MarkovSearch& search, const FlatReading& reading, const Input<double>& local,
         const Input<std::int64_t>& first, std::size_t beam, int threads, bool probabilities) {
        SentenceMentions found;
        std::vector<std::uint8_t> held;
        {
          const nb::gil_scoped_release release;
          found = markov_best(search, reading, span(local), span(first), beam, probabilities, held, threads);
        }
        auto [ptr, places, probs] = give_mentions(std::move(found));
        return std::make_tuple(ptr, places, probs, give(std::move(held)));
      },
      "search"_a, "reading"_a, "local"_a, "first"_a, "beam"_a = 0, "threads"_a = 0, nb::kw_only(),
      "probabilities"_a = false,
      "Return (ptr, places, probabilities, held) as markov_mentions does, for the best sequences; held is 0 also for "
      "sentences without one.");
}

}  // namespace

void bind_readings(nb::module_& m) {
  nb::class_<FlatReading>(m, "FlatReading", "One label per token; a mention goes on where there is no border.")
      .def(
          "__init__",
          [](FlatReading* self, const Ints& types, const Input<std::uint8_t>& borders) {
            new (self) FlatReading(copy(types), span(borders));
          },
          "types"_a, "borders"_a);
  nb::class_<SeparatorReading>(m, "SeparatorReading", "One separator per gap, read as nested.")
      .def(
          "__init__",
          [](SeparatorReading* self, const Ints& separators) { new (self) SeparatorReading(copy(separators)); },
          "separators"_a);

  nb::class_<Trellis> trellis(m, "Trellis", "What a chain believes of one sentence, as a Markov chain.");
  trellis
      .def(
          "__init__",
          [](Trellis* self, const ChainStructure& structure, const Input<double>& scores, const Input<double>& global) {
            const nb::gil_scoped_release release;
            new (self) Trellis(TrellisMaker(structure, span(global)).make(span(scores)));
          },
          "structure"_a, "scores"_a, "global_scores"_a)
      .def_ro("log_z", &Trellis::log_z)
      .def_prop_ro("sites", &Trellis::sites)
      .def("marginals", [](const Trellis& self) { return give(self.marginals()); })
      .def("entropy", &Trellis::entropy, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "sample",
          [](const Trellis& self, std::size_t n, std::uint64_t seed) {
            std::vector<std::int32_t> drawn;
            {
              const nb::gil_scoped_release release;
              drawn = self.sample(n, seed);
            }
            return give(std::move(drawn));
          },
          "n"_a, "seed"_a, "The columns [n * sites] of paths drawn at random.")
      .def(
          "k_best",
          [](const Trellis& self, std::size_t k) {
            std::pair<std::vector<double>, std::vector<std::int32_t>> found;
            {
              const nb::gil_scoped_release release;
              found = self.k_best(k);
            }
            return std::make_tuple(give(std::move(found.first)), give(std::move(found.second)));
          },
          "k"_a, "Return the log-probabilities and columns [k * sites] of the best paths.")
      .def(
          "set_probability",
          [](const Trellis& self, const FlatReading& reading, const Ints& starts, const Ints& ends, const Ints& types) {
            return set_probability(self, reading, read_mentions(starts, ends, types));
          },
          "reading"_a, "starts"_a, "ends"_a, "types"_a, "The probability of being read as exactly these mentions.");
  bind_reading<FlatReading>(trellis);
  bind_reading<SeparatorReading>(trellis);
  bind_readers(m);
  bind_segments<SegmentStructure>(m);
  bind_segments<SpanStructure>(m);
  bind_segments<SegmentalStructure>(m);
  bind_segments<TreeStructure>(m);
  bind_finder(m);
  bind_markov_beliefs(m);
}

}  // namespace spanloom::bindings
