// The kernel solver: steps on pairs of variables of one label (P4's Algorithms 1 and 2). Labels that
// the prior couples take turns, the one that violates most first; what its steps mean for the others
// is told to them once, afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "m3l/kernel_cache.hpp"
#include "m3l/problem.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

struct KernelSettings {
    double tolerance = 1e-3;
    std::int64_t most_steps = 1000;  // for each variable
    int threads = 1;
};

struct KernelSolution {
    std::vector<double> dual;  // b, rows by labels; a start if there is one
    Standing standing;
    std::int64_t steps = 0;
    bool converged = false;
};

void solve_kernel(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                  const KernelSettings& settings, SolverProgress& watch, KernelSolution& solution);

}  // namespace tagalong::m3l
