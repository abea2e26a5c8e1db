#pragma once
#include <cstdint>

#include "spanloom/base/memory.hpp"

namespace spanloom::kernels {

// x = exp(x), for a double or each of a vector of them that is at most 709, by range reduction x = k ln 2 + r and a
// polynomial in r, |r| <= ln 2 / 2, whose largest error (8e-18 of the value) is the least of its degree; branch-free.
// Bits: as many unsigned integers. Exactly 0 below the smallest normal number, whatever the polynomial makes of that.
template <class Bits, class Value>
SPANLOOM_INLINE void exp_in_place(Value& x) {
  constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer in the low bits
  const Value shifted = x * 0x1.71547652b82fep0 + kShift;
  const Value kd = shifted - kShift;
  const Value r = (x - kd * 0x1.62e42fee00000p-1) - kd * 0x1.a39ef35793c76p-33;
  Value p = Value{} + 0x1.af5f3fc752817p-26;
  p = p * r + 0x1.28b3d0c1fb2dfp-22;
  p = p * r + 0x1.71ddf9008eca3p-19;
  p = p * r + 0x1.a01993fe8f71bp-16;
  p = p * r + 0x1.a01a01af1dc81p-13;
  p = p * r + 0x1.6c16c185e3918p-10;
  p = p * r + 0x1.111111110fa65p-7;
  p = p * r + 0x1.555555555047ep-5;
  p = p * r + 0x1.5555555555558p-3;
  p = p * r + 0x1.0000000000009p-1;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const Value scaled =
      __builtin_bit_cast(Value, __builtin_bit_cast(Bits, p) + (__builtin_bit_cast(Bits, shifted) << 52));
  x = x < Value{} - 708.0 ? Value{} : scaled;
}

}  // namespace spanloom::kernels
