// Loops over the dense matrices of a block of rows: vectorised, compiled once per vector width.
#pragma once

#include <cstddef>

namespace tagalong::dense {

// Rows of factors are padded, so that loops go four numbers at a time without a rest.
inline constexpr std::size_t kTogether = 4;
constexpr std::size_t padded_row(std::size_t n) {
    return (n + kTogether - 1) / kTogether * kTogether;
}

// A = U' U of a symmetric n x n matrix, of which the upper half is read and becomes U, row by row; pivots
// are kept off zero, which amounts to a tiny ridge on rows that depend on others. There are padded_row(n)
// rows of as many numbers.
void cholesky(double* u, std::size_t n);
// U' U x = b, x in the place of b.
void solve_cholesky(const double* u, std::size_t n, double* x);

// g -= amount times row, for the rows of the m x m matrix Q that are listed, in their order.
void take_rows(double* __restrict g, const double* Q, std::size_t m, const std::size_t* rows,
               const double* amounts, std::size_t count);

// The largest of g, and the least of those where u > 0.
struct Ends {
    double most, least;
};
Ends ends_of(const double* g, const double* u, std::size_t m);

}  // namespace tagalong::dense
