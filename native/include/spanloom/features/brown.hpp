#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace spanloom {

// Brown clusters (Brown et al. 1992): words are merged so that the mutual information of neighbouring clusters,
//
//   sum over c, d of p(c, d) log(p(c, d) / (p(c) p(d))),
//
// falls least. With a window (Liang 2005): the most frequent words start as clusters of their own; each further word,
// by descending frequency, becomes a cluster, and then the best pair of clusters is merged. At last the clusters are
// merged into one, and the path to a cluster in that tree is its name.
struct BrownClusters {
  std::vector<std::uint32_t> cluster_of;  // [words]
  std::vector<std::string> paths;         // [clusters], of '0' and '1'
};

inline constexpr std::uint32_t kNoWord = UINT32_MAX;

// tokens: the text as words 0 .. words - 1, by descending frequency; line_ptr: where its lines begin, and its end.
// Pairs of neighbours do not reach over lines, nor over kNoWord. progress(done, total) is called now and then; what it
// throws ends the work. Every word must occur. Deterministic for any number of threads.
BrownClusters brown_clusters(std::span<const std::uint32_t> tokens, std::span<const std::int64_t> line_ptr,
                             std::size_t words, std::size_t clusters,
                             const std::function<void(std::size_t, std::size_t)>& progress, int threads);

}  // namespace spanloom
