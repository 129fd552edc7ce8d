// The optimal step t in [0, cap] on one row in the entropic geometry (alpha_j of P2, Eq. 23):
//     max  gamma t - log sum_i w_i exp(t x_i).
// It is the root of k(t) = gamma, clipped to [0, cap], where k(t) is the mean of x under weights
// proportional to w_i exp(t x_i). Rows in {-1, 0, 1} have a closed form.
#pragma once

#include <algorithm>
#include <cmath>

#include "rules/curves.hpp"
#include "rules/roots.hpp"

namespace tagalong {

// With W+, W-, W0 the weights of the features where the row is +1, -1 and 0:
//     exp(t) = (gamma W0 + sqrt(gamma^2 W0^2 + 4 (1 - gamma^2) W+ W-)) / (2 (1 - gamma) W+).
inline double ternary_step(double plus, double minus, double zero, double margin, double cap) {
    if (!(plus > 0) || margin >= 1) return cap;
    const double root =
        std::sqrt(margin * margin * zero * zero + 4 * (1 - margin * margin) * plus * minus);
    const double above = margin * zero + root;
    if (!(above > 0)) return 0;  // all weight is at +1: the row has no loss
    return std::clamp(std::log(above) - std::log(2 * (1 - margin) * plus), 0.0, cap);
}

inline double simplex_step(const SimplexCurve& row, double margin, double cap) {
    bool ternary = true;
    double plus = 0, minus = 0, total = row.outside;
    for (std::size_t i = 0; i < row.atoms.size(); ++i) {
        ternary &= row.atoms[i] == 1 || row.atoms[i] == -1;
        (row.atoms[i] > 0 ? plus : minus) += row.masses[i];
        total += row.masses[i];
    }
    if (ternary) return ternary_step(plus / total, minus / total, row.outside / total, margin, cap);
    const auto excess = [&](double t) {
        const ValueSlope k = row.at(t);
        return ValueSlope{k.value - margin, k.slope};
    };
    if (excess(0).value >= 0) return 0;
    if (excess(cap).value <= 0) return cap;
    return increasing_root(excess, 0.0, cap, 0.0);
}

}  // namespace tagalong
