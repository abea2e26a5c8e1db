#pragma once
#include <cstddef>
#include <span>

namespace spanloom {

// A smooth function to be minimised.
class Objective {
 public:
  virtual ~Objective() = default;
  virtual std::size_t size() const = 0;
  // Returns f(x) and fills gradient[0 .. size).
  virtual double evaluate(std::span<const double> x, std::span<double> gradient) = 0;
};

}  // namespace spanloom
