#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/base/memory.hpp"
#include "spanloom/base/random.hpp"
#include "spanloom/inference/structure.hpp"
#include "spanloom/learning/compressed.hpp"
#include "spanloom/learning/site_products.hpp"
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
// Several problems t over the same rows may have weights in common (see learning/sharing.py):
//
//   w_t = own_t + share * sum over s of own_s,   the penalty is l2 (sum_t |own_t|^2 + share |sum_t own_t|^2),
//
// where own_t is what w(mu) above is for one problem. A step for a sentence of problem t is then 1 + share times as
// long.
//
// Where l2 is small for the number of sentences, steps are short and rounds many. Then another minimum is easier to
// come to, that of P(w) + strength |w - y|^2, where
//
//   w(mu) = (l2 w_0(mu) + strength y) / (l2 + strength)   with w_0(mu) as w(mu) above;
//
// and y goes ahead of the weights (accelerated proximal point: Shalev-Shwartz & Zhang 2014; Lin, Mairal & Harchaoui
// 2015). The dual of P itself, at the same mu, stays a lower bound of its minimum.
//
// Most sentences are soon settled. A round is several passes over those whose last step promised more than the mean,
// then one over all. Sentences follow each other in an order drawn from the seed, on one thread.
class DualAscent {
 public:
  struct Problem {
    std::shared_ptr<const Structure> structure;
    Supervision supervision;
  };

  // x has no bundles, the problems have as many columns and global cells as each other and no masks, l2 > 0, and
  // share >= 0; std::invalid_argument otherwise.
  DualAscent(std::shared_ptr<const CompressedRows> x, std::vector<Problem> problems, double share, double l2,
             std::uint64_t seed);
  DualAscent(const DualAscent&) = delete;
  DualAscent& operator=(const DualAscent&) = delete;

  // From now on climbs the dual of P(w) + strength |w - towards|^2, from where it is; one problem only, and without
  // share.
  void pull(double strength, std::span<const double> towards);

  // Makes one round; returns D, which is at most the minimum of P.
  double round();

  // The w of a problem as the parameters of Likelihood: [classes * columns], then the global ones.
  std::vector<double> x(std::size_t problem) const;
  std::size_t problems() const { return problems_.size(); }
  std::size_t steps() const { return steps_; }  // sentences visited since the beginning

 private:
  struct Sentence {        // of one problem
    double step = 0.1;     // how far theta goes towards the scores of w
    double entropy = 0;    // H(mu)
    double promise = 1e9;  // about what the last step could have gained: the sentence's share of the gap, nearly
  };
  struct Trial {
    double entropy = 0;
    double slope = 0;  // of D along the step, on the average of its length
    double gain = 0;
  };

  // A sentence of a problem, and where its numbers are.
  struct Place {
    std::size_t problem, group;
    std::size_t first, sites;    // in rows
    std::size_t cells, globals;  // where its part of theta_ and mu_, and of global_theta_ and global_mu_, begins
  };

  Place place(std::size_t problem, std::size_t group) const;
  Sentence& own(const Place& at) { return sentences_[at.problem * groups() + at.group]; }
  std::size_t groups() const { return x_->rows.groups(); }
  double weight(const Place& at) const { return problems_[at.problem].supervision.weight(at.group); }
  void begin(const Place& at);
  void pass(double least);
  void visit(const Place& at);
  Trial attempt(const Place& at, double step);
  template <std::size_t Stride>
  void scatter(const Place& at, float factor, float* weights);
  void move(const Place& at, double sign);
  void gather(const Place& at, std::vector<double>& out);
  void accept(const Place& at, const Trial& trial);
  double infer(const Place& at);
  void refresh();
  void refresh(std::size_t problem);

  std::shared_ptr<const CompressedRows> x_;
  std::vector<Problem> problems_;
  double share_, l2_;
  double pulled_;              // l2 and what pulls
  std::vector<double> shift_;  // [parameters]: what w has of it
  Random random_;
  std::vector<float> squared_scale_;  // [classes]
  SiteProducts products_;
  std::size_t columns_, stride_, cells_;          // cells_: global ones
  std::vector<std::unique_ptr<Solver>> solvers_;  // where there are no global cells, one for each problem
  std::vector<Sentence> sentences_;               // [problems, sentences]
  std::vector<float> theta_, mu_;                 // [problems, sites, stride]
  std::vector<float> global_theta_, global_mu_;   // [problems, sentences, global cells]
  LargeVector<float> weights_;                    // [problems, classes, stride]: own score weights, times scale
  LargeVector<float> common_;                     // [classes, stride]: their sum, if something is shared
  std::vector<double> global_;                    // [problems, global cells]: own weights of global cells
  double square_ = 0;                             // the penalty over l2 after refresh()
  std::size_t steps_ = 0;
  bool begun_ = false;

  // Of the sentence at hand:
  std::vector<double> scores_, trial_, expected_, global_scores_, global_trial_, global_expected_;
  std::vector<double> common_scores_;
  std::vector<double> moved_;          // its scores after a step
  std::vector<float> change_;          // mu' - mu, times the sentence's weight
  std::vector<double> global_change_;  // the same of global cells
};

}  // namespace spanloom
