// Linear algebra on the dense matrices of a block of rows: vectorised, compiled once per vector
// width.
#pragma once

#include <cstddef>

namespace tagalong::dense {

// Rows of factors are padded to a multiple of kLanes numbers, so that loops need no remainder.
inline constexpr std::size_t kLanes = 4;
constexpr std::size_t padded_row(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// The Cholesky factorisation A = U' U of a symmetric n x n matrix in row-major order. Reads the
// upper triangle and replaces it by U. Pivots have a positive lower bound, which adds a tiny ridge
// to linearly dependent rows. The array has padded_row(n) rows of padded_row(n) numbers.
void cholesky(double* u, std::size_t n);
// Solves U' U x = b; x contains b on entry and the solution on return.
void solve_cholesky(const double* u, std::size_t n, double* x);

// g -= sum_i amounts[i] * (row rows[i] of the m x m matrix Q), subtracted in the order of i.
void subtract_rows(double* __restrict g, const double* Q, std::size_t m, const std::size_t* rows,
                   const double* amounts, std::size_t count);

// The largest g_j, and the smallest g_j among those with u_j > 0.
struct GradientRange {
    double most, least;
};
GradientRange gradient_range(const double* g, const double* u, std::size_t m);

}  // namespace tagalong::dense
