// The schedule of block coordinate ascent for a problem whose labels are coupled by the prior.
//
// The parts of the problem (blocks of labels, or single labels) cannot be solved independently: a
// change in one part moves the optimum of the others. A sweep improves the active variables of
// every part once. The convergence test needs a check of all variables at one point, which costs
// more than a sweep. So sweeps repeat until the violation of the active variables has dropped to a
// share of the violation that the last check found; then the next check follows.
#pragma once

#include <algorithm>

#include "m3l/problem.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

// Share of the tolerance to aim at. The violation is measured during a sweep, and later steps of
// the sweep can increase it.
inline constexpr double kAimShare = 0.8;
// Share of the last check's violation below which all variables are checked again.
inline constexpr double kRecheckShare = 0.3;
inline constexpr int kMaxSweeps = 100;  // between two checks of all variables

// Runs until the violation of all variables is below the tolerance or must_stop() is true, and
// returns the final status. check() returns the status of all variables. sweep(target_violation)
// improves each part once, aims at a violation below `target_violation`, and returns the largest
// violation found. Ends, because must_stop() limits the passes, and because a first sweep without a
// violation has changed nothing: the next check would find the same.
template <class Check, class Sweep, class MustStop>
SolutionStatus run_sweeps(double tolerance, SolverProgress& progress, Check&& check, Sweep&& sweep,
                          MustStop&& must_stop) {
    for (;;) {
        const SolutionStatus status = check();
        progress.violation = status.violation;
        if (!(status.violation >= tolerance) || must_stop()) return status;
        const double target_violation =
            std::max(kAimShare * tolerance, kRecheckShare * status.violation);
        double violation = target_violation;
        for (int i = 0; i < kMaxSweeps && violation >= target_violation && !must_stop(); ++i)
            if (violation = sweep(target_violation); i == 0 && violation == 0) return status;
    }
}

}  // namespace tagalong::m3l
