#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "aligned.hpp"
#include "clones.hpp"
#include "vector_math.hpp"

namespace tagalong::kernels {
namespace {

// Rows are whole lines, so loops go line by line: what the compiler unrolls needs no test a vector.
template <class T>
constexpr std::size_t kLine = kCacheLine / sizeof(T);

// Several rows at a time: the running sums are read and written once for all of them. The order of
// the additions is that of one by one. Rows lie anywhere and are short, so the processor does not
// guess them: those of the next group are asked for, line by line, while this one is added.
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
        for (std::size_t k = line; k < line + kLine<T>; ++k) {
            T sum = out[k];
            for (std::size_t r = 0; r < kRows; ++r) sum += by[r] * row[r][k];
            out[k] = sum;
        }
    }
}

template <class T>
TAGALONG_INLINE void add_rows_body(T* __restrict out, const T* const* rows, const T* x, std::size_t count,
                                   std::size_t n) {
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

// Lines of sparse rows lie anywhere, so they are asked for well ahead.
template <class T>
TAGALONG_INLINE void add_blocks_body(T* __restrict out, const Block<T>* blocks, std::size_t count) {
    constexpr std::size_t ahead = 12;
    for (std::size_t i = 0; i < count; ++i) {
        if (i + ahead < count) __builtin_prefetch(blocks[i + ahead].numbers);
        const T* numbers = blocks[i].numbers;
        const T x = blocks[i].x;
        T* to = out + blocks[i].label;
#pragma omp simd
        for (std::size_t k = 0; k < kLine<T>; ++k) to[k] += x * numbers[k];
    }
}

template <class T>
TAGALONG_INLINE void add_scaled_body(T* __restrict row, const T* __restrict alpha, T x, std::size_t n) {
    for (std::size_t k = 0; k < n; k += kLine<T>)
#pragma omp simd
        for (std::size_t i = 0; i < kLine<T>; ++i) row[k + i] += alpha[k + i] * x;
}

// With or without the plane of means, which lies elsewhere.
template <bool kMeans, class T>
TAGALONG_INLINE double add_scaled_norm_body(T* __restrict row, [[maybe_unused]] T* __restrict means,
                                            const T* __restrict alpha, T x, [[maybe_unused]] T rounds,
                                            std::size_t n) {
    T squares[kLine<T>] = {};
    for (std::size_t k = 0; k < n; k += kLine<T>)
#pragma omp simd
        for (std::size_t i = 0; i < kLine<T>; ++i) {
            const T step = alpha[k + i] * x;
            const T value = row[k + i] + step;
            row[k + i] = value;
            squares[i] += value * value;
            if constexpr (kMeans) means[k + i] += rounds * step;
        }
    for (std::size_t half = kLine<T> / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) squares[i] += squares[half + i];
    const T total = squares[0];
    if (total <= std::numeric_limits<T>::max()) return static_cast<double>(total);
    // The squares overflow the storage type, the weights do not.
    double wide = 0;
    for (std::size_t k = 0; k < n; ++k) wide += static_cast<double>(row[k]) * static_cast<double>(row[k]);
    return wide;
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
        const T power = alpha[k] == 0 ? e[k] : static_cast<T>(vector_exp(above > 60.0 ? 60.0 : above));
        theta[k] = value;
        gain[k] += static_cast<double>(power) - static_cast<double>(e[k]);
        top[k] = above > top[k] ? above : top[k];
        e[k] = power;
    }
}

template <class T>
TAGALONG_INLINE void widen_body(const T* __restrict values, double* __restrict out, std::size_t n) {
    constexpr T bound = sizeof(T) == 4 ? std::numeric_limits<float>::max() : static_cast<T>(kWidest);
    // Nearly always all are finite and within bounds, which is quicker found out than mended.
    std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t> within = -1;
#pragma omp simd reduction(& : within)
    for (std::size_t k = 0; k < n; ++k) {
        within &= std::abs(values[k]) <= bound ? -1 : 0;
        out[k] = static_cast<double>(values[k]);
    }
    if (!within)
        for (std::size_t k = 0; k < n; ++k) out[k] = widened(values[k]);
}

template <class T>
TAGALONG_INLINE void narrow_body(const double* __restrict values, T* __restrict out, std::size_t n) {
#pragma omp simd
    for (std::size_t k = 0; k < n; ++k) out[k] = static_cast<T>(values[k]);
}

// Line by line until there is one in it.
template <class T>
TAGALONG_INLINE std::size_t first_above_body(const T* values, T bound, std::size_t from, std::size_t n) {
    for (; from + kLine<T> <= n; from += kLine<T>) {
        std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t> any = 0;
#pragma omp simd reduction(| : any)
        for (std::size_t i = 0; i < kLine<T>; ++i) any |= values[from + i] > bound ? -1 : 0;
        if (any) break;
    }
    while (from < n && !(values[from] > bound)) ++from;
    return from;
}

template <class T>
TAGALONG_INLINE void bins_body(const T* __restrict values, double low, double width, std::int32_t count,
                               std::int32_t* __restrict out, std::size_t n) {
    const double last = count - 1;
    const double from = width > 0 ? low : std::numeric_limits<double>::quiet_NaN();  // nothing is above it
#pragma omp simd
    for (std::size_t k = 0; k < n; ++k) {
        const double value = static_cast<double>(values[k]);
        const double at = (value - low) / width;
        const double bin = at < last ? at : last;
        out[k] = static_cast<std::int32_t>(value >= from ? bin : last + 1);
    }
}

template <class T>
TAGALONG_INLINE std::int32_t count_from_body(const T* values, T bound, std::size_t n) {
    std::int32_t count = 0;
#pragma omp simd reduction(+ : count)
    for (std::size_t k = 0; k < n; ++k) count += values[k] >= bound;
    return count;
}

template <class T>
TAGALONG_INLINE void minus_scaled_body(const T* a, const T* b, T factor, T* out, std::size_t n) {
#pragma omp simd
    for (std::size_t k = 0; k < n; ++k) out[k] = a[k] - factor * b[k];
}

template <class T>
TAGALONG_INLINE FromAndAbove count_from_and_above_body(const T* values, T bound, std::size_t n) {
    std::int32_t from = 0, above = 0;
#pragma omp simd reduction(+ : from, above)
    for (std::size_t k = 0; k < n; ++k) {
        from += values[k] >= bound;
        above += values[k] > bound;
    }
    return {from, above};
}

template <class T>
TAGALONG_INLINE double sum_of_magnitudes_body(const T* values, std::size_t n) {
    // Several sums: an addition need not wait for the one before it.
    constexpr std::size_t kSums = 16;
    double sums[kSums] = {};
    std::size_t e = 0;
    for (; e + kSums <= n; e += kSums)
#pragma omp simd
        for (std::size_t i = 0; i < kSums; ++i) sums[i] += std::abs(static_cast<double>(values[e + i]));
    double sum = 0;
    for (; e < n; ++e) sum += std::abs(static_cast<double>(values[e]));
    for (std::size_t i = 0; i < kSums; ++i) sum += sums[i];
    return sum;
}

// In the unsigned type, negative numbers are beyond every end.
template <class I, class U>
TAGALONG_INLINE bool all_inside_body(const I* columns, U end, std::size_t n) {
    I outside = 0;
#pragma omp simd reduction(| : outside)
    for (std::size_t e = 0; e < n; ++e) outside |= static_cast<U>(columns[e]) >= end;
    return outside == 0;
}

template <class I, class T>
TAGALONG_INLINE bool copy_row_body(const I* __restrict columns, const T* __restrict values, double sign,
                                   std::int32_t* __restrict feature, double* __restrict value, std::size_t n) {
    std::int64_t zeros = 0;
#pragma omp simd reduction(+ : zeros)
    for (std::size_t e = 0; e < n; ++e) {
        const double given = static_cast<double>(values[e]);
        value[e] = sign * given;
        zeros += given == 0;
    }
    I wrong = 0;
    if (n > 0) feature[0] = static_cast<std::int32_t>(columns[0]);
#pragma omp simd reduction(| : wrong)
    for (std::size_t e = 1; e < n; ++e) {
        feature[e] = static_cast<std::int32_t>(columns[e]);
        wrong |= columns[e - 1] >= columns[e];
    }
    return zeros == 0 && wrong == 0;
}

}  // namespace

TAGALONG_CLONES double sum_of_magnitudes(const float* values, std::size_t n) {
    return sum_of_magnitudes_body(values, n);
}
TAGALONG_CLONES double sum_of_magnitudes(const double* values, std::size_t n) {
    return sum_of_magnitudes_body(values, n);
}
TAGALONG_CLONES bool all_inside(const std::int32_t* columns, std::int64_t end, std::size_t n) {
    return all_inside_body(columns, static_cast<std::uint32_t>(end), n);
}
TAGALONG_CLONES bool all_inside(const std::int64_t* columns, std::int64_t end, std::size_t n) {
    return all_inside_body(columns, static_cast<std::uint64_t>(end), n);
}
TAGALONG_CLONES std::size_t descents(const std::int32_t* columns, std::size_t n) {
    std::uint32_t found = 0;
#pragma omp simd reduction(+ : found)
    for (std::size_t e = 1; e < n; ++e) found += columns[e - 1] >= columns[e];
    return found;
}
TAGALONG_CLONES bool no_zeros(const double* values, std::size_t n) {
    std::int64_t zeros = 0;
#pragma omp simd reduction(+ : zeros)
    for (std::size_t e = 0; e < n; ++e) zeros += values[e] == 0;
    return zeros == 0;
}
TAGALONG_CLONES bool copy_row(const std::int32_t* columns, const float* values, double sign, std::int32_t* feature,
                              double* value, std::size_t n) {
    return copy_row_body(columns, values, sign, feature, value, n);
}
TAGALONG_CLONES bool copy_row(const std::int32_t* columns, const double* values, double sign, std::int32_t* feature,
                              double* value, std::size_t n) {
    return copy_row_body(columns, values, sign, feature, value, n);
}
TAGALONG_CLONES bool copy_row(const std::int64_t* columns, const float* values, double sign, std::int32_t* feature,
                              double* value, std::size_t n) {
    return copy_row_body(columns, values, sign, feature, value, n);
}
TAGALONG_CLONES bool copy_row(const std::int64_t* columns, const double* values, double sign, std::int32_t* feature,
                              double* value, std::size_t n) {
    return copy_row_body(columns, values, sign, feature, value, n);
}

TAGALONG_CLONES std::int32_t count_from(const float* values, float bound, std::size_t n) {
    return count_from_body(values, bound, n);
}
TAGALONG_CLONES void minus_scaled(const float* a, const float* b, float factor, float* out, std::size_t n) {
    minus_scaled_body(a, b, factor, out, n);
}
TAGALONG_CLONES std::int32_t count_from(const double* values, double bound, std::size_t n) {
    return count_from_body(values, bound, n);
}
TAGALONG_CLONES void minus_scaled(const double* a, const double* b, double factor, double* out, std::size_t n) {
    minus_scaled_body(a, b, factor, out, n);
}
TAGALONG_CLONES FromAndAbove count_from_and_above(const float* values, float bound, std::size_t n) {
    return count_from_and_above_body(values, bound, n);
}
TAGALONG_CLONES FromAndAbove count_from_and_above(const double* values, double bound, std::size_t n) {
    return count_from_and_above_body(values, bound, n);
}
TAGALONG_CLONES void widen(const float* values, double* out, std::size_t n) { widen_body(values, out, n); }
TAGALONG_CLONES void widen(const double* values, double* out, std::size_t n) { widen_body(values, out, n); }
TAGALONG_CLONES void narrow(const double* values, float* out, std::size_t n) { narrow_body(values, out, n); }
TAGALONG_CLONES void narrow(const double* values, double* out, std::size_t n) { narrow_body(values, out, n); }
TAGALONG_CLONES void score_rows(float* out, const float* const* rows, const float* x,
                                std::size_t count, std::size_t n) {
    score_rows_body(out, rows, x, count, n);
}
TAGALONG_CLONES void score_rows(double* out, const double* const* rows, const double* x,
                                std::size_t count, std::size_t n) {
    score_rows_body(out, rows, x, count, n);
}
TAGALONG_CLONES void add_rows(float* out, const float* const* rows, const float* x, std::size_t count,
                              std::size_t n) {
    add_rows_body(out, rows, x, count, n);
}
TAGALONG_CLONES void add_rows(double* out, const double* const* rows, const double* x, std::size_t count,
                              std::size_t n) {
    add_rows_body(out, rows, x, count, n);
}
TAGALONG_CLONES void add_blocks(float* out, const Block<float>* blocks, std::size_t count) {
    add_blocks_body(out, blocks, count);
}
TAGALONG_CLONES void add_blocks(double* out, const Block<double>* blocks, std::size_t count) {
    add_blocks_body(out, blocks, count);
}
TAGALONG_CLONES void add_scaled(float* row, const float* alpha, float x, std::size_t n) {
    add_scaled_body(row, alpha, x, n);
}
TAGALONG_CLONES void add_scaled(double* row, const double* alpha, double x, std::size_t n) {
    add_scaled_body(row, alpha, x, n);
}
TAGALONG_CLONES double add_scaled_norm(float* row, const float* alpha, float x, std::size_t n) {
    return add_scaled_norm_body<false>(row, static_cast<float*>(nullptr), alpha, x, float(0), n);
}
TAGALONG_CLONES double add_scaled_norm(float* row, float* means, const float* alpha, float x, float rounds, std::size_t n) {
    return add_scaled_norm_body<true>(row, means, alpha, x, rounds, n);
}
TAGALONG_CLONES double add_scaled_norm(double* row, const double* alpha, double x, std::size_t n) {
    return add_scaled_norm_body<false>(row, static_cast<double*>(nullptr), alpha, x, double(0), n);
}
TAGALONG_CLONES double add_scaled_norm(double* row, double* means, const double* alpha, double x, double rounds, std::size_t n) {
    return add_scaled_norm_body<true>(row, means, alpha, x, rounds, n);
}
TAGALONG_CLONES void add_exponential(float* theta, float* e, const float* alpha, float x,
                                     const double* shift, double* gain, double* top, std::size_t n) {
    add_exponential_body(theta, e, alpha, x, shift, gain, top, n);
}
TAGALONG_CLONES void add_exponential(double* theta, double* e, const double* alpha, double x,
                                     const double* shift, double* gain, double* top, std::size_t n) {
    add_exponential_body(theta, e, alpha, x, shift, gain, top, n);
}

TAGALONG_CLONES double largest(const double* values, std::size_t n) {
    constexpr std::size_t lanes = 2 * kLine<double>;
    double tops[lanes];
    for (double& top : tops) top = values[0];
    std::size_t k = 0;
    for (; k + lanes <= n; k += lanes)
#pragma omp simd
        for (std::size_t i = 0; i < lanes; ++i) tops[i] = values[k + i] > tops[i] ? values[k + i] : tops[i];
    double top = tops[0];
    for (const double other : tops) top = other > top ? other : top;
    for (; k < n; ++k) top = values[k] > top ? values[k] : top;
    return top;
}

TAGALONG_CLONES void bins(const float* values, double low, double width, std::int32_t count, std::int32_t* out,
                          std::size_t n) {
    bins_body(values, low, width, count, out, n);
}
TAGALONG_CLONES void bins(const double* values, double low, double width, std::int32_t count, std::int32_t* out,
                          std::size_t n) {
    bins_body(values, low, width, count, out, n);
}

TAGALONG_CLONES std::size_t first_above(const float* values, float bound, std::size_t from, std::size_t n) {
    return first_above_body(values, bound, from, n);
}
TAGALONG_CLONES std::size_t first_above(const double* values, double bound, std::size_t from, std::size_t n) {
    return first_above_body(values, bound, from, n);
}

std::size_t above(const double* values, double bound, int* out, std::size_t n) {
    std::size_t count = 0;
#pragma GCC unroll 8
    for (std::size_t k = 0; k < n; ++k) {
        out[count] = static_cast<int>(k);
        count += values[k] > bound;  // without a branch: the outcome is hard to predict
    }
    return count;
}

TAGALONG_CLONES Tally tally_above(const double* values, double bound, std::size_t n) {
    // Two halves side by side: half the steps, and two sums that do not wait for each other.
    const std::size_t half = n / 2;
    const double* const others = values + half;
    double sum = 0, other_sum = 0;
    std::int64_t count = 0;
#pragma omp simd reduction(+ : count, sum, other_sum)
    for (std::size_t k = 0; k < half; ++k) {
        count -= values[k] > bound ? std::int64_t{-1} : std::int64_t{0};
        sum += values[k] > bound ? values[k] : 0.0;
        count -= others[k] > bound ? std::int64_t{-1} : std::int64_t{0};
        other_sum += others[k] > bound ? others[k] : 0.0;
    }
    if (n % 2 != 0 && values[n - 1] > bound) {
        ++count;
        other_sum += values[n - 1];
    }
    return {static_cast<double>(count), sum + other_sum};
}

}  // namespace tagalong::kernels
