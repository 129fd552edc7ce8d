#include "core/entries.hpp"

#include <cmath>

#include "core/clones.hpp"

namespace tagalong::kernels {
namespace {

template <class T>
TAGALONG_INLINE double sum_of_magnitudes_body(const T* values, std::size_t n) {
    // Independent partial sums: an addition does not wait for the previous one.
    constexpr std::size_t kSums = 16;
    double sums[kSums] = {};
    std::size_t e = 0;
    for (; e + kSums <= n; e += kSums)
#pragma omp simd
        for (std::size_t i = 0; i < kSums; ++i)
            sums[i] += std::abs(static_cast<double>(values[e + i]));
    double sum = 0;
    for (; e < n; ++e) sum += std::abs(static_cast<double>(values[e]));
    for (std::size_t i = 0; i < kSums; ++i) sum += sums[i];
    return sum;
}

// Converted to the unsigned type U, a negative column exceeds every `end`: one comparison tests
// both ends of the range.
template <class I, class U>
TAGALONG_INLINE bool all_inside_body(const I* columns, U end, std::size_t n) {
    I outside = 0;
#pragma omp simd reduction(| : outside)
    for (std::size_t e = 0; e < n; ++e) outside |= static_cast<U>(columns[e]) >= end;
    return outside == 0;
}

template <class I, class T>
TAGALONG_INLINE bool copy_row_body(const I* __restrict columns, const T* __restrict values,
                                   double sign, std::int32_t* __restrict feature,
                                   double* __restrict value, std::size_t n) {
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
TAGALONG_CLONES std::size_t count_descents(const std::int32_t* columns, std::size_t n) {
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
TAGALONG_CLONES bool copy_row(const std::int32_t* columns, const float* values, double sign,
                              std::int32_t* feature, double* value, std::size_t n) {
    return copy_row_body(columns, values, sign, feature, value, n);
}
TAGALONG_CLONES bool copy_row(const std::int32_t* columns, const double* values, double sign,
                              std::int32_t* feature, double* value, std::size_t n) {
    return copy_row_body(columns, values, sign, feature, value, n);
}
TAGALONG_CLONES bool copy_row(const std::int64_t* columns, const float* values, double sign,
                              std::int32_t* feature, double* value, std::size_t n) {
    return copy_row_body(columns, values, sign, feature, value, n);
}
TAGALONG_CLONES bool copy_row(const std::int64_t* columns, const double* values, double sign,
                              std::int32_t* feature, double* value, std::size_t n) {
    return copy_row_body(columns, values, sign, feature, value, n);
}

TAGALONG_CLONES void change_scales(const double* relevance, const double* length,
                                   const double* values, double rate, double* S, double* scale,
                                   double* by_relevance, double* by_growth, std::size_t n) {
#pragma omp simd
    for (std::size_t e = 0; e < n; ++e) {
        const double before = scale[e], between = relevance[e] / std::sqrt(S[e]);
        const double grown = S[e] + rate * values[e] * values[e];
        const double after = relevance[e] / std::sqrt(grown);
        by_relevance[e] = 0.5 * length[e] * (between - before);
        by_growth[e] = 0.5 * length[e] * (after - between);
        S[e] = grown;
        scale[e] = after;
    }
}

}  // namespace tagalong::kernels
