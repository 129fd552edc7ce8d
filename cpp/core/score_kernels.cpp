#include "core/score_kernels.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/aligned.hpp"
#include "core/clones.hpp"

namespace tagalong::kernels {
namespace {

template <class T>
TAGALONG_INLINE void to_finite_doubles_body(const T* __restrict values, double* __restrict out,
                                            std::size_t n) {
    constexpr T bound =
        sizeof(T) == 4 ? std::numeric_limits<float>::max() : static_cast<T>(kLargestFinite);
    // Nearly always all values are within bounds. Testing that is faster than clipping every value.
    std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t> within = -1;
#pragma omp simd reduction(& : within)
    for (std::size_t k = 0; k < n; ++k) {
        within &= std::abs(values[k]) <= bound ? -1 : 0;
        out[k] = static_cast<double>(values[k]);
    }
    if (!within)
        for (std::size_t k = 0; k < n; ++k) out[k] = to_finite_double(values[k]);
}

template <class T>
TAGALONG_INLINE void to_storage_body(const double* __restrict values, T* __restrict out,
                                     std::size_t n) {
#pragma omp simd
    for (std::size_t k = 0; k < n; ++k) out[k] = static_cast<T>(values[k]);
}

// Tests whole cache lines until one of them contains a value above the bound.
template <class T>
TAGALONG_INLINE std::size_t first_above_body(const T* values, T bound, std::size_t from,
                                             std::size_t n) {
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
TAGALONG_INLINE void bins_body(const T* __restrict values, double low, double width,
                               std::int32_t count, std::int32_t* __restrict out, std::size_t n) {
    const double last = count - 1;
    const double from =
        width > 0 ? low : std::numeric_limits<double>::quiet_NaN();  // value >= NaN is false
#pragma omp simd
    for (std::size_t k = 0; k < n; ++k) {
        const double value = static_cast<double>(values[k]);
        const double at = (value - low) / width;
        const double bin = at < last ? at : last;
        out[k] = static_cast<std::int32_t>(value >= from ? bin : last + 1);
    }
}

template <class T>
TAGALONG_INLINE std::int32_t count_at_least_body(const T* values, T bound, std::size_t n) {
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
TAGALONG_INLINE BoundCounts count_bound_body(const T* values, T bound, std::size_t n) {
    std::int32_t from = 0, above = 0;
#pragma omp simd reduction(+ : from, above)
    for (std::size_t k = 0; k < n; ++k) {
        from += values[k] >= bound;
        above += values[k] > bound;
    }
    return {from, above};
}

template <class T>
TAGALONG_INLINE Moments moments_body(const T* values, std::size_t n) {
    constexpr std::size_t lanes = 8;
    double sums[lanes] = {}, squares[lanes] = {};
    const std::size_t whole = n - n % lanes;
    for (std::size_t k = 0; k < whole; k += lanes)
#pragma omp simd
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const auto value = static_cast<double>(values[k + lane]);
            sums[lane] += value;
            squares[lane] += value * value;
        }
    for (std::size_t k = whole; k < n; ++k) {
        const auto value = static_cast<double>(values[k]);
        sums[k - whole] += value;
        squares[k - whole] += value * value;
    }
    Moments out{0, 0};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        out.sum += sums[lane];
        out.squares += squares[lane];
    }
    return out;
}

template <class T>
TAGALONG_INLINE double smallest_distance_body(const T* values, double point, double most,
                                              std::size_t n) {
    double least = most;
#pragma omp simd reduction(min : least)
    for (std::size_t k = 0; k < n; ++k) {
        const double distance = std::abs(static_cast<double>(values[k]) - point);
        least = distance < least ? distance : least;
    }
    return least;
}

}  // namespace

TAGALONG_CLONES Moments moments(const float* values, std::size_t n) {
    return moments_body(values, n);
}
TAGALONG_CLONES Moments moments(const double* values, std::size_t n) {
    return moments_body(values, n);
}
TAGALONG_CLONES double smallest_distance(const float* values, double point, double most,
                                         std::size_t n) {
    return smallest_distance_body(values, point, most, n);
}
TAGALONG_CLONES double smallest_distance(const double* values, double point, double most,
                                         std::size_t n) {
    return smallest_distance_body(values, point, most, n);
}
TAGALONG_CLONES void to_finite_doubles(const float* values, double* out, std::size_t n) {
    to_finite_doubles_body(values, out, n);
}
TAGALONG_CLONES void to_finite_doubles(const double* values, double* out, std::size_t n) {
    to_finite_doubles_body(values, out, n);
}
TAGALONG_CLONES void to_storage(const double* values, float* out, std::size_t n) {
    to_storage_body(values, out, n);
}
TAGALONG_CLONES void to_storage(const double* values, double* out, std::size_t n) {
    to_storage_body(values, out, n);
}
TAGALONG_CLONES void minus_scaled(const float* a, const float* b, float factor, float* out,
                                  std::size_t n) {
    minus_scaled_body(a, b, factor, out, n);
}
TAGALONG_CLONES void minus_scaled(const double* a, const double* b, double factor, double* out,
                                  std::size_t n) {
    minus_scaled_body(a, b, factor, out, n);
}
TAGALONG_CLONES std::int32_t count_at_least(const float* values, float bound, std::size_t n) {
    return count_at_least_body(values, bound, n);
}
TAGALONG_CLONES std::int32_t count_at_least(const double* values, double bound, std::size_t n) {
    return count_at_least_body(values, bound, n);
}
TAGALONG_CLONES BoundCounts count_bound(const float* values, float bound, std::size_t n) {
    return count_bound_body(values, bound, n);
}
TAGALONG_CLONES BoundCounts count_bound(const double* values, double bound, std::size_t n) {
    return count_bound_body(values, bound, n);
}

TAGALONG_CLONES double largest(const double* values, std::size_t n) {
    constexpr std::size_t lanes = 2 * kLine<double>;
    double tops[lanes];
    for (double& top : tops) top = values[0];
    std::size_t k = 0;
    for (; k + lanes <= n; k += lanes)
#pragma omp simd
        for (std::size_t i = 0; i < lanes; ++i)
            tops[i] = values[k + i] > tops[i] ? values[k + i] : tops[i];
    double top = tops[0];
    for (const double other : tops) top = other > top ? other : top;
    for (; k < n; ++k) top = values[k] > top ? values[k] : top;
    return top;
}

TAGALONG_CLONES void bins(const float* values, double low, double width, std::int32_t count,
                          std::int32_t* out, std::size_t n) {
    bins_body(values, low, width, count, out, n);
}
TAGALONG_CLONES void bins(const double* values, double low, double width, std::int32_t count,
                          std::int32_t* out, std::size_t n) {
    bins_body(values, low, width, count, out, n);
}

TAGALONG_CLONES std::size_t first_above(const float* values, float bound, std::size_t from,
                                        std::size_t n) {
    return first_above_body(values, bound, from, n);
}
TAGALONG_CLONES std::size_t first_above(const double* values, double bound, std::size_t from,
                                        std::size_t n) {
    return first_above_body(values, bound, from, n);
}

std::size_t indices_above(const double* values, double bound, int* out, std::size_t n) {
    std::size_t count = 0;
#pragma GCC unroll 8
    for (std::size_t k = 0; k < n; ++k) {
        out[count] = static_cast<int>(k);
        count += values[k] > bound;  // without a branch: the outcome is hard to predict
    }
    return count;
}

TAGALONG_CLONES CountAndSum count_and_sum_above(const double* values, double bound, std::size_t n) {
    // Both halves of the array in one loop: half the iterations, and two independent sums.
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
