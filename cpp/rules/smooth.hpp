// The exact proximal step of the smoothed loss
//     C T log(1 + sum over pairs of exp((gamma - rho_r + rho_s) / T)),
// whose limit for T -> 0 is Update III.
//
// In the dual, p is a distribution over the pairs and "none", alpha_r = C sum_s p_rs,
// alpha_s = -C sum_r p_rs, and the step maximises
//     gamma m + C T H(p) - sum_y [G(theta_y + alpha_y x) - G(theta_y)],   m = C (1 - p_none).
// At the optimum p_rs = p_none exp((gamma - k_r(b_r) - k_s(b_s)) / T), with b = |alpha| and the
// curves k of curves.hpp: a product of a factor per side. So each label obeys
//     T log b_i + k_i(b_i) = level of its side,
// the amounts of either side sum to m, and the levels are tied by
//     gamma - level_1 - level_2 + T (log m + log(C - m)) = 0.
// Three unknowns, however many labels: the two levels and z = log(m / (C - m)), which keeps
// C - m exact when nearly all of the budget is spent. Newton's method on the three equations,
// started from an estimate; if it does not settle, bisection in z around Newton in the levels.
//
// A side offers
//     ValueSlope at(level)        mass moved at a level, and its derivative
//     double lower(m), upper(m)   bounds of the level at which m is moved
//     bool exact()                whether the last evaluation was more than an estimate
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

// The share e^z / (1 + e^z) of the budget that is spent, what is left of it, and their logarithms,
// from one exponential and one logarithm.
struct Shares {
    double spent, rest;  // sigmoid(z), sigmoid(-z)
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
    // What is left of the equation that ties the levels.
    double tie(const SmoothPoint& point, const Shares& at) const {
        return margin - point.level_1 - point.level_2 +
               temperature * (2 * log_budget + at.log_spent + at.log_rest);
    }
};

// A bracket must not close on a rough value.
template <class Side>
ValueSlope exactly_at(Side& side, double level) {
    ValueSlope moved = side.at(level);
    for (int again = 0; again < 2 && !side.exact(); ++again) moved = side.at(level);
    return moved;
}

template <class Side>
double level_for_mass(Side& side, double log_mass, double guess) {
    const double mass = std::exp(log_mass);
    return increasing_root(
        [&](double level) {
            const ValueSlope moved = exactly_at(side, level);
            return ValueSlope{std::log(moved.value) - log_mass, moved.slope / moved.value};
        },
        side.lower(mass), side.upper(mass), guess);
}

}  // namespace detail

// C T H(p), from T times the entropies of the two sides' shares: p_rs = (m/C) (b_r/m) (b_s/m).
inline double smooth_entropy(double z, const RuleParameters& rule, double side_entropies) {
    const detail::Shares at(z);
    const double choice = -(at.spent * at.log_spent + at.rest * at.log_rest);
    const double entropy = rule.budget * (rule.temperature * choice + at.spent * side_entropies);
    // An entropy is never negative, so zero is a safe word for one that rounding has spoilt.
    return std::isfinite(entropy) ? std::max(0.0, entropy) : 0.0;
}

// Improves `point` until it solves the three equations. Afterwards the sides hold the amounts
// of the point, up to a factor per side that brings their sums to the mass.
template <class Side1, class Side2>
void solve_smooth(Side1& side_1, Side2& side_2, const RuleParameters& rule, SmoothPoint& point) {
    const double T = rule.temperature;
    const detail::SmoothEquation equation(rule);
    for (int round = 0; round < 40; ++round) {
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
        // Far from the solution the equations bend: do not let the mass change by more than e^3.
        if (std::abs(dz) > 3) dz = std::copysign(3.0, dz);
        const double d1 = (T * rest * dz - e1) / s1, d2 = (T * rest * dz - e2) / s2;
        point.z += dz;
        point.level_1 += d1;
        point.level_2 += d2;
        const double change = std::max({std::abs(d1), std::abs(d2), T * std::abs(dz)});
        if (!std::isfinite(change)) break;
        if (!exact) continue;
        if (change <= 1e-12 * T) return;
        // The next error is quadratic in this one, so one last evaluation is exact.
        if (change <= 1e-7 * T) {
            side_1.at(point.level_1);
            side_2.at(point.level_2);
            return;
        }
    }
    // The tie falls in z, at the rate T at least: bracket it and bisect.
    point = {0, 0, 0};
    const auto rise = [&](double z) {
        const detail::Shares shares(z);
        const double log_mass = equation.log_mass(shares);
        point.z = z;
        point.level_1 = detail::level_for_mass(side_1, log_mass, point.level_1);
        point.level_2 = detail::level_for_mass(side_2, log_mass, point.level_2);
        const ValueSlope moved_1 = detail::exactly_at(side_1, point.level_1);
        const ValueSlope moved_2 = detail::exactly_at(side_2, point.level_2);
        const double slope =
            shares.rest * (moved_1.value / moved_1.slope + moved_2.value / moved_2.slope) -
            T * (shares.rest - shares.spent);
        return ValueSlope{-equation.tie(point, shares), slope};
    };
    rise(increasing_root(rise, -600.0, 600.0, 0.0));
}

}  // namespace tagalong
