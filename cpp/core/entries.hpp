// Loops over the columns and values of an input row: vectorised, compiled once per vector width.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagalong::kernels {

// sum_e |values[e]|
double sum_of_magnitudes(const float* values, std::size_t n);
double sum_of_magnitudes(const double* values, std::size_t n);
// Whether 0 <= column < end holds for all columns.
bool all_inside(const std::int32_t* columns, std::int64_t end, std::size_t n);
bool all_inside(const std::int64_t* columns, std::int64_t end, std::size_t n);
// The number of columns that are not greater than their predecessor.
std::size_t count_descents(const std::int32_t* columns, std::size_t n);
bool no_zeros(const double* values, std::size_t n);
// Sets feature[e] = columns[e] and value[e] = sign * values[e]. Returns whether the columns are
// strictly ascending and no value is 0.
bool copy_row(const std::int32_t* columns, const float* values, double sign, std::int32_t* feature,
              double* value, std::size_t n);
bool copy_row(const std::int32_t* columns, const double* values, double sign, std::int32_t* feature,
              double* value, std::size_t n);
bool copy_row(const std::int64_t* columns, const float* values, double sign, std::int32_t* feature,
              double* value, std::size_t n);
bool copy_row(const std::int64_t* columns, const double* values, double sign, std::int32_t* feature,
              double* value, std::size_t n);
// The scales of features change from scale[e] to relevance[e] / sqrt(S[e]), and again as S[e] grows
// by rate times the square of values[e]. Sets the changes of 1/2 length[e] scale[e] by the two.
void change_scales(const double* relevance, const double* length, const double* values, double rate,
                   double* S, double* scale, double* by_relevance, double* by_growth,
                   std::size_t n);

}  // namespace tagalong::kernels
