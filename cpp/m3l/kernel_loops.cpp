#include "m3l/kernel_loops.hpp"

#include <algorithm>

#include "core/clones.hpp"

namespace tagalong::m3l {
namespace {

constexpr std::size_t kPart = 256;

// Where a function of rows is largest; the first of equals. Parts are searched twice, so that the
// search for the largest value vectorises.
template <class Value, class Before>
TAGALONG_INLINE Best largest(std::size_t rows, Value&& value, Before&& before) {
    Best best{rows, 0.0f};
    for (std::size_t from = 0; from < rows; from += kPart) {
        const std::size_t to = std::min(rows, from + kPart);
        before(from, to);
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

constexpr auto nothing = [](std::size_t, std::size_t) {};

TAGALONG_INLINE float projected(float h, float b, float low, float high) {
    const float up = b < high ? h : 0.0f, down = b > low ? -h : 0.0f;
    return up > down ? up : down;
}

}  // namespace

TAGALONG_CLONES Best take_step(float* h, const float* row_p, float p, const float* row_q, float q,
                               const float* b, const float* low, const float* high,
                               std::size_t rows) {
    // A part is changed and looked at while it is in the nearest cache.
    return largest(
        rows,
        [=](std::size_t i)
            __attribute__((always_inline)) { return projected(h[i], b[i], low[i], high[i]); },
        [=](std::size_t from, std::size_t to) __attribute__((always_inline)) {
#pragma omp simd
            for (std::size_t i = from; i < to; ++i) h[i] -= p * row_p[i] + q * row_q[i];
        });
}
TAGALONG_CLONES void take_four(float* to, const float* const* from, const float* factor,
                               std::size_t rows) {
    const float *a = from[0], *b = from[1], *c = from[2], *d = from[3];
    const float fa = factor[0], fb = factor[1], fc = factor[2], fd = factor[3];
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i)
        to[i] -= (fa * a[i] + fb * b[i]) + (fc * c[i] + fd * d[i]);
}

TAGALONG_CLONES Best most_violating(const float* h, const float* b, const float* low,
                                    const float* high, std::size_t rows) {
    return largest(
        rows,
        [=](std::size_t i)
            __attribute__((always_inline)) { return projected(h[i], b[i], low[i], high[i]); },
        nothing);
}

TAGALONG_CLONES Best best_partner(const float* h, const float* b, const float* low,
                                  const float* high, const float* row_p, const float* diagonal,
                                  std::size_t p, std::size_t rows) {
    const float hp = h[p], kpp = diagonal[p];
    const auto gain = [=](std::size_t i) __attribute__((always_inline)) {
        const float kpq = row_p[i], kqq = diagonal[i];
        const float room = kpp * kqq - kpq * kpq;
        const float above = hp * hp * kqq + h[i] * h[i] * kpp - 2.0f * hp * h[i] * kpq;
        const bool moves = projected(h[i], b[i], low[i], high[i]) > 0.0f;
        // Rows that are nearly the same have nothing to add.
        const bool apart = room > 1e-5f * kpp * kqq;
        return moves & apart & (i != p) ? above / room : 0.0f;
    };
    return largest(rows, gain, nothing);
}

TAGALONG_CLONES void take(float* to, const float* from, float factor, std::size_t rows) {
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) to[i] -= factor * from[i];
}
TAGALONG_CLONES void give_four(double* to, const float* const* from, const double* factor,
                               std::size_t rows) {
    const float *a = from[0], *b = from[1], *c = from[2], *d = from[3];
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i)
        to[i] += (factor[0] * static_cast<double>(a[i]) + factor[1] * static_cast<double>(b[i])) +
                 (factor[2] * static_cast<double>(c[i]) + factor[3] * static_cast<double>(d[i]));
}

}  // namespace tagalong::m3l
