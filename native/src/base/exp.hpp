#pragma once
#include <bit>
#include <cstdint>

#include "spanloom/base/memory.hpp"

namespace spanloom::kernels {

// exp by range reduction x = k ln 2 + r and a polynomial in r, |r| <= ln 2 / 2; branch-free, so that it vectorises.
SPANLOOM_INLINE double exp_one(double x) {
  constexpr double kLowest = -708.0;
  constexpr double kHighest = 709.0;
  constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer in the low bits
  const double c = x < kLowest ? kLowest : (x > kHighest ? kHighest : x);
  const double shifted = c * 0x1.71547652b82fep0 + kShift;
  const auto k = std::bit_cast<std::int64_t>(shifted);
  const double kd = shifted - kShift;
  const double r = (c - kd * 0x1.62e42fee00000p-1) - kd * 0x1.a39ef35793c76p-33;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const double scaled = std::bit_cast<double>(std::bit_cast<std::int64_t>(p) +
                                              static_cast<std::int64_t>(static_cast<std::uint64_t>(k) << 52));
  return x < kLowest ? 0.0 : scaled;
}

}  // namespace spanloom::kernels
