// Loops over the scores of all labels, one number per label: vectorised, compiled once per vector
// width.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagalong::kernels {

// Conversion to double precision. Infinities and other huge values are clipped to
// +-kLargestFinite and NaN becomes 0, so that differences of scores are finite.
inline constexpr double kLargestFinite = 1e300;
inline double to_finite_double(double value) {
    const double bounded = value > kLargestFinite
                               ? kLargestFinite
                               : (value < -kLargestFinite ? -kLargestFinite : value);
    return bounded == bounded ? bounded : 0.0;
}
void to_finite_doubles(const float* values, double* out, std::size_t n);
void to_finite_doubles(const double* values, double* out, std::size_t n);

// Conversion to the storage type.
void to_storage(const double* values, float* out, std::size_t n);
void to_storage(const double* values, double* out, std::size_t n);

// out[k] = a[k] - factor * b[k]; `out` may be `a`.
void minus_scaled(const float* a, const float* b, float factor, float* out, std::size_t n);
void minus_scaled(const double* a, const double* b, double factor, double* out, std::size_t n);

// The number of values >= bound.
std::int32_t count_at_least(const float* values, float bound, std::size_t n);
std::int32_t count_at_least(const double* values, double bound, std::size_t n);
// The numbers of values >= bound and > bound.
struct BoundCounts {
    std::int32_t at_least, above;
};
BoundCounts count_bound(const float* values, float bound, std::size_t n);
BoundCounts count_bound(const double* values, double bound, std::size_t n);

// The smallest index k >= from with values[k] > bound; n if there is none.
std::size_t first_above(const float* values, float bound, std::size_t from, std::size_t n);
std::size_t first_above(const double* values, double bound, std::size_t from, std::size_t n);

// The histogram bin of each value: `count` bins of equal width that start at `low`. Values above
// the range fall into the last bin. Values below the range, and all values if the width is not
// positive, get the number `count`.
void bins(const float* values, double low, double width, std::int32_t count, std::int32_t* out,
          std::size_t n);
void bins(const double* values, double low, double width, std::int32_t count, std::int32_t* out,
          std::size_t n);

// The sum of the values and of their squares, in double precision. Summed in eight lanes whatever
// the vector width, so that the bits do not depend on it.
struct Moments {
    double sum, squares;
};
Moments moments(const float* values, std::size_t n);
Moments moments(const double* values, std::size_t n);

// The smallest distance of a value to a point; `most` if all are further away.
double smallest_distance(const float* values, double point, double most, std::size_t n);
double smallest_distance(const double* values, double point, double most, std::size_t n);

// The largest of n >= 1 numbers.
double largest(const double* values, std::size_t n);

// Writes the indices k with values[k] > bound to `out` in ascending order and returns their number.
// `out` must have room for n.
std::size_t indices_above(const double* values, double bound, int* out, std::size_t n);
// The number of values > bound, and their sum.
struct CountAndSum {
    double count, sum;
};
CountAndSum count_and_sum_above(const double* values, double bound, std::size_t n);

}  // namespace tagalong::kernels
