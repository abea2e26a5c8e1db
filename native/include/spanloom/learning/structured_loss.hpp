#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "spanloom/inference/structure.hpp"
#include "spanloom/learning/supervision.hpp"

namespace spanloom {

// The losses of one sentence after another under fixed global scores, see Supervision. It has buffers: one per thread.
class SentenceLosses {
 public:
  SentenceLosses(const Structure& structure, const Supervision& supervision, std::span<const double> global);

  // Returns the loss of a sentence and fills gradient[t, y], the derivative by its scores; both are tables with padded
  // rows. The derivatives by global scores are kept for finish(). Throws std::domain_error if the loss is not finite.
  double add(Unit unit, const double* scores, double* gradient);

  // The same where each sentence is finished before the next: its global derivatives are summed up by themselves.
  double add_alone(Unit unit, const double* scores, double* gradient);

  // Adds the derivatives by global scores since the beginning to out[0 .. global_cells).
  void finish(std::span<double> out);

 private:
  Solver& made(std::unique_ptr<Solver>& solver) const;

  const Structure& structure_;
  const Supervision& supervision_;
  std::vector<double> global_;
  std::unique_ptr<Solver> together_, alone_;  // for add and add_alone, made when needed
  std::vector<double> global_gradient_;
  std::vector<double> global_alone_, global_allowed_, allowed_;
};

// The sum of the losses of sentences, from score tables; it knows nothing of where scores come from.
class StructuredLoss {
 public:
  // Fills out with the scores of sites [first, last), rows padded to the stride.
  using Scores = std::function<void(std::size_t first, std::size_t last, double* out)>;
  // Takes the derivatives by these scores, in the same shape.
  using Gradient = std::function<void(std::size_t first, std::size_t last, const double* gradient)>;

  // threads: 0 for all cores
  StructuredLoss(std::shared_ptr<const Structure> structure, Supervision supervision, int threads);

  const Structure& structure() const { return *structure_; }
  const Supervision& supervision() const { return supervision_; }
  int threads() const { return threads_; }

  // Returns the loss of sentences with the sites [site_ptr[g], site_ptr[g + 1]) and sets global_gradient. `scores` and
  // `gradient` are called once a sentence, from several threads; the result is the same for any number of them.
  // The supervision must have been checked against site_ptr.
  double evaluate(std::span<const std::int64_t> site_ptr, std::span<const double> global, const Scores& scores,
                  const Gradient& gradient, std::span<double> global_gradient) const;

  // The same for scores [sites * columns] of all sentences; fills gradient, of the same size. Checks all sizes.
  double evaluate(std::span<const std::int64_t> site_ptr, std::span<const double> scores,
                  std::span<const double> global, std::span<double> gradient, std::span<double> global_gradient) const;

 private:
  std::shared_ptr<const Structure> structure_;
  Supervision supervision_;
  int threads_;
};

}  // namespace spanloom
