// Loops over the scores of all labels, a number a label: vectorised, compiled once per vector width.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagalong::kernels {

// In double precision. What overflowed becomes a huge number, so that differences stay numbers.
inline constexpr double kWidest = 1e300;
inline double widened(double value) {
    const double bounded = value > kWidest ? kWidest : (value < -kWidest ? -kWidest : value);
    return bounded == bounded ? bounded : 0.0;
}
void widen(const float* values, double* out, std::size_t n);
void widen(const double* values, double* out, std::size_t n);

// In the storage type.
void narrow(const double* values, float* out, std::size_t n);
void narrow(const double* values, double* out, std::size_t n);

// out[k] = a[k] - factor * b[k]; `out` may be `a`.
void minus_scaled(const float* a, const float* b, float factor, float* out, std::size_t n);
void minus_scaled(const double* a, const double* b, double factor, double* out, std::size_t n);

// How many are at least the bound.
std::int32_t count_from(const float* values, float bound, std::size_t n);
std::int32_t count_from(const double* values, double bound, std::size_t n);
// How many values are at least a bound, and how many above it.
struct FromAndAbove {
    std::int32_t from, above;
};
FromAndAbove count_from_and_above(const float* values, float bound, std::size_t n);
FromAndAbove count_from_and_above(const double* values, double bound, std::size_t n);

// The first place, not before `from`, whose value is above the bound; n if there is none.
std::size_t first_above(const float* values, float bound, std::size_t from, std::size_t n);
std::size_t first_above(const double* values, double bound, std::size_t from, std::size_t n);

// The bin of each value, of `count` bins of a width from `low` on; what lies beyond counts in the last,
// what lies below them, and everything if there is no width, has the number `count`.
void bins(const float* values, double low, double width, std::int32_t count, std::int32_t* out,
          std::size_t n);
void bins(const double* values, double low, double width, std::int32_t count, std::int32_t* out,
          std::size_t n);

// The largest of n >= 1 numbers.
double largest(const double* values, std::size_t n);

// Where values[k] > bound, in order; the number of places. `out` has room for n.
std::size_t above(const double* values, double bound, int* out, std::size_t n);
// How many that are, and their sum.
struct Tally {
    double count, sum;
};
Tally tally_above(const double* values, double bound, std::size_t n);

}  // namespace tagalong::kernels
