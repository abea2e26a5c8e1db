#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "spanloom/inference/readings.hpp"

// Walks over the starts of mentions, whatever follows them. A follower has
//   double at_most(site)          a bound on the probability that a mention starts at a site
//   void open(site, type)         start there; type < 0 for all
//   double left()                 the probability that the mention is still open
//   std::size_t site()            where it is open: it covers the tokens before that, and the one there
//   void advance()                go to the next site
//   double ended(type)            the probability that it has ended just before the site advanced to

namespace spanloom {

// Mentions of one start and type that stand side by side are followed together.
template <class Follower>
void follow_given(Follower& follower, std::size_t sites, std::int32_t types, std::span<Found> mentions) {
  const auto tokens = static_cast<std::int32_t>(sites);
  std::size_t first = 0;
  while (first < mentions.size()) {
    const Found lead = mentions[first];
    std::size_t last = first;
    std::int32_t farthest = 0;
    for (; last < mentions.size() && mentions[last].start == lead.start && mentions[last].type == lead.type; ++last) {
      mentions[last].prob = 0.0;
      if (mentions[last].end <= tokens) farthest = std::max(farthest, mentions[last].end);
    }
    if (lead.start >= 0 && lead.start < tokens && lead.type >= 0 && lead.type < types) {
      follower.open(static_cast<std::size_t>(lead.start), lead.type);
      while (follower.left() > 0 && follower.site() < static_cast<std::size_t>(farthest)) {
        follower.advance();
        for (std::size_t i = first; i < last; ++i) {
          if (static_cast<std::size_t>(mentions[i].end) == follower.site())
            mentions[i].prob = follower.ended(lead.type);
        }
      }
    }
    first = last;
  }
}

// By start, then end. A start is followed as long as as much mass is left.
template <class Follower>
std::vector<Found> follow_all(Follower& follower, std::size_t sites, std::int32_t types, double above) {
  if (!(above > 0)) throw std::invalid_argument("[readings] above is " + std::to_string(above) + ", not above 0");
  std::vector<Found> found;
  const double enough = above * (1 - 1e-12);  // what is left is a sum of rounded numbers
  for (std::size_t site = 0; site < sites; ++site) {
    if (follower.at_most(site) < enough) continue;
    follower.open(site, -1);
    while (follower.left() >= enough && follower.site() < sites) {
      follower.advance();
      for (std::int32_t type = 0; type < types; ++type) {
        const double p = follower.ended(type);
        if (p < above) continue;
        found.push_back({static_cast<std::int32_t>(site), static_cast<std::int32_t>(follower.site()), type, p});
      }
    }
  }
  return found;
}

}  // namespace spanloom
