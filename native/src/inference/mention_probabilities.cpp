#include "spanloom/inference/mention_probabilities.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/base/parallel.hpp"
#include "spanloom/inference/decoder.hpp"
#include "spanloom/inference/segment_sums.hpp"

namespace spanloom {
namespace {

constexpr std::size_t kShardSentences = 32;

void check(std::span<const double> scores, std::size_t columns, std::span<const std::int64_t> site_ptr,
           const MentionLists& lists) {
  const auto rising = [](std::span<const std::int64_t> ptr, std::size_t end) {
    return !ptr.empty() && ptr.front() == 0 && std::is_sorted(ptr.begin(), ptr.end()) &&
           static_cast<std::size_t>(ptr.back()) == end;
  };
  if (!rising(site_ptr, scores.size() / columns) || scores.size() % columns != 0 ||
      !rising(lists.ptr, lists.mentions.size()) || lists.ptr.size() != site_ptr.size()) {
    throw std::invalid_argument("[probabilities] " + std::to_string(scores.size()) + " scores of " +
                                std::to_string(columns) + " columns, " + std::to_string(site_ptr.size()) +
                                " bounds of sites and " + std::to_string(lists.ptr.size()) + " bounds of " +
                                std::to_string(lists.mentions.size()) + " mentions do not fit each other");
  }
}

// Calls body(sentence, its scores, its mentions) for a run of sentences that have mentions, with a worker of its own.
template <class Make>
void for_sentences(std::span<const double> scores, std::size_t columns, std::span<const std::int64_t> site_ptr,
                   MentionLists& lists, int threads, const Make& make) {
  check(scores, columns, site_ptr, lists);
  const std::size_t sentences = site_ptr.size() - 1;
  parallel_for((sentences + kShardSentences - 1) / kShardSentences, threads, [&](std::size_t shard) {
    auto body = make();
    const std::size_t last = std::min(sentences, (shard + 1) * kShardSentences);
    for (std::size_t s = shard * kShardSentences; s < last; ++s) {
      const auto first = static_cast<std::size_t>(lists.ptr[s]);
      const std::span<Found> own(lists.mentions.data() + first, static_cast<std::size_t>(lists.ptr[s + 1]) - first);
      const auto begin = static_cast<std::size_t>(site_ptr[s]);
      if (!own.empty()) {
        body(s, scores.subspan(begin * columns, (static_cast<std::size_t>(site_ptr[s + 1]) - begin) * columns), own);
      }
    }
  });
}

}  // namespace

void mention_probabilities(const MentionReader& reader, std::span<const double> scores,
                           std::span<const std::int64_t> site_ptr, MentionLists& lists, int threads) {
  const std::size_t columns = reader.columns();
  for_sentences(scores, columns, site_ptr, lists, threads, [&] {
    return [columns, beliefs = reader.beliefs()](std::size_t, std::span<const double> own, std::span<Found> mentions) {
      beliefs->read(own.data(), own.size() / columns, columns);
      beliefs->probabilities(mentions);
    };
  });
}

void segment_probabilities(const LatticeStructure& structure, std::span<const double> global,
                           std::span<const double> scores, std::span<const std::int64_t> site_ptr, MentionLists& lists,
                           int threads) {
  const std::size_t columns = structure.columns();
  for_sentences(scores, columns, site_ptr, lists, threads, [&] {
    return [&, beliefs = std::shared_ptr<SegmentBeliefs>(structure.beliefs(global))](
               std::size_t s, std::span<const double> own, std::span<Found> mentions) {
      const std::vector<double> table = padded_table(structure, own);
      look_up(structure, s, beliefs->probabilities({own.size() / columns, s}, table.data()), mentions);
    };
  });
}

void look_up(const LatticeStructure& structure, std::size_t number, const double* probs, std::span<Found> mentions) {
  const Lattice lattice = structure.lattices()[number];
  for (Found& one : mentions) {
    const bool within = one.start >= 0 && one.start < one.end && one.end <= lattice.tokens && one.type >= 0 &&
                        one.type < static_cast<std::int32_t>(structure.columns());
    const std::int32_t segment = within ? lattice.find({one.start, one.end}) : -1;
    const auto at = static_cast<std::size_t>(segment) * structure.stride() + static_cast<std::size_t>(one.type);
    one.prob = segment < 0 ? 0.0 : std::min(probs[at], 1.0);
  }
}

std::vector<double> segment_scores(const LatticeStructure& structure, std::size_t number,
                                   std::span<const double> scores) {
  const std::size_t columns = structure.columns();
  const std::size_t stride = structure.stride();
  const Lattice lattice = structure.lattices().of(number, scores.size() / columns);
  const std::vector<double> table = padded_table(structure, scores);
  std::vector<double> out;
  if (lattice.tokens == 0) return out;
  SegmentSums sums(stride);
  sums.add_up(lattice, table.data());
  for (std::int32_t s = 0; s < lattice.segments(); ++s) out.insert(out.end(), sums[s], sums[s] + columns);
  return out;
}

}  // namespace spanloom
