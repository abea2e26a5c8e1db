#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "spanloom/learning/objective.hpp"

namespace spanloom {

// Minimises objective(x) + l2 |x|^2 + l1 |x|_1, one iteration a call: L-BFGS with a weak Wolfe line search, or OWL-QN
// (Andrew & Gao 2007) when l1 > 0.
//
// For a large model an iteration outside the objective is limited by memory: the direction is therefore worked out on
// the products of the stored vectors instead of the vectors themselves (Chen et al. 2014), the history and the
// direction are kept in float, and everything that can be done while a block of the vectors is in the cache is done in
// one pass.
class Lbfgs {
 public:
  struct Options {
    double l1 = 0;
    double l2 = 0;
    std::size_t memory = 6;
    int max_evaluations = 20;  // in one line search
    int threads = 0;           // 0: all cores
  };
  struct Step {
    double value = 0;          // of the whole sum above
    double gradient_norm = 0;  // of its gradient (pseudo-gradient with l1)
    double x_norm = 0;
    double step_length = 0;
    int evaluations = 0;
    bool moved = true;  // false: no step lowers the value any more
    double lower_bound =
        -std::numeric_limits<double>::infinity();  // of the minimum, if the objective is convex; l2 > 0
  };

  Lbfgs(std::shared_ptr<Objective> objective, std::vector<double> x, Options options);

  const Step& state() const { return state_; }
  const Step& iterate();
  const std::vector<double>& x() const { return x_; }

 private:
  // What one pass over the vectors adds up; see point() and blocks().
  using Sums = std::vector<double>;
  struct Point {
    double value = 0;
    double slope = 0;  // along direction_
    double gradient_square = 0;
    double x_square = 0;
  };

  // Calls body(first, n, sums) on blocks of fixed size and adds up their sums in order, so that results are the same
  // for any number of threads.
  Sums blocks(std::size_t sums, const std::function<void(std::size_t, std::size_t, double*)>& body) const;

  Point point(const std::vector<double>& x, std::vector<double>& gradient);
  const std::vector<double>& steepest() const { return options_.l1 > 0 ? pseudo_ : gradient_; }
  void accept(const Point& point);
  void bound();
  double find_direction(double step);
  double move(double step);
  bool search();
  void remember(double step);
  void forget();

  std::shared_ptr<Objective> objective_;
  Options options_;
  Step state_;
  std::vector<double> x_, gradient_, pseudo_, next_x_, next_gradient_;
  std::vector<float> direction_;
  std::vector<std::vector<float>> history_;    // s_0, y_0, s_1, y_1 …, oldest first: steps and gradient changes
  std::vector<std::vector<double>> products_;  // products_[i][j] = history_[i] . history_[j]
  std::vector<double> to_gradient_;            // to_gradient_[i] = history_[i] . steepest()
  std::vector<double> values_;                 // at the points between which the steps of history_ go
};

}  // namespace spanloom
