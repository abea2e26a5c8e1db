#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/base/memory.hpp"
#include "spanloom/base/random.hpp"
#include "spanloom/inference/structure.hpp"
#include "spanloom/learning/compressed.hpp"
#include "spanloom/learning/supervision.hpp"

namespace spanloom {

// Stochastic dual coordinate ascent for the likelihood (Shalev-Shwartz & Zhang 2013; for structures: Le Priol, Piché &
// Lacoste-Julien 2018). The minimum of
//
//   P(w) = sum over sentences i of c_i (log Z(X_i w) - q_i . X_i w) + l2 |w|^2
//
// with weights c and targets q is the maximum of
//
//   D(mu) = sum_i c_i H(mu_i) - l2 |w(mu)|^2,   w(mu) = sum_i c_i X_i^T (q_i - mu_i) / (2 l2),
//
// over expected uses mu of cells. Every sentence has scores theta_i of its own, with mu_i those under theta_i and
// H(mu_i) = log Z(theta_i) - theta_i . mu_i: the structure need not say how its entropy follows from mu. A step moves
// theta_i towards X_i w, where the two are equal at the optimum, as far as D rises, and w with it; D is known exactly,
// so that every step that lowers it is taken back and shortened. Steps that were good stay long: each sentence keeps
// its own. They go further than the best one by a little, as neighbours pull the same way (successive over-relaxation).
//
// Most sentences are soon settled. A round is several passes over those whose last step promised more than the mean,
// then one over all. Sentences follow each other in an order drawn from the seed, on one thread.
class DualAscent {
 public:
  // x has no bundles, the supervision no masks, and l2 > 0; std::invalid_argument otherwise.
  DualAscent(std::shared_ptr<const CompressedRows> x, std::shared_ptr<const Structure> structure,
             Supervision supervision, double l2, std::uint64_t seed);

  // Makes one round; returns D, which is at most the minimum of P.
  double round();

  // Parameters as those of Likelihood: [classes * columns], then the global ones.
  std::vector<double> x() const;
  std::size_t steps() const { return steps_; }  // sentences visited since the beginning
  std::size_t sentences() const { return x_->rows.groups(); }

 private:
  struct Sentence {
    double step = 0.1;     // how far theta goes towards the scores of w
    double entropy = 0;    // H(mu)
    double promise = 1e9;  // about what the last step could have gained: the sentence's share of the gap, nearly
  };
  struct Trial {
    double entropy = 0;
    double slope = 0;  // of D along the step, on the average of its length
    double gain = 0;
  };

  void begin(std::size_t g);
  void pass(double least);
  void visit(std::size_t g);
  Trial attempt(std::size_t g, double step);
  template <std::size_t Stride>
  void scatter(std::size_t first, std::size_t sites, float factor);
  template <std::size_t Stride>
  double square(std::size_t g);
  void find_shared();
  bool is_short(std::size_t g) const { return shared_ptr_[g] < shared_ptr_[g + 1]; }
  void move(std::size_t g, double sign);
  void gather(std::size_t g, std::vector<double>& out) const;
  void accept(std::size_t g, const Trial& trial);
  double infer(std::size_t g, std::size_t sites);
  void refresh();

  std::shared_ptr<const CompressedRows> x_;
  std::shared_ptr<const Structure> structure_;
  Supervision supervision_;
  double l2_;
  Random random_;
  std::size_t columns_, stride_, cells_;  // cells_: global ones
  std::unique_ptr<Solver> solver_;        // where there are no global cells, one for all
  std::vector<Sentence> sentences_;
  std::vector<float> theta_, mu_;                // [sites, stride]
  std::vector<float> global_theta_, global_mu_;  // [sentences, global cells]
  LargeVector<float> weights_;                   // [classes, stride]: score weights, times scale
  std::vector<float> squared_scale_;             // [classes]
  std::vector<double> global_;                   // weights of global cells
  std::vector<std::int64_t> shared_ptr_{0};      // [sentences + 1]: short ones have sites * sites numbers of:
  std::vector<float> shared_;                    //   how much each pair of sites shares
  double square_ = 0;                            // |w|^2 after refresh()
  std::size_t steps_ = 0;
  bool begun_ = false;

  // Of the sentence at hand:
  std::vector<double> scores_, trial_, expected_, global_trial_, global_expected_;
  std::vector<std::size_t> changed_;   // its sites that change
  std::vector<double> moved_;          // its scores after a step
  std::vector<float> change_;          // mu' - mu, times the sentence's weight
  std::vector<double> global_change_;  // the same of global cells
};

}  // namespace spanloom
