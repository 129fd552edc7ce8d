#include "kernels.hpp"

#include <cmath>
#include <limits>

#include "aligned.hpp"
#include "clones.hpp"
#include "vector_math.hpp"

namespace tagalong::kernels {
namespace {

// Rows are whole lines, so loops go line by line: what the compiler unrolls needs no test a vector.
template <class T>
constexpr std::size_t kLine = kCacheLine / sizeof(T);

// Several rows at a time: the running sums are read and written once for all of them, and all of
// them are on their way from memory together. The order of the additions is that of one by one.
template <std::size_t kRows, class T>
TAGALONG_INLINE void add_group(T* __restrict out, const T* const* rows, const T* x, std::size_t n) {
    const T* row[kRows];
    T by[kRows];
    for (std::size_t r = 0; r < kRows; ++r) {
        row[r] = rows[r];
        by[r] = x[r];
    }
#pragma omp simd
    for (std::size_t k = 0; k < n; ++k) {
        T sum = out[k];
        for (std::size_t r = 0; r < kRows; ++r) sum += by[r] * row[r][k];
        out[k] = sum;
    }
}

template <class T>
TAGALONG_INLINE void add_rows_body(T* __restrict out, const T* const* rows, const T* x, std::size_t count,
                                   std::size_t n) {
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (std::size_t ahead = i + 8; ahead < i + 16 && ahead < count; ++ahead) {
            __builtin_prefetch(rows[ahead]);
            __builtin_prefetch(rows[ahead] + kLine<T>);
        }
        add_group<8>(out, rows + i, x + i, n);
    }
    for (; i + 4 <= count; i += 4) add_group<4>(out, rows + i, x + i, n);
    for (; i < count; ++i) add_group<1>(out, rows + i, x + i, n);
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

template <class T>
TAGALONG_INLINE double add_scaled_norm_body(T* __restrict row, const T* __restrict alpha, T x,
                                            std::size_t n) {
    T squares[kLine<T>] = {};
    for (std::size_t k = 0; k < n; k += kLine<T>)
#pragma omp simd
        for (std::size_t i = 0; i < kLine<T>; ++i) {
            const T value = row[k + i] + alpha[k + i] * x;
            row[k + i] = value;
            squares[i] += value * value;
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
    // Nearly always all are finite and within bounds, which is quicker found out than mended.
    int beyond = 0;
#pragma omp simd reduction(| : beyond)
    for (std::size_t k = 0; k < n; ++k) {
        const double wide = static_cast<double>(values[k]);
        beyond |= !(std::abs(wide) <= kWidest);
        out[k] = wide;
    }
    if (beyond)
        for (std::size_t k = 0; k < n; ++k) out[k] = widened(values[k]);
}

template <class T>
TAGALONG_INLINE void narrow_body(const double* __restrict values, double factor, T* __restrict out, std::size_t n) {
#pragma omp simd
    for (std::size_t k = 0; k < n; ++k) out[k] = static_cast<T>(factor * values[k]);
}

template <class T>
TAGALONG_INLINE std::int32_t count_from_body(const T* values, T bound, std::size_t n) {
    std::int32_t count = 0;
#pragma omp simd reduction(+ : count)
    for (std::size_t k = 0; k < n; ++k) count += values[k] >= bound;
    return count;
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
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t e = 0; e < n; ++e) sum += std::abs(static_cast<double>(values[e]));
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
TAGALONG_CLONES std::int32_t count_from(const double* values, double bound, std::size_t n) {
    return count_from_body(values, bound, n);
}
TAGALONG_CLONES FromAndAbove count_from_and_above(const float* values, float bound, std::size_t n) {
    return count_from_and_above_body(values, bound, n);
}
TAGALONG_CLONES FromAndAbove count_from_and_above(const double* values, double bound, std::size_t n) {
    return count_from_and_above_body(values, bound, n);
}
TAGALONG_CLONES void widen(const float* values, double* out, std::size_t n) { widen_body(values, out, n); }
TAGALONG_CLONES void widen(const double* values, double* out, std::size_t n) { widen_body(values, out, n); }
TAGALONG_CLONES void narrow(const double* values, double factor, float* out, std::size_t n) {
    narrow_body(values, factor, out, n);
}
TAGALONG_CLONES void narrow(const double* values, double factor, double* out, std::size_t n) {
    narrow_body(values, factor, out, n);
}
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
    return add_scaled_norm_body(row, alpha, x, n);
}
TAGALONG_CLONES double add_scaled_norm(double* row, const double* alpha, double x, std::size_t n) {
    return add_scaled_norm_body(row, alpha, x, n);
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
    double top = values[0];
#pragma omp simd reduction(max : top)
    for (std::size_t k = 0; k < n; ++k) top = values[k] > top ? values[k] : top;
    return top;
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
    double count = 0, sum = 0;
#pragma omp simd reduction(+ : count, sum)
    for (std::size_t k = 0; k < n; ++k) {
        count += values[k] > bound ? 1.0 : 0.0;
        sum += values[k] > bound ? values[k] : 0.0;
    }
    return {count, sum};
}

}  // namespace tagalong::kernels
