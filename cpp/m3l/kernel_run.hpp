// A run of a kernel solver: fills the cache, repeats improve() until the recomputed derivatives
// meet the tolerance, and stores the result. improve() makes steps until it expects the tolerance
// to be met, and returns their number.
#pragma once

#include <cstdint>
#include <limits>

#include "m3l/kernel_dual.hpp"
#include "m3l/kernel_solver.hpp"

namespace tagalong::m3l {

template <class Improve>
void run_kernel_solver(KernelDual& dual, const KernelSettings& settings,
                       const SolverProgress& progress, KernelSolution& out, Improve&& improve) {
    constexpr int kMaxRounds = 20;
    const auto stop = [&] { return progress.stop.load(std::memory_order_relaxed); };
    const bool warm_start = !out.dual.empty();
    if (warm_start) dual.start_from(out.dual);
    KernelCache& cache = dual.cache();
    if (cache.fits_all_rows() && !cache.compute_all(settings.threads, stop)) {
        // The status of a run that stopped here is known only if all variables are 0.
        constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
        dual.reset_derivatives();
        out.status = warm_start ? SolutionStatus{kUnknown, kUnknown, kUnknown} : dual.status();
        out.dual = dual.values();
        return;
    }
    dual.recompute_derivatives();
    // Steps accumulate rounding errors, so the derivatives are recomputed before each convergence
    // test.
    for (int round = 0; round < kMaxRounds; ++round) {
        const std::int64_t steps = improve();
        out.steps += steps;
        dual.recompute_derivatives();
        out.status = dual.status();
        if (out.status.violation < settings.tolerance || stop() || steps == 0) break;
    }
    out.converged = out.status.violation < settings.tolerance;
    out.dual = dual.values();
}

}  // namespace tagalong::m3l
