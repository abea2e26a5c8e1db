#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/base/sparse.hpp"
#include "spanloom/features/pair_features.hpp"
#include "spanloom/inference/skip_lattice.hpp"

namespace spanloom {

// What a token is in a subset: the first one, the last one, or an end of a step. The features of a token, conjoined
// with role and type, are columns role * types + type.
enum class Role : std::uint8_t { start, next_left, next_right, skip_left, skip_right, end };
inline constexpr std::size_t kRoles = 6;

// The cells of a subset: tokens in roles, and the pairs (j, i) that skip something.
struct SubsetCells {
  std::vector<std::pair<std::uint32_t, Role>> tokens;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> skips;
};
SubsetCells subset_cells(std::span<const std::uint32_t> tokens);

// Scores of tokens in roles and of distances -> scores of the cells of a sentence's lattice,
//
//   start(i)    = token[i, start]
//   step(j, i)  = token[j, next_left] + token[i, next_right]                                        if i = j + 1
//               = token[j, skip_left] + token[i, skip_right] + distance[range of i - j] + pair      else
//   end(i)      = token[i, end]
//
// for every type, where pair is the sum of the weights of the features of (j, i): find(template, values) gives the id
// of one, or kNone, and pair_weights[id, type] its weights. tokens: [n, stride]; distances: [ranges, types].
template <class Find>
void subset_scores(const SkipLattice& lattice, std::size_t n, const double* tokens, std::size_t stride,
                   std::span<const float> distances, const float* pair_weights, PairReader& reader, const Find& find,
                   std::vector<double>& scores) {
  const std::size_t types = lattice.types();
  scores.assign(lattice.cells(n), 0.0);
  const auto token = [&](std::size_t i, Role role) {
    return tokens + i * stride + static_cast<std::size_t>(role) * types;
  };
  const auto put = [&](std::size_t site, const double* a) {
    for (std::size_t t = 0; t < types; ++t) scores[site * types + t] += a[t];
  };
  std::vector<double> running(types), here(types);
  for (std::size_t j = 0; j < n; ++j) {
    put(lattice.start(n, j), token(j, Role::start));
    put(lattice.end(n, j), token(j, Role::end));
    reader.set_left(j);
    std::ranges::fill(running, 0.0);
    for (std::size_t i = j + 1; i < lattice.reach(n, j); ++i) {
      const std::size_t site = lattice.step(n, j, i);
      if (i == j + 1) {
        put(site, token(j, Role::next_left));
        put(site, token(i, Role::next_right));
        continue;
      }
      // What reads nothing but the tokens between adds up as they join; the rest is this pair's own.
      reader.add_between(i - 1);
      here = running;
      reader.features(i, true, [&](std::uint32_t index, std::span<const std::uint32_t> values, bool stays) {
        const std::uint32_t id = find(index, values);
        if (id == kNone) return;
        for (std::size_t t = 0; t < types; ++t) {
          const double weight = pair_weights[id * types + t];
          here[t] += weight;
          if (stays) running[t] += weight;
        }
      });
      put(site, token(j, Role::skip_left));
      put(site, token(i, Role::skip_right));
      if (!distances.empty()) {
        for (std::size_t t = 0; t < types; ++t) here[t] += distances[distance_range(i - j) * types + t];
      }
      put(site, here.data());
    }
  }
}

}  // namespace spanloom
