// The schedule by which parts of a coupled problem take turns.
//
// A prior couples the labels, so no part of them can be solved by itself: what one part changes moves
// the optimum of the others. A sweep lets every part improve its active variables once. Only a look at
// all variables, at one point, tells where the solution stands. It costs more than a sweep. So sweeps
// go on until the active variables violate a share of what the last look found, and the next look follows.
#pragma once

#include <algorithm>

#include "m3l/problem.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

inline constexpr double kTurnAim =
    0.8;  // of the tolerance: the last steps move what was measured before
inline constexpr double kTurnShare =
    0.3;  // of the violation found, below which all variables are looked at again
inline constexpr int kMostSweeps = 100;  // between two looks at all variables

// Runs until the violation of all variables is below the tolerance or ended() holds; returns where they
// stand then. look() returns where all variables stand now. sweep(enough) gives each part a turn, aims
// at a violation below `enough`, and returns the largest violation that the turns have met.
template <class Look, class Sweep, class Ended>
Standing take_turns(double tolerance, SolverProgress& progress, Look&& look, Sweep&& sweep,
                    Ended&& ended) {
    for (;;) {
        const Standing standing = look();
        progress.violation = standing.violation;
        if (standing.violation < tolerance || ended()) return standing;
        const double enough = std::max(kTurnAim * tolerance, kTurnShare * standing.violation);
        double met = enough;
        for (int i = 0; i < kMostSweeps && met >= enough && !ended(); ++i) met = sweep(enough);
    }
}

}  // namespace tagalong::m3l
