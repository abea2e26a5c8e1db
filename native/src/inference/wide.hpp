#pragma once
#include <cmath>

namespace spanloom {

// A number from 0 on with as large an exponent as anybody needs: value * 2^(256 * scale). Products and sums are as
// exact as those of doubles, and neither overflow nor underflow.
class Wide {
 public:
  Wide() = default;
  explicit Wide(double value) : value_(value) { settle(); }

  static Wide exp(double x) {
    constexpr double kStep = 177.445678223346;  // log 2^256
    if (!(x > -1e300)) return {};
    const double steps = std::floor(x / kStep);
    Wide made;
    made.value_ = std::exp(x - steps * kStep);
    made.scale_ = static_cast<long>(steps);
    made.settle();
    return made;
  }

  friend Wide operator*(const Wide& a, const Wide& b) {
    Wide made;
    made.value_ = a.value_ * b.value_;
    made.scale_ = a.scale_ + b.scale_;
    made.settle();
    return made;
  }

  // What is more than 2^256 times smaller is lost.
  friend Wide operator+(const Wide& a, const Wide& b) {
    if (a.value_ == 0) return b;
    if (b.value_ == 0) return a;
    if (a.scale_ < b.scale_) return b + a;
    if (a.scale_ - b.scale_ > 1) return a;
    Wide made = a;
    made.value_ += a.scale_ == b.scale_ ? b.value_ : b.value_ * kSmall;
    made.settle();
    return made;
  }

  // a / b, which is at most 1; 0 if b is.
  static double share(const Wide& a, const Wide& b) {
    if (a.value_ == 0 || b.value_ == 0 || b.scale_ - a.scale_ > 4) return 0.0;
    return std::ldexp(a.value_ / b.value_, static_cast<int>(256 * (a.scale_ - b.scale_)));
  }

 private:
  static constexpr double kSmall = 0x1p-256;

  void settle() {
    if (value_ > 0x1p128) {
      value_ *= kSmall;
      ++scale_;
    } else if (value_ < 0x1p-128 && value_ > 0) {
      value_ *= 0x1p256;
      --scale_;
    }
  }

  double value_ = 0;
  long scale_ = 0;
};

}  // namespace spanloom
