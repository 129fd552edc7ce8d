// P4's kernelised algorithm as the paper has it (Algorithm 1): the label with the largest projected
// derivative is chosen among all labels, with or without a prior. On it, at most as many steps are
// made as there are labels, each on the pair of variables of the paper's choice. The changes of K b
// are summed in u meanwhile, and the derivatives of the other labels follow once, at the end of the
// turn (Eqs. 34 to 36).
//
// Algorithm 1 as printed differs in three places, and is wrong there:
// - It updates the other labels inside the inner loop, with a sum that it does not reset: every
//   step but the last of a turn counts more than once, and the algorithm stops at a wrong point.
// - Pairs need |K_pq| < sqrt(K_pp K_qq). Without the absolute value, opposite rows make a singular
//   system.
// - A turn ends as soon as no variable of its label violates, and K_pp may be 0.
#pragma once

#include <span>

#include "m3l/kernel_solver.hpp"

namespace tagalong::m3l {

// As solve_kernel(). An iteration of the paper is one of the solution's steps.
void solve_joint_smo(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                     const KernelSettings& settings, SolverProgress& progress,
                     KernelSolution& solution);

}  // namespace tagalong::m3l
