// The optimal step on one pair of labels (P1, Update II, Eq. 9):
//     max over t in [0, C] of  gamma t - G(theta_r + t x) - G(theta_s - t x).
// It is the root of gamma - k_r(t) - k_s(t) = 0, clipped to [0, C], with the curves k
// of curves.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "rules/curves.hpp"
#include "rules/roots.hpp"
#include "rules/step.hpp"

namespace tagalong {

inline double pair_step(const LinearCurve& r, const LinearCurve& s, double margin, double budget) {
    return std::clamp((margin - r.start - s.start) / (r.slope_ + s.slope_), 0.0, budget);
}

namespace detail {

// The closed form if all non-zero values of x equal c. With g = gamma/c, p and q the probabilities
// of x = c under the relevant and the irrelevant label, and beta = exp(c t), the equation is
// quadratic:
//     a beta^2 - b beta - d = 0,   a = p(1-q)(1-g),  b = g(pq + (1-p)(1-q)),  d = q(1-p)(1+g).
inline double one_atom_step(const SimplexCurve& r, const SimplexCurve& s, double margin,
                            double budget) {
    const double c = r.atoms[0];
    const double g = margin / c;
    const double total_r = r.masses[0] + r.outside, total_s = s.masses[0] + s.outside;
    const double p = r.masses[0] / total_r, not_p = r.outside / total_r;
    const double q = s.masses[0] / total_s, not_q = s.outside / total_s;
    const double a = p * not_q * (1 - g);
    const double b = g * (p * q + not_p * not_q);
    const double d = q * not_p * (1 + g);
    if (g >= 1 || a <= 0) return margin - c * (p - q) > 0 ? budget : 0.0;
    const double log_beta = std::log(b + std::sqrt(b * b + 4 * a * d)) - std::log(2 * a);
    return std::clamp(log_beta / c, 0.0, budget);
}

}  // namespace detail

inline double pair_step(const SimplexCurve& r, const SimplexCurve& s, double margin,
                        double budget) {
    if (r.atoms.size() == 1 && r.atoms[0] > 0) return detail::one_atom_step(r, s, margin, budget);
    const auto excess = [&](double t) {
        const ValueSlope up = r.at(t), down = s.at(t);
        return ValueSlope{up.value + down.value - margin, up.slope + down.slope};
    };
    if (excess(0).value >= 0) return 0;
    if (excess(budget).value <= 0) return budget;
    return increasing_root(excess, 0.0, budget, 0.0);
}

// Replaces a step that is not solved by the step on the most violating pair, with the curves of its
// labels. This step is feasible, and its gain is enough for the mistake bounds.
template <class Curve>
void step_on_worst_pair(const Sides& sides, const Curve& r, const Curve& s,
                        const RuleParameters& rule, Step& out) {
    out.clear(out.alpha.size());
    out.solved = false;
    out.set_pair(sides.lowest_relevant, sides.highest_irrelevant(),
                 pair_step(r, s, rule.margin, rule.budget));
}
inline void step_on_worst_pair(const Sides& sides, double q, const RuleParameters& rule,
                               Step& out) {
    step_on_worst_pair(sides, LinearCurve{sides.lowest_score, q},
                       LinearCurve{-sides.highest_score, q}, rule, out);
}

}  // namespace tagalong
