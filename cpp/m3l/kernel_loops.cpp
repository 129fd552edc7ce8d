#include "m3l/kernel_loops.hpp"

#include <algorithm>

#include "core/clones.hpp"

namespace tagalong::m3l {
namespace {

constexpr std::size_t kChunk = 256;

// The row where `value` is largest and positive; the first one on ties. Rows are processed in
// chunks: prepare(), then a vectorised maximum, then a search for its row.
template <class Value, class Prepare>
TAGALONG_INLINE RowValue largest(std::size_t rows, Value&& value, Prepare&& prepare) {
    RowValue best{rows, 0.0f};
    for (std::size_t from = 0; from < rows; from += kChunk) {
        const std::size_t to = std::min(rows, from + kChunk);
        prepare(from, to);
        float most = 0;
#pragma omp simd reduction(max : most)
        for (std::size_t i = from; i < to; ++i) {
            const float v = value(i);
            most = v > most ? v : most;
        }
        if (most > best.value) {
            best.value = most;
            std::size_t i = from;
            while (i + 1 < to && !(value(i) >= most)) ++i;
            best.row = i;
        }
    }
    return best;
}

constexpr auto no_preparation = [](std::size_t, std::size_t) {};

TAGALONG_INLINE float projected(float h, float b, float low, float high) {
    const float up = b < high ? h : 0.0f, down = b > low ? -h : 0.0f;
    return up > down ? up : down;
}

}  // namespace

TAGALONG_CLONES RowValue subtract_step(float* h, const float* row_p, float p, const float* row_q,
                                       float q, const float* b, const float* low, const float* high,
                                       std::size_t rows) {
    // Each chunk is updated and searched while it is in the first-level cache.
    return largest(
        rows,
        [=](std::size_t i)
            __attribute__((always_inline)) { return projected(h[i], b[i], low[i], high[i]); },
        [=](std::size_t from, std::size_t to) __attribute__((always_inline)) {
#pragma omp simd
            for (std::size_t i = from; i < to; ++i) h[i] -= p * row_p[i] + q * row_q[i];
        });
}
TAGALONG_CLONES void subtract_four_rows(float* to, const float* const* from, const float* factor,
                                        std::size_t rows) {
    const float *a = from[0], *b = from[1], *c = from[2], *d = from[3];
    const float fa = factor[0], fb = factor[1], fc = factor[2], fd = factor[3];
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i)
        to[i] -= (fa * a[i] + fb * b[i]) + (fc * c[i] + fd * d[i]);
}

TAGALONG_CLONES RowValue most_violating(const float* h, const float* b, const float* low,
                                        const float* high, std::size_t rows) {
    return largest(
        rows,
        [=](std::size_t i)
            __attribute__((always_inline)) { return projected(h[i], b[i], low[i], high[i]); },
        no_preparation);
}

TAGALONG_CLONES RowValue best_partner(const float* h, const float* b, const float* low,
                                      const float* high, const float* row_p, const float* diagonal,
                                      std::size_t p, std::size_t rows) {
    const float hp = h[p], kpp = diagonal[p];
    const auto gain = [=](std::size_t i) __attribute__((always_inline)) {
        const float kpq = row_p[i], kqq = diagonal[i];
        const float determinant = kpp * kqq - kpq * kpq;
        const float numerator = hp * hp * kqq + h[i] * h[i] * kpp - 2.0f * hp * h[i] * kpq;
        const bool moves = projected(h[i], b[i], low[i], high[i]) > 0.0f;
        // Pairs of nearly dependent rows gain nothing over a step on one of them.
        const bool independent = determinant > 1e-5f * kpp * kqq;
        return moves & independent & (i != p) ? numerator / determinant : 0.0f;
    };
    return largest(rows, gain, no_preparation);
}

TAGALONG_CLONES void subtract_row(float* to, const float* from, float factor, std::size_t rows) {
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) to[i] -= factor * from[i];
}
TAGALONG_CLONES void add_four_rows(double* to, const float* const* from, const double* factor,
                                   std::size_t rows) {
    const float *a = from[0], *b = from[1], *c = from[2], *d = from[3];
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i)
        to[i] = (((to[i] + factor[0] * static_cast<double>(a[i])) +
                  factor[1] * static_cast<double>(b[i])) +
                 factor[2] * static_cast<double>(c[i])) +
                factor[3] * static_cast<double>(d[i]);
}

}  // namespace tagalong::m3l
