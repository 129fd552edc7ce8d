// P4's linear algorithm as the paper has it (Section 6): steps on one variable at a time, in random
// order over all labels, with one active set per label.
//
// - At first every step on label l changes the weights of all labels, z_k += 2 R_kl y d x (Eq. 40,
//   which as printed names z_l alone and then stops at a wrong point). Once the projected
//   derivatives are small, as many steps as there are labels are made on one label before the
//   other labels follow (Eqs. 41 to 43).
// - A variable at a bound leaves the active set of its label if its derivative points further
//   outwards than the extremal derivatives of the last pass, which the prior couples:
//   lb_l = min_k |R_kl| min g_k, ub_l = max_k |R_kl| max g_k (Eqs. 44 and 45).
// - When all active variables meet the tolerance, all variables return. Training ends if these meet
//   it, too.
//
// A pass visits every active variable once; the paper draws with replacement.
#pragma once

#include "m3l/linear_solver.hpp"

namespace tagalong::m3l {

// As solve_linear(). The solution's `passes` is the number of visited variables, the paper's
// iterations; max_passes limits it per variable.
template <class T>
void solve_coordinate_ascent(const Rows<T>& rows, const Problem& problem,
                             const LinearSettings& settings, SolverProgress& progress,
                             LinearSolution<T>& solution);

}  // namespace tagalong::m3l
