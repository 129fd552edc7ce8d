// The loops that a step of the kernel solver makes, over the variables of a set or all rows, for one
// label.
#pragma once

#include <cstddef>

namespace tagalong::m3l {

// A row and what it is best at; `rows` if there is none.
struct Best {
    std::size_t row;
    float value;
};

// The largest projected derivative: of h, where b is between low and high.
Best most_violating(const float* h, const float* b, const float* low, const float* high,
                    std::size_t rows);

// h -= p * row_p + q * row_q; then as above.
Best take_step(float* h, const float* row_p, float p, const float* row_q, float q, const float* b,
               const float* low, const float* high, std::size_t rows);
// to -= the sum of four rows, each times its factor
void take_four(float* to, const float* const* from, const float* factor, std::size_t rows);

// The row q other than p for which the best step on both, limits aside, gains most:
// (h_p^2 K_qq + h_q^2 K_pp - 2 h_p h_q K_pq) / (K_pp K_qq - K_pq^2), among rows that can move.
Best best_partner(const float* h, const float* b, const float* low, const float* high,
                  const float* row_p, const float* diagonal, std::size_t p, std::size_t rows);

// to -= factor * from
void take(float* to, const float* from, float factor, std::size_t rows);
// to += the sum of four rows, each times its factor
void give_four(double* to, const float* const* from, const double* factor, std::size_t rows);

}  // namespace tagalong::m3l
