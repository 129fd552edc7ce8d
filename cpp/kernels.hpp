// The loops that numbers pass through: memory-bound, vectorised, compiled once per vector width.
// T is float or double. Rows of weights have lengths that are multiples of a cache line.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagalong::kernels {

// out[k] = sum_i x[i] * rows[i][k], summed in the order of i.
void score_rows(float* out, const float* const* rows, const float* x, std::size_t count, std::size_t n);
void score_rows(double* out, const double* const* rows, const double* x, std::size_t count, std::size_t n);

// The same added to what `out` holds.
void add_rows(float* out, const float* const* rows, const float* x, std::size_t count, std::size_t n);
void add_rows(double* out, const double* const* rows, const double* x, std::size_t count, std::size_t n);

// A cache line of a row: the numbers of the labels from `label` on, and what they are multiplied by.
template <class T>
struct Block {
    const T* numbers;
    T x;
    std::uint32_t label;
};
// out[label + k] += x * numbers[k] for each block, in their order.
void add_blocks(float* out, const Block<float>* blocks, std::size_t count);
void add_blocks(double* out, const Block<double>* blocks, std::size_t count);

// row[k] += alpha[k] * x
void add_scaled(float* row, const float* alpha, float x, std::size_t n);
void add_scaled(double* row, const double* alpha, double x, std::size_t n);

// row[k] += alpha[k] * x; the sum of the squares after it.
double add_scaled_norm(float* row, const float* alpha, float x, std::size_t n);
double add_scaled_norm(double* row, const double* alpha, double x, std::size_t n);
// The same, and means[k] += rounds * alpha[k] * x beside it.
double add_scaled_norm(float* row, float* means, const float* alpha, float x, float rounds, std::size_t n);
double add_scaled_norm(double* row, double* means, const double* alpha, double x, double rounds, std::size_t n);

// theta[k] += alpha[k] * x, e[k] = exp(theta[k] - shift[k]), gain[k] += new e[k] - old e[k],
// top[k] = max(top[k], theta[k] - shift[k]); labels with alpha = 0 stay as they are.
void add_exponential(float* theta, float* e, const float* alpha, float x, const double* shift,
                     double* gain, double* top, std::size_t n);
void add_exponential(double* theta, double* e, const double* alpha, double x, const double* shift,
                     double* gain, double* top, std::size_t n);

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
void bins(const float* values, double low, double width, std::int32_t count, std::int32_t* out, std::size_t n);
void bins(const double* values, double low, double width, std::int32_t count, std::int32_t* out, std::size_t n);

// The largest of n >= 1 numbers.
double largest(const double* values, std::size_t n);

// Where values[k] > bound, in order; the number of places. `out` has room for n.
std::size_t above(const double* values, double bound, int* out, std::size_t n);
// How many that are, and their sum.
struct Tally {
    double count, sum;
};
Tally tally_above(const double* values, double bound, std::size_t n);

// Loops over the entries of somebody's row.
// sum_e |values[e]|
double sum_of_magnitudes(const float* values, std::size_t n);
double sum_of_magnitudes(const double* values, std::size_t n);
// Whether all columns are from 0 to below `end`.
bool all_inside(const std::int32_t* columns, std::int64_t end, std::size_t n);
bool all_inside(const std::int64_t* columns, std::int64_t end, std::size_t n);
// How many columns are not above the one before them.
std::size_t descents(const std::int32_t* columns, std::size_t n);
bool no_zeros(const double* values, std::size_t n);
// feature[e] = columns[e] and value[e] = sign * values[e]; whether columns ascend and no value is 0.
bool copy_row(const std::int32_t* columns, const float* values, double sign, std::int32_t* feature, double* value,
              std::size_t n);
bool copy_row(const std::int32_t* columns, const double* values, double sign, std::int32_t* feature, double* value,
              std::size_t n);
bool copy_row(const std::int64_t* columns, const float* values, double sign, std::int32_t* feature, double* value,
              std::size_t n);
bool copy_row(const std::int64_t* columns, const double* values, double sign, std::int32_t* feature, double* value,
              std::size_t n);

}  // namespace tagalong::kernels
