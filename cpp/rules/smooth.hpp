// The exact proximal step (not from a paper) of the smoothed loss
//     C T log(1 + sum over pairs (r, s) of exp((gamma - rho_r + rho_s) / T)),
// where r is relevant, s irrelevant and T the temperature. Its limit for T -> 0 is P1's Update III.
//
// In the dual, p is a distribution over the pairs and the outcome "none", alpha_r = C sum_s p_rs,
// alpha_s = -C sum_r p_rs, and the step maximises
//     gamma m + C T H(p) - sum_y [G(theta_y + alpha_y x) - G(theta_y)],   m = C (1 - p_none),
// where H is the entropy. At the optimum p_rs = p_none exp((gamma - k_r(b_r) - k_s(b_s)) / T), with
// b = |alpha| and the curves k of curves.hpp. This is a product of one factor per side. Therefore
// each label satisfies
//     T log b_i + k_i(b_i) = level of its side,
// the amounts b of each side sum to the mass m, and the levels are tied by
//     gamma - level_1 - level_2 + T (log m + log(C - m)) = 0.
// This leaves three unknowns for any number of labels: the two levels and z = log(m / (C - m)),
// which represents C - m accurately when nearly all of the budget is spent. Newton's method solves
// the three equations from an initial estimate. If it does not converge, an outer bracketed search
// finds z, and inner ones find the levels for each z. These searches are nested, so they share an
// Effort (roots.hpp). If it is used up, the equations are not solved, and the caller has to take
// another step.
//
// A side is a class with the methods
//     ValueSlope at(level)        the sum of its amounts at a level, and the derivative
//     double lower(m), upper(m)   bounds of the level at which the sum is m
//     bool exact()                whether the last evaluation was exact rather than an estimate
#pragma once

#include <algorithm>
#include <cmath>

#include "rules/roots.hpp"
#include "rules/step.hpp"

namespace tagalong {

struct SmoothPoint {
    double z = 0;  // logit of m / C
    double level_1 = 0;
    double level_2 = 0;
};

namespace detail {

// The spent share sigmoid(z) of the budget, the remaining share sigmoid(-z), and their logarithms,
// computed with one exponential and one logarithm.
struct Shares {
    double spent, rest;
    double log_spent, log_rest;

    explicit Shares(double z) {
        const double e = std::exp(-std::abs(z)), larger = 1 / (1 + e), smaller = e * larger;
        const double log_larger = -std::log1p(e), log_smaller = log_larger - std::abs(z);
        spent = z > 0 ? larger : smaller;
        rest = z > 0 ? smaller : larger;
        log_spent = z > 0 ? log_larger : log_smaller;
        log_rest = z > 0 ? log_smaller : log_larger;
    }
};

struct SmoothEquation {
    double budget, margin, temperature;
    double log_budget;

    explicit SmoothEquation(const RuleParameters& rule)
        : budget(rule.budget),
          margin(rule.margin),
          temperature(rule.temperature),
          log_budget(std::log(rule.budget)) {}

    double mass(double z) const { return budget * Shares(z).spent; }
    double log_mass(const Shares& at) const { return log_budget + at.log_spent; }
    // The residual of the equation that ties the levels.
    double tie(const SmoothPoint& point, const Shares& at) const {
        return margin - point.level_1 - point.level_2 +
               temperature * (2 * log_budget + at.log_spent + at.log_rest);
    }
};

// Evaluates until the value is exact: an estimate could put the bracket on the wrong side of the
// root.
template <class Side>
ValueSlope evaluate_exactly(Side& side, double level, Effort& effort) {
    effort.spend();
    ValueSlope moved = side.at(level);
    for (int again = 0; again < 2 && !side.exact(); ++again) moved = side.at(level);
    return moved;
}

// The level at which the amounts of a side sum to the mass.
template <class Side>
double level_for_mass(Side& side, double log_mass, double guess, Effort& effort) {
    const double mass = std::exp(log_mass);
    return increasing_root(
        [&](double level) {
            const ValueSlope moved = evaluate_exactly(side, level, effort);
            return ValueSlope{std::log(moved.value) - log_mass, moved.slope / moved.value};
        },
        side.lower(mass), side.upper(mass), guess, kFinest, &effort);
}

}  // namespace detail

// C T H(p) from side_entropies, the sum of T H(b/m) over the two sides. It uses
// p_rs = (m/C) (b_r/m) (b_s/m).
inline double smooth_entropy(double z, const RuleParameters& rule, double side_entropies) {
    const detail::Shares at(z);
    const double choice = -(at.spent * at.log_spent + at.rest * at.log_rest);
    const double entropy = rule.budget * (rule.temperature * choice + at.spent * side_entropies);
    // An entropy is never negative, so 0 is a valid lower bound if rounding has spoilt the value.
    return std::isfinite(entropy) ? std::max(0.0, entropy) : 0.0;
}

// Solves the three equations, starting from `point`, which receives the solution. Afterwards the
// sides hold the amounts of the solution; the caller rescales each side so that its sum is exactly
// the mass. If the effort is used up, they hold any amounts.
template <class Side1, class Side2>
void solve_smooth(Side1& side_1, Side2& side_2, const RuleParameters& rule, SmoothPoint& point,
                  Effort& effort) {
    const double T = rule.temperature;
    const detail::SmoothEquation equation(rule);
    for (int round = 0; round < 40 && !effort.exhausted(); ++round) {
        effort.spend(2);
        const ValueSlope moved_1 = side_1.at(point.level_1), moved_2 = side_2.at(point.level_2);
        if (!(moved_1.value > 0 && moved_2.value > 0)) break;
        const bool exact = side_1.exact() && side_2.exact();
        const detail::Shares shares(point.z);
        const double log_mass = equation.log_mass(shares);
        const double e1 = T * (std::log(moved_1.value) - log_mass);
        const double e2 = T * (std::log(moved_2.value) - log_mass);
        const double s1 = T * moved_1.slope / moved_1.value, s2 = T * moved_2.slope / moved_2.value;
        const double rest = shares.rest;
        const double curve = T * (rest * (1 / s1 + 1 / s2 - 1) + shares.spent);
        double dz = (equation.tie(point, shares) + e1 / s1 + e2 / s2) / curve;
        // Far from the solution the equations are strongly nonlinear: limit the change of z to 3.
        if (std::abs(dz) > 3) dz = std::copysign(3.0, dz);
        const double d1 = (T * rest * dz - e1) / s1, d2 = (T * rest * dz - e2) / s2;
        point.z += dz;
        point.level_1 += d1;
        point.level_2 += d2;
        const double change = std::max({std::abs(d1), std::abs(d2), T * std::abs(dz)});
        if (!std::isfinite(change)) break;
        if (!exact) continue;
        if (change <= 1e-12 * T) return;
        // Convergence is quadratic, so this point is exact: evaluate the amounts and stop.
        if (change <= 1e-7 * T) {
            side_1.at(point.level_1);
            side_2.at(point.level_2);
            return;
        }
    }
    // Newton's method has not converged. The residual of the tie decreases in z with slope at most
    // -T: find its root within a bracket.
    point = {0, 0, 0};
    const auto rise = [&](double z) {
        const detail::Shares shares(z);
        const double log_mass = equation.log_mass(shares);
        point.z = z;
        point.level_1 = detail::level_for_mass(side_1, log_mass, point.level_1, effort);
        point.level_2 = detail::level_for_mass(side_2, log_mass, point.level_2, effort);
        const ValueSlope moved_1 = detail::evaluate_exactly(side_1, point.level_1, effort);
        const ValueSlope moved_2 = detail::evaluate_exactly(side_2, point.level_2, effort);
        const double slope =
            shares.rest * (moved_1.value / moved_1.slope + moved_2.value / moved_2.slope) -
            T * (shares.rest - shares.spent);
        return ValueSlope{-equation.tie(point, shares), slope};
    };
    rise(increasing_root(rise, -600.0, 600.0, 0.0, kFinest, &effort));
}

}  // namespace tagalong
