#include "spanloom/inference/segment_sums.hpp"

namespace spanloom {

void SegmentSums::add_up(const Lattice& lattice, const double* scores) {
  const std::int32_t n = lattice.tokens;
  const bool inside = lattice.layout.inside, gaps = lattice.layout.gaps;
  values_.resize(at(lattice.segments()));
  std::copy_n(scores + at(lattice.span(0)), at(lattice.segments()), values_.data());
  // running_: inside(i) + … + inside(t - 1) + left(i, 0) + … + left(i, q), and the same from the right
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t rows = lattice.left_rows(i);
    if (rows == 0 && !inside) continue;
    std::fill(running_.begin(), running_.end(), 0.0);
    std::int32_t t = i;
    for (std::int32_t q = 0; q < lattice.from(i); ++q) {
      const std::int32_t s = lattice.nth_from(i, q);
      for (; inside && t < lattice.end_of(s); ++t) add(scores + at(lattice.inside(t)), running_.data());
      if (q < rows) add(scores + at(lattice.left_row[i] + q), running_.data());
      add(running_.data(), &values_[at(s)]);
    }
  }
  for (std::int32_t t = 0; t < n; ++t) {
    const std::int32_t rows = lattice.right_rows(t);
    if (rows == 0 && !gaps) continue;
    std::fill(running_.begin(), running_.end(), 0.0);
    if (gaps) add(scores + at(lattice.gap(t + 1)), running_.data());
    for (std::int32_t q = 0; q < lattice.to(t); ++q) {
      if (q < rows) add(scores + at(lattice.right_row[t] + q), running_.data());
      add(running_.data(), &values_[at(lattice.nth_to(t, q))]);
    }
  }
}

void SegmentSums::spread(const Lattice& lattice, double* expected) {
  const std::int32_t n = lattice.tokens;
  const bool inside = lattice.layout.inside, gaps = lattice.layout.gaps;
  if (gaps) std::fill_n(expected, at(lattice.gaps()), 0.0);
  if (inside) std::fill_n(expected + at(lattice.inside(0)), at(n), 0.0);
  std::copy_n(values_.data(), at(lattice.segments()), expected + at(lattice.span(0)));
  // running_: the segments from i, or to t, that are at least as long as the q-th
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t rows = lattice.left_rows(i);
    if (rows == 0 && !inside) continue;
    std::fill(running_.begin(), running_.end(), 0.0);
    std::int32_t t = i + lattice.longest_from(i);
    for (std::int32_t q = lattice.from(i); q-- > 0;) {
      const std::int32_t s = lattice.nth_from(i, q);
      // Tokens that longer segments cover, but not this one.
      for (; inside && t > lattice.end_of(s); --t) add(running_.data(), expected + at(lattice.inside(t - 1)));
      add(&values_[at(s)], running_.data());
      if (q < rows) std::copy_n(running_.data(), stride_, expected + at(lattice.left_row[i] + q));
    }
    for (; inside && t > i; --t) add(running_.data(), expected + at(lattice.inside(t - 1)));
  }
  for (std::int32_t t = 0; t < n; ++t) {
    const std::int32_t rows = lattice.right_rows(t);
    if (rows == 0 && !gaps) continue;
    std::fill(running_.begin(), running_.end(), 0.0);
    for (std::int32_t q = lattice.to(t); q-- > 0;) {
      add(&values_[at(lattice.nth_to(t, q))], running_.data());
      if (q < rows) std::copy_n(running_.data(), stride_, expected + at(lattice.right_row[t] + q));
    }
    if (gaps) std::copy_n(running_.data(), stride_, expected + at(lattice.gap(t + 1)));
  }
}

}  // namespace spanloom
