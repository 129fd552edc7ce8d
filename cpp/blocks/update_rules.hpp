// P2's update rules for a block of rows (its Figs. 3 and 4). From the values w.x_j they choose the
// dual coefficients lambda_j >= 0 of the constraints w.x_j >= gamma, with sum_j v_j lambda_j <= C.
//
// With own_j the optimal coefficient of row j if it were the only row:
//     simperc  lambda_j = (C / v_j) / |M|     on the mistaken rows M = {j: w.x_j <= 0}
//     conproj  lambda_j = own_j / |M|         on M
//     simproj  lambda_j = own_j / |Gamma|     on Gamma = {j: w.x_j < gamma}, the rows with a loss
//     max      lambda_j = own_j               on the row with the largest loss
//     simopt   the optimum of a surrogate of the dual that ignores the products of different rows
//              (linear geometry only; no guarantee: with three equal rows the dual decreases)
//     optimal  the optimum of the dual (quadratic_program.hpp, simplex_program.hpp)
// A row without features cannot change w: its coefficient is 0, but it counts in |M| and |Gamma|.
// Only `optimal` gives it a coefficient, because that increases the dual value.
#pragma once

#include <functional>
#include <vector>

namespace tagalong {

// The input of an update rule per row; the sign is included in x_j.
struct BlockRow {
    double value = 0;     // w.x_j
    double weight = 1;    // v_j > 0: the coefficient lambda_j uses v_j lambda_j of the budget
    double q = 0;         // |x_j|^2 in the norm of the geometry; 0 for a row without features
    double own_step = 0;  // own_j above, if BlockRule::uses_own_steps
};

// The input of an update rule for a set of rows.
struct BlockSet {
    const std::vector<BlockRow>& rows;
    double margin;
    double budget;
    // Computes the optimal coefficients of all rows; depends on the geometry.
    const std::function<void(std::vector<double>&)>& optimum;
};

// Solves SimOpt's surrogate problem (P2, Eqs. 7-10), with l_j = margin - value:
//     max   sum_j (lambda_j l_j - 1/2 lambda_j^2 q_j)
//     s.t.  lambda >= 0,  sum_j v_j lambda_j <= budget.
void surrogate_optimum(const std::vector<BlockRow>& rows, double margin, double budget,
                       std::vector<double>& lambda);

// The steps of the rules. Each writes lambda, one coefficient per row.
namespace block_steps {

// simperc
void share_budget(const BlockSet& set, std::vector<double>& lambda);
// conproj and simproj
void share_own_of_mistaken(const BlockSet& set, std::vector<double>& lambda);
void share_own_of_losing(const BlockSet& set, std::vector<double>& lambda);
// max; ties: the first row
void step_on_worst(const BlockSet& set, std::vector<double>& lambda);
// simopt and optimal
void surrogate(const BlockSet& set, std::vector<double>& lambda);
void optimum(const BlockSet& set, std::vector<double>& lambda);

}  // namespace block_steps

}  // namespace tagalong
