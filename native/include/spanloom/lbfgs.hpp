#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/objective.hpp"

namespace spanloom {

// Minimises objective(x) + l2 |x|^2 + l1 |x|_1, one iteration a call: L-BFGS with a weak Wolfe line search, or OWL-QN
// (Andrew & Gao 2007) when l1 > 0.
//
// The direction is worked out on the products of the stored vectors instead of the vectors themselves (Chen et al.
// 2014), so that an iteration reads its history twice instead of 2m times; the history is kept in float.
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
  };

  Lbfgs(std::shared_ptr<Objective> objective, std::vector<double> x, Options options);

  // The state at x: the first call evaluates it.
  const Step& state() const { return state_; }
  const Step& iterate();
  const std::vector<double>& x() const { return x_; }

 private:
  // Blocks of fixed size, so that sums are grouped in the same way for any number of threads.
  void blocks(const std::function<void(std::size_t block, std::size_t first, std::size_t n)>& body) const;
  double sum_blocks(const std::function<double(std::size_t first, std::size_t n)>& body) const;

  double evaluate(const std::vector<double>& x, std::vector<double>& gradient);
  void update_state(double value);
  void find_direction();
  bool search();
  void remember();

  std::shared_ptr<Objective> objective_;
  Options options_;
  Step state_;
  std::vector<double> x_, gradient_, steepest_, direction_, next_x_, next_gradient_;
  std::vector<std::vector<float>> history_;    // s_0, y_0, s_1, y_1 …, oldest first: steps and gradient changes
  std::vector<std::vector<double>> products_;  // products_[i][j] = history_[i] . history_[j]
};

}  // namespace spanloom
