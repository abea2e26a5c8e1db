#pragma once
#include <cstddef>

// Tables of rows between double and single precision, and between rows with and without padding.

namespace spanloom::kernels {

// to[r, k] = factor[r] * from[r, k], in single precision; from: [rows, columns], to: [rows, stride], whose padding is
// left as it is. factor may be null: all ones.
void narrow_rows(const double* from, const double* factor, std::size_t rows, std::size_t columns, std::size_t stride,
                 float* to);

// to[r, k] = factor[r] * from[r, k]; from: [rows, stride], to: [rows, columns].
void scale_rows(const double* from, const double* factor, std::size_t rows, std::size_t columns, std::size_t stride,
                double* to);

}  // namespace spanloom::kernels
