#include "blocks/dense_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/clones.hpp"

namespace tagalong::dense {
namespace {

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

// For two consecutive rows i = at and at + 1: row_i[k] -= sum over four pivot rows p of p[i] p[k],
// for k >= at. Up to three entries before `at` are computed too, but never read. Two rows at a
// time, so that the pivots are loaded once for both.
TAGALONG_INLINE void subtract_four_pivots(double* row, const double* pivots, std::size_t at,
                                          std::size_t width) {
    const double *a = pivots, *b = a + width, *c = b + width, *d = c + width;
    const double fa = a[at], fb = b[at], fc = c[at], fd = d[at];
    const double ga = a[at + 1], gb = b[at + 1], gc = c[at + 1], gd = d[at + 1];
    for (std::size_t k = at - at % kLanes; k < width; k += kLanes) {
        const Four va = *reinterpret_cast<const Four*>(a + k),
                   vb = *reinterpret_cast<const Four*>(b + k);
        const Four vc = *reinterpret_cast<const Four*>(c + k),
                   vd = *reinterpret_cast<const Four*>(d + k);
        *reinterpret_cast<Four*>(row + k) -= (fa * va + fb * vb) + (fc * vc + fd * vd);
        *reinterpret_cast<Four*>(row + width + k) -= (ga * va + gb * vb) + (gc * vc + gd * vd);
    }
}

}  // namespace

// Finishes four rows at a time and then subtracts their products from all later rows, so that all
// inner loops run along rows.
TAGALONG_CLONES void cholesky(double* u, std::size_t n) {
    const std::size_t width = padded_row(n);
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, u[i * width + i]);
    const double least = 1e-13 * largest + 1e-300;
    for (std::size_t from = 0; from < n; from += kLanes) {
        const std::size_t end = std::min(n, from + kLanes);
        for (std::size_t i = from; i < end; ++i) {
            double* row = u + i * width;
            for (std::size_t j = from; j < i; ++j) {
                const double* __restrict pivot = u + j * width;
                const double factor = pivot[i];
#pragma omp simd
                for (std::size_t k = i; k < n; ++k) row[k] -= factor * pivot[k];
            }
            const double inverse = 1 / std::sqrt(std::max(row[i], least));
            row[i] = std::max(row[i], least);
#pragma omp simd
            for (std::size_t k = i; k < n; ++k) row[k] *= inverse;
        }
        for (std::size_t i = end; i < n; i += 2)
            subtract_four_pivots(u + i * width, u + from * width, i, width);
    }
}

TAGALONG_CLONES void solve_cholesky(const double* u, std::size_t n, double* x) {
    const std::size_t width = padded_row(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = u + i * width;
        const double value = x[i] /= row[i];
#pragma omp simd
        for (std::size_t k = i + 1; k < n; ++k) x[k] -= value * row[k];
    }
    for (std::size_t i = n; i-- > 0;) {
        const double* row = u + i * width;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t k = i + 1; k < n; ++k) sum += row[k] * x[k];
        x[i] = (x[i] - sum) / row[i];
    }
}

TAGALONG_CLONES void subtract_rows(double* __restrict g, const double* Q, std::size_t m,
                                   const std::size_t* rows, const double* amounts,
                                   std::size_t count) {
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const double *a = Q + rows[i] * m, *b = Q + rows[i + 1] * m, *c = Q + rows[i + 2] * m,
                     *d = Q + rows[i + 3] * m;
        const double fa = amounts[i], fb = amounts[i + 1], fc = amounts[i + 2], fd = amounts[i + 3];
#pragma omp simd
        for (std::size_t k = 0; k < m; ++k)
            g[k] = (((g[k] - fa * a[k]) - fb * b[k]) - fc * c[k]) - fd * d[k];
    }
    for (; i < count; ++i) {
        const double* row = Q + rows[i] * m;
        const double amount = amounts[i];
#pragma omp simd
        for (std::size_t k = 0; k < m; ++k) g[k] -= amount * row[k];
    }
}

TAGALONG_CLONES GradientRange gradient_range(const double* g, const double* u, std::size_t m) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double most = -kInfinity, least = kInfinity;
#pragma omp simd reduction(max : most) reduction(min : least)
    for (std::size_t j = 0; j < m; ++j) {
        const double low = u[j] > 0 ? g[j] : kInfinity;
        most = g[j] > most ? g[j] : most;
        least = low < least ? low : least;
    }
    return {most, least};
}

}  // namespace tagalong::dense
