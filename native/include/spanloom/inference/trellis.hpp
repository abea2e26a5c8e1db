#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "spanloom/inference/chain.hpp"

namespace spanloom {

// What a chain believes of one sentence, as a Markov chain: layer after layer of nodes, and on every edge the
// probability of taking it, given its source:
//
//   P(y_t = y | y_{t-1} = x) = exp(weight(x, y) + beta_t(y) - beta_{t-1}(x)),  beta(x) = log sum over y of the same
//
// so that every partial mass is a true probability. Layer 0 is the start, layer t + 1 is site t, the last layer the
// end; start and end have one node each, of the column `border()`. A column may have several nodes in a layer (see
// clamp in readings.hpp).
struct Trellis {
  std::size_t columns = 0;
  double log_z = 0;                       // -inf if no path is possible
  std::vector<std::int64_t> layer_ptr;    // [layers + 1]: nodes of a layer
  std::vector<std::int32_t> column;       // [nodes]
  std::vector<std::int64_t> edge_ptr{0};  // [nodes + 1]: edges out of a node
  std::vector<std::int32_t> target;       // [edges]: nodes
  std::vector<double> log_prob;           // [edges]
  std::vector<double> prob;               // [edges]
  std::vector<double> mass;               // [nodes]: the probability that a path visits it

  std::int32_t border() const { return static_cast<std::int32_t>(columns); }
  std::size_t nodes() const { return column.size(); }
  std::size_t sites() const { return layer_ptr.size() - 3; }
  std::size_t width(std::size_t layer) const {
    return static_cast<std::size_t>(layer_ptr[layer + 1] - layer_ptr[layer]);
  }

  // Turns log weights in log_prob into probabilities; adds the log of their sum to log_z.
  void normalise();
  // The same where a weight is log(factor[edge]) + score[target]: an exponential for every node, not for every edge.
  void normalise(std::span<const double> factor, std::span<const double> score);

  // P(column y at site t) as [sites, columns].
  std::vector<double> marginals() const;
  // Of the distribution over paths, in nats.
  double entropy() const;
  // The columns of n paths drawn at random: [n, sites]. Throws std::domain_error if no path is possible.
  std::vector<std::int32_t> sample(std::size_t n, std::uint64_t seed) const;
  // The log-probabilities of the k best paths, best first, and their columns [k, sites]; fewer if there are fewer.
  std::pair<std::vector<double>, std::vector<std::int32_t>> k_best(std::size_t k) const;
};

// Makes trellises of sentences under fixed transition scores; what does not depend on the sentence is done once.
class TrellisMaker {
 public:
  // transitions: [L * L]. Throws std::invalid_argument if they do not fit, or if one is NaN or +inf.
  TrellisMaker(const ChainStructure& structure, std::span<const double> transitions);

  // scores: [sites, L]. Throws as above.
  Trellis make(std::span<const double> scores) const;
  std::size_t columns() const { return columns_; }

 private:
  std::size_t columns_;
  std::vector<std::int64_t> next_ptr_;  // [L + 1]
  std::vector<std::int32_t> next_;      // the columns that may follow a column
  std::vector<double> step_, factor_;   // their transition scores, and exp of these
  std::vector<std::int32_t> first_, last_;
};

}  // namespace spanloom
