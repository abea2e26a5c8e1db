#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

// The loops where the time goes. On x86-64 each is compiled twice, plainly and for AVX2 with FMA, and chosen at run
// time. Rows are padded to a stride that is a multiple of kLane, or half of it where that is enough, so that every loop
// runs over whole vectors.

namespace spanloom::kernels {

inline constexpr std::size_t kLane = 8;

constexpr std::size_t padded(std::size_t columns) {
  return columns <= kLane / 2 ? kLane / 2 : (columns + kLane - 1) / kLane * kLane;
}

// x[i] = exp(x[i]); exactly 0 for -inf and below the smallest normal number; within 2 ulp elsewhere.
void exp_all(double* x, std::size_t n);

// out[r, :] = sum over entries e of row r of values[e] * weights[ids[e], :], for rows [first, last). Rows may be those
// of the matrix or, for the transposed product, its columns. weights: [features, stride] float; out: [last - first,
// stride]; values may be null (all ones). Ids after the last row are for the rows that come next.
void gather_rows(const float* weights, std::size_t stride, const std::int64_t* row_ptr,
                 std::span<const std::uint32_t> ids, const float* values, std::size_t first, std::size_t last,
                 double* out);

// out[y] = sum over x < rows of vector[x] * matrix[x, y]; matrix: [rows, stride].
void vector_matrix(const double* vector, const double* matrix, std::size_t rows, std::size_t stride, double* out);

// matrix[x, y] += sum over i < n of left[i, x] * right[i, y]; left and right: [n, stride]; matrix: [rows, stride].
void add_outers(const double* left, const double* right, std::size_t n, std::size_t rows, std::size_t stride,
                double* matrix);

// The sum of x; n is a multiple of half of kLane.
double sum(const double* x, std::size_t n);

// out[i] = a[i] * b[i]; returns the sum of out.
double multiply_sum(const double* a, const double* b, std::size_t n, double* out);

// Whether a[i] > b[i] for all i; n is a multiple of kLane / 2.
bool all_above(const double* a, const double* b, std::size_t n);

// Writes every i with a[i] + b[i] >= limit to `places`, ascending, and returns how many there are; n is a multiple of
// kLane / 2.
std::size_t places_above(const double* a, const double* b, double limit, std::size_t n, std::int32_t* places);

// One Viterbi step: best[y] = scores[y] + max over x < rows of previous[x] + matrix[x, y], back[y] = the first best x.
void max_step(const double* previous, const double* matrix, const double* scores, std::size_t rows, std::size_t stride,
              double* best, std::int32_t* back);

// Sum of a[i] * b[i] (accumulated in a fixed order).
double dot(const double* a, const double* b, std::size_t n);
double dot(const float* a, const double* b, std::size_t n);

// Adds to sums the products of a with b, with c and with d.
void add_dots(const float* a, const float* b, const float* c, const double* d, std::size_t n, double* sums);

// One step of Adagrad for the weights of a feature: g = value * d[i] + decay * w[i], squares[i] += g^2,
// w[i] -= rate * g / sqrt(squares[i]).
void adagrad_step(const float* d, float value, float decay, float rate, std::size_t n, float* w, float* squares);

// y[i] += factor * x[i].
void add_scaled(double factor, const float* x, std::size_t n, double* y);

}  // namespace spanloom::kernels
