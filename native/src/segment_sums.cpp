#include "spanloom/segment_sums.hpp"

namespace spanloom {

void SegmentSums::add_up(const Lattice& lattice, const double* scores) {
  const std::int32_t n = lattice.tokens;
  values_.resize(at(lattice.segments()));
  start_.resize(static_cast<std::size_t>(lattice.segments()));
  // right_[right row]: right(j, 1) + … + right(j, k)
  const std::int32_t right_base = lattice.right_row[0];
  right_.assign(scores + at(right_base), scores + at(lattice.right_row[n]));
  for (std::int32_t t = 0; t < n; ++t) {
    for (std::int32_t r = lattice.right_row[t] + 1; r < lattice.right_row[t + 1]; ++r) {
      add(&right_[at(r - 1 - right_base)], &right_[at(r - right_base)]);
    }
  }
  for (std::int32_t i = 0; i < n; ++i) {
    // running_: first(i) + inside(i) + … + inside(t - 1) + left(i, 1) + …
    std::copy_n(scores + at(lattice.first(i)), stride_, running_.data());
    std::int32_t t = i;
    for (std::int32_t s = lattice.first_segment(i); s < lattice.first_segment(i + 1); ++s) {
      const std::int32_t j = lattice.end_of(s);
      for (; t < j; ++t) {
        if (lattice.layout.inside) add(scores + at(lattice.inside(t)), running_.data());
        if (t > i && lattice.left_row[i] + t - i - 1 < lattice.left_row[i + 1]) {
          add(scores + at(lattice.left_row[i] + t - i - 1), running_.data());
        }
      }
      start_[static_cast<std::size_t>(s)] = i;
      double* sum = &values_[at(s)];
      const double* last = scores + at(lattice.last(j - 1));
      const double* span = scores + at(lattice.span(s));
      for (std::size_t y = 0; y < stride_; ++y) sum[y] = running_[y] + last[y] + span[y];
      if (const std::int32_t inner = right_of(lattice, i, j); inner >= 0) add(&right_[at(inner - right_base)], sum);
    }
  }
}

// The last of the right rows that segment [i, j) reads, or -1 if it reads none.
std::int32_t SegmentSums::right_of(const Lattice& lattice, std::int32_t i, std::int32_t j) {
  const std::int32_t inner = std::min(j - i - 1, lattice.right_row[j] - lattice.right_row[j - 1]);
  return inner > 0 ? lattice.right_row[j - 1] + inner - 1 : -1;
}

void SegmentSums::spread(const Lattice& lattice, double* expected) {
  const std::int32_t n = lattice.tokens;
  std::fill_n(expected, at(lattice.span(0)), 0.0);
  std::copy_n(values_.data(), at(lattice.segments()), expected + at(lattice.span(0)));
  for (std::int32_t i = 0; i < n; ++i) {
    std::fill(running_.begin(), running_.end(), 0.0);
    std::int32_t t = lattice.end_of(lattice.first_segment(i + 1) - 1);
    for (std::int32_t s = lattice.first_segment(i + 1); s-- > lattice.first_segment(i);) {
      const std::int32_t j = lattice.end_of(s);
      // Tokens that longer segments cover, but not this one.
      for (; t > j; --t) spread_token(lattice, i, t - 1, expected);
      const double* p = &values_[at(s)];
      add(p, running_.data());
      add(p, expected + at(lattice.last(j - 1)));
      if (const std::int32_t inner = right_of(lattice, i, j); inner >= 0) add(p, expected + at(inner));
    }
    for (; t > i; --t) spread_token(lattice, i, t - 1, expected);
    std::copy_n(running_.data(), stride_, expected + at(lattice.first(i)));
  }
  for (std::int32_t t = 0; t < n; ++t) {
    for (std::int32_t r = lattice.right_row[t + 1] - 1; r > lattice.right_row[t]; --r) {
      add(expected + at(r), expected + at(r - 1));
    }
  }
}

void SegmentSums::spread_token(const Lattice& lattice, std::int32_t i, std::int32_t t, double* expected) const {
  if (lattice.layout.inside) add(running_.data(), expected + at(lattice.inside(t)));
  const std::int32_t row = lattice.left_row[i] + t - i - 1;
  if (t > i && row < lattice.left_row[i + 1]) std::copy_n(running_.data(), stride_, expected + at(row));
}

}  // namespace spanloom
