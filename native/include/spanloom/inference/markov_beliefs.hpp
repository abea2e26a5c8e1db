#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/inference/markov.hpp"
#include "spanloom/inference/mention_finder.hpp"
#include "spanloom/inference/mention_probabilities.hpp"

namespace spanloom {

// The probabilities of mentions in a locally normalised trellis, among the sequences that are possible; `reading` is of
// labels. local: [sites of all sentences, labels]; [first[s], first[s + 1]) are the sites of sentence s. Sums go over
// states and the labels that follow them, O(sites * states * labels), in scaled doubles: held[s] is 0 for a sentence
// that these do not hold, or that has no possible sequence, and nothing is said of it. States that matter for less than
// 1e-12 of any probability are left out.
//
// All throw std::invalid_argument if sizes do not fit.

// Fills in the probabilities of given mentions.
void markov_probabilities(const MarkovSearch& search, const FlatReading& reading, std::span<const double> local,
                          std::span<const std::int64_t> first, MentionLists& lists, std::vector<std::uint8_t>& held,
                          int threads);

// Every mention with a probability of at least `above` > 0, by start, then end.
SentenceMentions markov_mentions(const MarkovSearch& search, const FlatReading& reading, std::span<const double> local,
                                 std::span<const std::int64_t> first, double above, std::vector<std::uint8_t>& held,
                                 int threads);

// The mentions of the best sequences, with or without their probabilities; `beam` as in MarkovSearch::best. held[s] is
// 0 also for a sentence in which the search finds no sequence.
SentenceMentions markov_best(const MarkovSearch& search, const FlatReading& reading, std::span<const double> local,
                             std::span<const std::int64_t> first, std::size_t beam, bool probabilities,
                             std::vector<std::uint8_t>& held, int threads);

}  // namespace spanloom
