#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "spanloom/base/random.hpp"
#include "spanloom/base/sparse.hpp"
#include "spanloom/features/pair_features.hpp"
#include "spanloom/inference/skip_lattice.hpp"
#include "spanloom/learning/subset_scores.hpp"

namespace spanloom {

// How much each subset of a sentence, correct (y = 1) or among the best though wrong (y = -1), moves the weights:
// w += sum of alpha * y * f.
enum class Rule : std::uint8_t {
  mira,        // the smallest change after which y * score >= 1 for all of them, as far as alpha <= limit allows
  ranking,     // the same for score >= score' + 1 of every correct and every wrong one (figure 4 of the paper)
  perceptron,  // where y * score <= 0: limit, shared by those of the same y (Crammer & Singer 2003, uniform update)
  loglinear,  // the change d that minimises 1/2 |d|^2 - limit * log-likelihood of independent decisions, sigmoid(score)
};

struct LearnerSettings {
  Rule rule = Rule::mira;
  double limit = std::numeric_limits<double>::infinity();
  std::size_t k = 0;  // best subsets to look at; 0: as many as the sentence has tokens
  Restrictions restrictions;
  std::uint64_t seed = 1;
};

// Weights that change one by one, and their means over time.
class LearnedWeights {
 public:
  std::vector<float> now;

  void grow(std::size_t size);
  void add(std::size_t i, double change, double time);

  // The last value minus what each change did not yet give before it was made.
  float mean(std::size_t i, double time) const {
    return static_cast<float>(static_cast<double>(now[i]) - weighted_[i] / time);
  }

 private:
  std::vector<double> weighted_;  // sum of change * time of change
};

// What learning has reached.
struct SubsetWeights {
  std::vector<float> tokens;                  // [features, roles * types]
  std::vector<float> distances;               // [ranges, types], or empty
  std::shared_ptr<const FeatureTable> table;  // the pair features
  std::vector<float> pairs;                   // [pair features, types]
};

// Online learning of subset scores (McDonald, Crammer & Pereira 2005). The result is the mean of the weights after
// every sentence, or the last ones.
class SubsetLearner {
 public:
  // gold[s]: the correct subsets of sentence s; their scores are ignored. The rows must outlive the learner. Throws
  // std::invalid_argument if something does not fit together.
  SubsetLearner(const SparseRows& rows, const TokenInput& input, PairProgram pairs, std::size_t types,
                std::size_t max_gap, std::vector<std::vector<Subset>> gold, LearnerSettings settings);

  struct Epoch {
    double loss = 0;        // hinge loss, log loss, or number of wrong decisions, before each update
    std::size_t wrong = 0;  // sentences whose subsets of positive score are not the correct ones
    // Where the time went, in seconds: scores of cells, the k best, the smallest change, making it.
    double scoring = 0, searching = 0, solving = 0, updating = 0;
  };
  // Visits every sentence once, in random order.
  Epoch epoch();

  SubsetWeights weights(bool averaged) const;

 private:
  struct Constraint {
    double y, score;
    std::uint32_t type;
    SubsetCells cells;
    std::vector<std::vector<std::uint32_t>> pairs;  // of each skip: its features
  };

  void score(std::size_t s);
  void sort_rows(std::size_t s);
  Constraint constrain(std::size_t s, const Subset& subset, double y);
  double dot(std::size_t s, const Constraint& a, const Constraint& b);
  double token_dot(std::size_t s, std::size_t a, std::size_t b);
  // The score below which wrong subsets satisfy all constraints.
  double far(const std::vector<Constraint>& right) const;
  std::vector<double> gram(std::size_t s, const std::vector<Constraint>& all, const std::vector<std::size_t>& members);
  double loss(const std::vector<Constraint>& all) const;
  std::vector<double> steps(std::size_t s, const std::vector<Constraint>& all);
  void update(std::size_t s, const Constraint& one, double by);

  const SparseRows& rows_;
  PairProgram pairs_;
  std::vector<StringPool> pools_;
  PairValues values_;
  SkipLattice lattice_;
  std::vector<std::vector<Subset>> gold_;
  LearnerSettings settings_;
  Random random_;
  std::size_t types_, stride_;
  double seen_ = 1;  // sentences visited, plus one

  LearnedWeights tokens_;     // [features, stride]
  LearnedWeights distances_;  // [ranges, types]
  PairIndex index_;
  LearnedWeights pair_weights_;  // [index_.size(), types]

  // Of the sentence at hand: scores; the features of its tokens in ascending order; what tokens share.
  std::vector<double> table_, scores_;
  std::vector<std::pair<std::uint32_t, float>> sorted_;
  std::unordered_map<std::uint64_t, double> dots_;
};

}  // namespace spanloom
