// The kernel solver: maximises the dual objective of m3l/problem.hpp for a kernel matrix K by steps
// on pairs of variables of one label (P4's Algorithms 1 and 2). Input: the diagonal of K, and its
// rows through a cache. The result goes to the solution's `dual`.
//
// Labels that the prior couples are improved one at a time, the label with the largest violation
// first. The derivatives of the other labels are updated once after the steps. Algorithm 1 as
// printed updates them inside the inner loop, which counts the changes twice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "m3l/kernel_cache.hpp"
#include "m3l/problem.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

// Steps aim at this share of the tolerance, since rounding errors show only in the check.
inline constexpr double kKernelAimShare = 0.7;

struct KernelSettings {
    double tolerance = 1e-3;
    std::int64_t max_steps = 1000;  // per variable
    int threads = 1;
};

struct KernelSolution {
    std::vector<double> dual;  // b, (rows, labels) row-major; the starting point if it is not empty
    SolutionStatus status;
    std::int64_t steps = 0;
    bool converged = false;
};

void solve_kernel(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                  const KernelSettings& settings, SolverProgress& progress,
                  KernelSolution& solution);

}  // namespace tagalong::m3l
