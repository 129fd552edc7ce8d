#include "core/kernels.hpp"

#include <limits>

#include "core/aligned.hpp"
#include "core/clones.hpp"
#include "core/vector_math.hpp"

namespace tagalong::kernels {
namespace {

// Adds kRows rows at a time, so that the running sums are loaded and stored once per group. The
// order of the additions is the same as row by row. Rows consist of whole cache lines, so this and
// other loops proceed line by line: the compiler unrolls the inner loop without a bounds test per
// vector. Rows are short and scattered in memory, so the hardware prefetcher cannot predict them:
// while one group is added, the lines of the next group (`after` rows are left) are prefetched.
template <std::size_t kRows, class T>
TAGALONG_INLINE void add_group(T* __restrict out, const T* const* rows, const T* x, std::size_t n,
                               std::size_t after) {
    const T* row[kRows];
    const T* next[kRows];
    T by[kRows];
    for (std::size_t r = 0; r < kRows; ++r) {
        row[r] = rows[r];
        next[r] = rows[r < after ? kRows + r : r];
        by[r] = x[r];
    }
    for (std::size_t line = 0; line < n; line += kLine<T>) {
        if (after > 0)
            for (std::size_t r = 0; r < kRows; ++r) __builtin_prefetch(next[r] + line);
#pragma omp simd
        for (std::size_t i = 0; i < kLine<T>; ++i) {
            T sum = out[line + i];
            for (std::size_t r = 0; r < kRows; ++r) sum += by[r] * row[r][line + i];
            out[line + i] = sum;
        }
    }
}

template <class T>
TAGALONG_INLINE void add_rows_body(T* __restrict out, const T* const* rows, const T* x,
                                   std::size_t count, std::size_t n) {
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) add_group<8>(out, rows + i, x + i, n, count - i - 8);
    for (; i + 4 <= count; i += 4) add_group<4>(out, rows + i, x + i, n, 0);
    for (; i < count; ++i) add_group<1>(out, rows + i, x + i, n, 0);
}

template <class T>
TAGALONG_INLINE void score_rows_body(T* __restrict out, const T* const* rows, const T* x,
                                     std::size_t count, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) out[k] = 0;
    add_rows_body(out, rows, x, count, n);
}

// The blocks of sparse rows are scattered in memory, so they are prefetched well ahead.
template <class T>
TAGALONG_INLINE void add_blocks_body(T* __restrict out, const Block<T>* blocks, std::size_t count,
                                     std::size_t offset) {
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < count; ++i) {
        if (i + ahead < count) __builtin_prefetch(blocks[i + ahead].numbers + offset);
        const T* numbers = blocks[i].numbers + offset;
        const T x = blocks[i].x;
        T* to = out + blocks[i].label;
#pragma omp simd
        for (std::size_t k = 0; k < kBlock; ++k) to[k] += x * numbers[k];
    }
}

template <class T>
TAGALONG_INLINE void add_scaled_body(T* __restrict row, const T* __restrict alpha, T x,
                                     std::size_t n) {
    for (std::size_t k = 0; k < n; k += kLine<T>)
#pragma omp simd
        for (std::size_t i = 0; i < kLine<T>; ++i) row[k + i] += alpha[k + i] * x;
}

// The sum of the lanes, which is left in the first one.
template <std::size_t kLanes, class T>
TAGALONG_INLINE double sum_lanes(T* lanes) {
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[half + i];
    return static_cast<double>(lanes[0]);
}

// kMeans: also update the plane of means, a separate array. kAlong: also set `along` to the sum of
// alpha times the old row.
template <bool kMeans, bool kAlong, class T>
TAGALONG_INLINE double add_scaled_norm_body(T* __restrict row, [[maybe_unused]] T* __restrict means,
                                            const T* __restrict alpha, T x,
                                            [[maybe_unused]] T rounds, std::size_t n,
                                            [[maybe_unused]] double* along) {
    T squares[kLine<T>] = {};
    [[maybe_unused]] T products[kLine<T>] = {};
    for (std::size_t k = 0; k < n; k += kLine<T>)
#pragma omp simd
        for (std::size_t i = 0; i < kLine<T>; ++i) {
            const T step = alpha[k + i] * x;
            if constexpr (kAlong) products[i] += alpha[k + i] * row[k + i];
            const T value = row[k + i] + step;
            row[k + i] = value;
            squares[i] += value * value;
            if constexpr (kMeans) means[k + i] += rounds * step;
        }
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    if constexpr (kAlong) {
        *along = sum_lanes<kLine<T>>(products);
        if (!(*along >= -most && *along <= most)) {
            *along = 0;  // The products overflow: sum in double precision.
            for (std::size_t k = 0; k < n; ++k) {
                const auto a = static_cast<double>(alpha[k]);
                *along += a * (static_cast<double>(row[k]) - a * static_cast<double>(x));
            }
        }
    }
    const double total = sum_lanes<kLine<T>>(squares);
    if (total <= most) return total;
    // The squares overflow the storage type but the weights do not: sum in double precision.
    double wide = 0;
    for (std::size_t k = 0; k < n; ++k)
        wide += static_cast<double>(row[k]) * static_cast<double>(row[k]);
    return wide;
}

// The growth is summed in double precision: it adds up over all updates of a row.
template <std::size_t kWidth, class T>
TAGALONG_INLINE double add_to_parts_body(T* const* parts, std::size_t means, const T* alpha, T x,
                                         T rounds, std::size_t count, double* along) {
    double growths[kWidth] = {}, products[kWidth] = {};
    for (std::size_t part = 0; part < count; ++part) {
        T* const row = parts[part];
        const T* const a = alpha + part * kWidth;
#pragma omp simd
        for (std::size_t i = 0; i < kWidth; ++i) {
            const T old = row[i], value = old + a[i] * x;
            const double before = static_cast<double>(old), after = static_cast<double>(value);
            row[i] = value;
            growths[i] += (after - before) * (after + before);
            products[i] += static_cast<double>(a[i]) * before;
        }
        if (means == 0) continue;
#pragma omp simd
        for (std::size_t i = 0; i < kWidth; ++i) row[means + i] += rounds * (a[i] * x);
    }
    *along = sum_lanes<kWidth>(products);
    return sum_lanes<kWidth>(growths);
}
template <class T>
TAGALONG_INLINE double add_to_parts_body(T* const* parts, std::size_t width, std::size_t means,
                                         const T* alpha, T x, T rounds, std::size_t count,
                                         double* along) {
    return width == kBlock
               ? add_to_parts_body<kBlock>(parts, means, alpha, x, rounds, count, along)
               : add_to_parts_body<kLine<T>>(parts, means, alpha, x, rounds, count, along);
}

template <class T>
TAGALONG_INLINE void add_exponential_body(T* __restrict theta, T* __restrict e,
                                          const T* __restrict alpha, T x,
                                          const double* __restrict shift, double* __restrict gain,
                                          double* __restrict top, std::size_t n) {
#pragma omp simd
    for (std::size_t k = 0; k < n; ++k) {
        const T value = theta[k] + alpha[k] * x;
        const double above = static_cast<double>(value) - shift[k];
        const T power =
            alpha[k] == 0 ? e[k] : static_cast<T>(vector_exp(above > 60.0 ? 60.0 : above));
        theta[k] = value;
        gain[k] += static_cast<double>(power) - static_cast<double>(e[k]);
        top[k] = above > top[k] ? above : top[k];
        e[k] = power;
    }
}

}  // namespace

TAGALONG_CLONES void score_rows(float* out, const float* const* rows, const float* x,
                                std::size_t count, std::size_t n) {
    score_rows_body(out, rows, x, count, n);
}
TAGALONG_CLONES void score_rows(double* out, const double* const* rows, const double* x,
                                std::size_t count, std::size_t n) {
    score_rows_body(out, rows, x, count, n);
}
TAGALONG_CLONES void add_rows(float* out, const float* const* rows, const float* x,
                              std::size_t count, std::size_t n) {
    add_rows_body(out, rows, x, count, n);
}
TAGALONG_CLONES void add_rows(double* out, const double* const* rows, const double* x,
                              std::size_t count, std::size_t n) {
    add_rows_body(out, rows, x, count, n);
}
TAGALONG_CLONES void add_blocks(float* out, const Block<float>* blocks, std::size_t count,
                                std::size_t offset) {
    add_blocks_body(out, blocks, count, offset);
}
TAGALONG_CLONES void add_blocks(double* out, const Block<double>* blocks, std::size_t count,
                                std::size_t offset) {
    add_blocks_body(out, blocks, count, offset);
}
TAGALONG_CLONES void add_scaled(float* row, const float* alpha, float x, std::size_t n) {
    add_scaled_body(row, alpha, x, n);
}
TAGALONG_CLONES void add_scaled(double* row, const double* alpha, double x, std::size_t n) {
    add_scaled_body(row, alpha, x, n);
}
TAGALONG_CLONES double add_scaled_norm(float* row, const float* alpha, float x, std::size_t n) {
    return add_scaled_norm_body<false, false>(row, static_cast<float*>(nullptr), alpha, x, float(0),
                                              n, nullptr);
}
TAGALONG_CLONES double add_scaled_norm(float* row, float* means, const float* alpha, float x,
                                       float rounds, std::size_t n) {
    return add_scaled_norm_body<true, false>(row, means, alpha, x, rounds, n, nullptr);
}
TAGALONG_CLONES double add_scaled_norm(double* row, const double* alpha, double x, std::size_t n) {
    return add_scaled_norm_body<false, false>(row, static_cast<double*>(nullptr), alpha, x,
                                              double(0), n, nullptr);
}
TAGALONG_CLONES double add_scaled_norm(double* row, double* means, const double* alpha, double x,
                                       double rounds, std::size_t n) {
    return add_scaled_norm_body<true, false>(row, means, alpha, x, rounds, n, nullptr);
}
TAGALONG_CLONES double add_scaled_along(float* row, const float* alpha, float x, std::size_t n,
                                        double* along) {
    return add_scaled_norm_body<false, true>(row, static_cast<float*>(nullptr), alpha, x, float(0),
                                             n, along);
}
TAGALONG_CLONES double add_scaled_along(float* row, float* means, const float* alpha, float x,
                                        float rounds, std::size_t n, double* along) {
    return add_scaled_norm_body<true, true>(row, means, alpha, x, rounds, n, along);
}
TAGALONG_CLONES double add_scaled_along(double* row, const double* alpha, double x, std::size_t n,
                                        double* along) {
    return add_scaled_norm_body<false, true>(row, static_cast<double*>(nullptr), alpha, x,
                                             double(0), n, along);
}
TAGALONG_CLONES double add_scaled_along(double* row, double* means, const double* alpha, double x,
                                        double rounds, std::size_t n, double* along) {
    return add_scaled_norm_body<true, true>(row, means, alpha, x, rounds, n, along);
}
TAGALONG_CLONES double add_to_parts(float* const* parts, std::size_t width, std::size_t means,
                                    const float* alpha, float x, float rounds, std::size_t count,
                                    double* along) {
    return add_to_parts_body(parts, width, means, alpha, x, rounds, count, along);
}
TAGALONG_CLONES double add_to_parts(double* const* parts, std::size_t width, std::size_t means,
                                    const double* alpha, double x, double rounds, std::size_t count,
                                    double* along) {
    return add_to_parts_body(parts, width, means, alpha, x, rounds, count, along);
}
TAGALONG_CLONES void add_exponential(float* theta, float* e, const float* alpha, float x,
                                     const double* shift, double* gain, double* top,
                                     std::size_t n) {
    add_exponential_body(theta, e, alpha, x, shift, gain, top, n);
}
TAGALONG_CLONES void add_exponential(double* theta, double* e, const double* alpha, double x,
                                     const double* shift, double* gain, double* top,
                                     std::size_t n) {
    add_exponential_body(theta, e, alpha, x, shift, gain, top, n);
}

}  // namespace tagalong::kernels
