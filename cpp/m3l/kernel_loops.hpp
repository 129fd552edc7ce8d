// The inner loops of the kernel solver, over the variables of one label: those of a working set, or
// of all rows.
#pragma once

#include <cstddef>

namespace tagalong::m3l {

// A row and its value; the row is `rows` if no row qualifies.
struct RowValue {
    std::size_t row;
    float value;
};

// The row with the largest absolute projected derivative, where low <= b <= high.
RowValue most_violating(const float* h, const float* b, const float* low, const float* high,
                        std::size_t rows);

// h -= p * row_p + q * row_q; then returns most_violating().
RowValue subtract_step(float* h, const float* row_p, float p, const float* row_q, float q,
                       const float* b, const float* low, const float* high, std::size_t rows);
// to -= the sum of four rows, each times its factor
void subtract_four_rows(float* to, const float* const* from, const float* factor, std::size_t rows);

// The second variable of a pair step (P4's Eq. 30 without its constant factor): the row q other
// than p for which the best step on both, bounds ignored, gains most,
//
//     (h_p^2 K_qq + h_q^2 K_pp - 2 h_p h_q K_pq) / (K_pp K_qq - K_pq^2),
//
// among rows whose projected derivative is not 0.
RowValue best_partner(const float* h, const float* b, const float* low, const float* high,
                      const float* row_p, const float* diagonal, std::size_t p, std::size_t rows);

// to -= factor * from
void subtract_row(float* to, const float* from, float factor, std::size_t rows);
// to += each of four rows times its factor, one after the other: a factor of 0 changes no bit
void add_four_rows(double* to, const float* const* from, const double* factor, std::size_t rows);

}  // namespace tagalong::m3l
