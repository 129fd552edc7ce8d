// The loops over rows of weights, where most of the time goes: memory-bound, vectorised, compiled once
// per vector width. T is float or double. The lengths of rows are multiples of a cache line.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagalong::kernels {

// out[k] = sum_i x[i] * rows[i][k], summed in the order of i.
void score_rows(float* out, const float* const* rows, const float* x, std::size_t count,
                std::size_t n);
void score_rows(double* out, const double* const* rows, const double* x, std::size_t count,
                std::size_t n);

// The same added to what `out` holds.
void add_rows(float* out, const float* const* rows, const float* x, std::size_t count,
              std::size_t n);
void add_rows(double* out, const double* const* rows, const double* x, std::size_t count,
              std::size_t n);

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
double add_scaled_norm(float* row, float* means, const float* alpha, float x, float rounds,
                       std::size_t n);
double add_scaled_norm(double* row, double* means, const double* alpha, double x, double rounds,
                       std::size_t n);

// theta[k] += alpha[k] * x, e[k] = exp(theta[k] - shift[k]), gain[k] += new e[k] - old e[k],
// top[k] = max(top[k], theta[k] - shift[k]); labels with alpha = 0 stay as they are.
void add_exponential(float* theta, float* e, const float* alpha, float x, const double* shift,
                     double* gain, double* top, std::size_t n);
void add_exponential(double* theta, double* e, const double* alpha, double x, const double* shift,
                     double* gain, double* top, std::size_t n);

}  // namespace tagalong::kernels
