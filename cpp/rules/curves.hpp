// The score of a label as a function of the step of its dual vector along x.
//
// A step of size amount = |alpha| >= 0 raises the score of a relevant label, or lowers the score of
// an irrelevant one. In both cases the curve k(amount) is the score with the sign that makes it
// increase: k = h(amount) for a relevant label and k = -h(-amount) for an irrelevant one, where
// h(a) = <x, grad G(theta + a x)>. Every rule is an equation between such curves:
//     single         k_r(t) + k_s(t) = gamma
//     optimal        levels u + v = gamma at which the amounts of both sides have the same sum
//     smooth         the same with T log(amount) added to each curve
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "rules/roots.hpp"

namespace tagalong {

// Euclidean and adaptive geometry: a straight line with slope |x|^2.
struct LinearCurve {
    double start = 0;
    double slope_ = 0;

    ValueSlope at(double amount) const { return {start + slope_ * amount, slope_}; }
};

// Entropic geometry. Under softmax(theta_y), the value of x is a random variable: it takes the
// values of `atoms` with probabilities proportional to `masses`, and 0 with the mass outside the
// support of x. Its mean is the score; a step along x multiplies the masses by exp(a x). Features
// with equal values share an atom, so a binary x has one atom, for which all equations have closed
// forms.
//
// Near the ends of its range k loses precision while the amount still grows. Therefore the levels
// of water-filling are log-odds, log((k - least) / (most - k)). With one atom they are linear in
// the amount.
struct SimplexCurve {
    double sign = 1;                // +1 relevant, -1 irrelevant
    std::span<const double> atoms;  // distinct non-zero values of x
    const double* masses = nullptr;
    double outside = 0;

    ValueSlope at(double amount) const {
        const Moments m = moments(amount);
        const double mean = m.first / m.total;
        return {sign * mean, std::max(0.0, m.second / m.total - mean * mean)};
    }

    // The log-odds of k within the range [least, most], and their slope.
    ValueSlope odds(double amount, double least, double most) const {
        const Moments m = moments(amount, sign > 0 ? least : -most, sign > 0 ? most : -least);
        const double mean = m.first / m.total;
        const double variance = std::max(0.0, m.second / m.total - mean * mean);
        const double below = (sign > 0 ? m.above_least : m.below_most) / m.total;
        const double above = (sign > 0 ? m.below_most : m.above_least) / m.total;
        return {std::log(below / above), variance * (1 / below + 1 / above)};
    }

  private:
    struct Moments {
        double total = 0, first = 0, second = 0;
        double above_least = 0, below_most = 0;  // first moments of x - least and most - x
    };
    Moments moments(double amount, double least = 0, double most = 0) const {
        const double a = sign * amount;
        double top = outside > 0 ? 0 : -std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < atoms.size(); ++i)
            if (masses[i] > 0) top = std::max(top, a * atoms[i]);
        Moments m;
        const auto add = [&](double x, double weight) {
            m.total += weight;
            m.first += weight * x;
            m.second += weight * x * x;
            m.above_least += weight * (x - least);
            m.below_most += weight * (most - x);
        };
        if (outside > 0) add(0, outside * std::exp(-top));
        for (std::size_t i = 0; i < atoms.size(); ++i)
            if (masses[i] > 0) add(atoms[i], masses[i] * std::exp(a * atoms[i] - top));
        return m;
    }
};

}  // namespace tagalong
