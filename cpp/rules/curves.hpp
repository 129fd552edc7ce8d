// How a label's score answers to a move of its dual vector along x.
//
// Moving `amount` >= 0 of mass raises a relevant label's score, or lowers an irrelevant one's.
// In both cases the curve k(amount) is the score with the sign that makes it increase:
// k = h(amount) for a relevant label and k = -h(-amount) for an irrelevant one, where
// h(a) = <x, grad G(theta + a x)>. Every rule is an equation between such curves:
//     single         k_r(t) + k_s(t) = gamma
//     optimal        levels u + v = gamma at which both sides have moved the same mass
//     smooth         the same with T log(amount) added to each curve
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "roots.hpp"

namespace tagalong {

// Euclidean and adaptive geometry: a straight line with the slope |x|^2.
struct LinearCurve {
    double start = 0;
    double slope_ = 0;

    ValueSlope at(double amount) const { return {start + slope_ * amount, slope_}; }
};

// Entropic geometry. Under softmax(theta_y), the value of x is a random variable: it takes the
// values of `atoms` with the given masses, and 0 with the mass outside the support of x. Its
// mean is the score; moving along x tilts the masses by exp(a x). Features with equal values
// share an atom, so a binary x has one, for which everything has a closed form.
struct SimplexCurve {
    double sign = 1;                // +1 relevant, -1 irrelevant
    std::span<const double> atoms;  // distinct non-zero values of x
    const double* masses = nullptr;
    double outside = 0;

    ValueSlope at(double amount) const {
        const double a = sign * amount;
        double top = outside > 0 ? 0 : -std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < atoms.size(); ++i)
            if (masses[i] > 0) top = std::max(top, a * atoms[i]);
        double total = outside > 0 ? outside * std::exp(-top) : 0;
        double first = 0, second = 0;
        for (std::size_t i = 0; i < atoms.size(); ++i) {
            if (masses[i] <= 0) continue;
            const double weight = masses[i] * std::exp(a * atoms[i] - top);
            total += weight;
            first += weight * atoms[i];
            second += weight * atoms[i] * atoms[i];
        }
        const double mean = first / total;
        return {sign * mean, std::max(0.0, second / total - mean * mean)};
    }

    // Where k reaches a level that lies between k(0) and k(cap).
    double inverse(double level, double cap, double guess) const {
        if (const double closed = inverse_of_one_atom(level); closed >= 0) return std::min(closed, cap);
        return increasing_root(
            [&](double amount) {
                ValueSlope k = at(amount);
                k.value -= level;
                return k;
            },
            0.0, cap, guess);
    }

  private:
    // k = sign c p with p / (1 - p) = (mass / outside) exp(sign c amount); -1 if it does not apply.
    double inverse_of_one_atom(double level) const {
        if (atoms.size() != 1 || outside <= 0 || masses[0] <= 0) return -1;
        const double p = sign * level / atoms[0];
        if (!(p > 0 && p < 1)) return -1;
        const double tilt = std::log(p / (1 - p)) - std::log(masses[0] / outside);
        return std::max(0.0, tilt / (sign * atoms[0]));
    }
};

}  // namespace tagalong
