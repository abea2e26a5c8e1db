#include "spanloom/segment_sums.hpp"

namespace spanloom {

void SegmentSums::add_up(const Lattice& lattice, const double* scores) {
  const std::int32_t n = lattice.tokens;
  values_.resize(at(lattice.segments()));
  for (std::int32_t i = 0; i < n; ++i) {
    // running_: first(i) + inside(i) + … + inside(t - 1) + left(i, 1) + … + left(i, q)
    std::copy_n(scores + at(lattice.first(i)), stride_, running_.data());
    const std::int32_t rows = lattice.left_row[i + 1] - lattice.left_row[i];
    std::int32_t t = i;
    for (std::int32_t q = 0; q < lattice.from(i); ++q) {
      const std::int32_t s = lattice.nth_from(i, q);
      const std::int32_t j = lattice.end_of(s);
      for (; lattice.layout.inside && t < j; ++t) add(scores + at(lattice.inside(t)), running_.data());
      if (q > 0 && q <= rows) add(scores + at(lattice.left_row[i] + q - 1), running_.data());
      double* sum = &values_[at(s)];
      const double* last = scores + at(lattice.last(j - 1));
      const double* span = scores + at(lattice.span(s));
      for (std::size_t y = 0; y < stride_; ++y) sum[y] = running_[y] + last[y] + span[y];
    }
  }
  for (std::int32_t t = 0; t < n; ++t) {
    const std::int32_t rows = lattice.right_row[t + 1] - lattice.right_row[t];
    if (rows == 0) continue;
    std::fill(running_.begin(), running_.end(), 0.0);
    for (std::int32_t q = 1; q < lattice.to(t); ++q) {
      if (q <= rows) add(scores + at(lattice.right_row[t] + q - 1), running_.data());
      add(running_.data(), &values_[at(lattice.nth_to(t, q))]);
    }
  }
}

void SegmentSums::spread(const Lattice& lattice, double* expected) {
  const std::int32_t n = lattice.tokens;
  if (lattice.layout.inside) std::fill_n(expected + at(lattice.inside(0)), at(n), 0.0);
  std::copy_n(values_.data(), at(lattice.segments()), expected + at(lattice.span(0)));
  // running_: the segments from i, or to t, that are at least as long as the q-th
  for (std::int32_t i = 0; i < n; ++i) {
    std::fill(running_.begin(), running_.end(), 0.0);
    const std::int32_t rows = lattice.left_row[i + 1] - lattice.left_row[i];
    std::int32_t t = i + lattice.longest_from(i);
    for (std::int32_t q = lattice.from(i); q-- > 0;) {
      const std::int32_t s = lattice.nth_from(i, q);
      // Tokens that longer segments cover, but not this one.
      for (; lattice.layout.inside && t > lattice.end_of(s); --t) {
        add(running_.data(), expected + at(lattice.inside(t - 1)));
      }
      add(&values_[at(s)], running_.data());
      if (q > 0 && q <= rows) std::copy_n(running_.data(), stride_, expected + at(lattice.left_row[i] + q - 1));
    }
    for (; lattice.layout.inside && t > i; --t) add(running_.data(), expected + at(lattice.inside(t - 1)));
    std::copy_n(running_.data(), stride_, expected + at(lattice.first(i)));
  }
  for (std::int32_t t = 0; t < n; ++t) {
    std::fill(running_.begin(), running_.end(), 0.0);
    const std::int32_t rows = lattice.right_row[t + 1] - lattice.right_row[t];
    for (std::int32_t q = lattice.to(t); q-- > 0;) {
      add(&values_[at(lattice.nth_to(t, q))], running_.data());
      if (q > 0 && q <= rows) std::copy_n(running_.data(), stride_, expected + at(lattice.right_row[t] + q - 1));
    }
    std::copy_n(running_.data(), stride_, expected + at(lattice.last(t)));
  }
}

}  // namespace spanloom
