// Loops over rows of weights, which take most of the running time. They are memory-bound,
// vectorised and compiled once per vector width. T is float or double. The row length n is a
// multiple of kLine<T>, the number of values per cache line.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagalong::kernels {

// out[k] = sum_i x[i] * rows[i][k], added in the order of i.
void score_rows(float* out, const float* const* rows, const float* x, std::size_t count,
                std::size_t n);
void score_rows(double* out, const double* const* rows, const double* x, std::size_t count,
                std::size_t n);

// out[k] += sum_i x[i] * rows[i][k], added in the order of i.
void add_rows(float* out, const float* const* rows, const float* x, std::size_t count,
              std::size_t n);
void add_rows(double* out, const double* const* rows, const double* x, std::size_t count,
              std::size_t n);

// A block of a sparse row: the weights of kBlock consecutive labels, starting at `label`, and the
// multiplier x.
inline constexpr std::size_t kBlock = 4;
template <class T>
struct Block {
    const T* numbers;
    T x;
    std::uint32_t label;
};
// out[label + k] += x * numbers[offset + k] for each block in order.
void add_blocks(float* out, const Block<float>* blocks, std::size_t count, std::size_t offset);
void add_blocks(double* out, const Block<double>* blocks, std::size_t count, std::size_t offset);

// row[k] += alpha[k] * x
void add_scaled(float* row, const float* alpha, float x, std::size_t n);
void add_scaled(double* row, const double* alpha, double x, std::size_t n);

// row[k] += alpha[k] * x. Returns the sum of the squares of the new row.
double add_scaled_norm(float* row, const float* alpha, float x, std::size_t n);
double add_scaled_norm(double* row, const double* alpha, double x, std::size_t n);
// Also means[k] += rounds * alpha[k] * x.
double add_scaled_norm(float* row, float* means, const float* alpha, float x, float rounds,
                       std::size_t n);
double add_scaled_norm(double* row, double* means, const double* alpha, double x, double rounds,
                       std::size_t n);

// The same, and sets `along` to the sum of alpha[k] times the old row[k].
double add_scaled_along(float* row, const float* alpha, float x, std::size_t n, double* along);
double add_scaled_along(double* row, const double* alpha, double x, std::size_t n, double* along);
double add_scaled_along(float* row, float* means, const float* alpha, float x, float rounds,
                        std::size_t n, double* along);
double add_scaled_along(double* row, double* means, const double* alpha, double x, double rounds,
                        std::size_t n, double* along);

// The same for parts of a row, which are cache lines or blocks of `width` numbers: the part at
// parts[i] gets the coefficients alpha[i * width], ... The means of a part are `means` numbers after
// it; 0 if there are none. Returns the growth of the sum of the squares.
double add_to_parts(float* const* parts, std::size_t width, std::size_t means, const float* alpha,
                    float x, float rounds, std::size_t count, double* along);
double add_to_parts(double* const* parts, std::size_t width, std::size_t means, const double* alpha,
                    double x, double rounds, std::size_t count, double* along);

// theta[k] += alpha[k] * x, e[k] = exp(theta[k] - shift[k]), gain[k] += new e[k] - old e[k],
// top[k] = max(top[k], theta[k] - shift[k]). Labels with alpha = 0 keep theta and e.
void add_exponential(float* theta, float* e, const float* alpha, float x, const double* shift,
                     double* gain, double* top, std::size_t n);
void add_exponential(double* theta, double* e, const double* alpha, double x, const double* shift,
                     double* gain, double* top, std::size_t n);

}  // namespace tagalong::kernels
