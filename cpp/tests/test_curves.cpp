// SimplexCurve: value, slope and log-odds, and the best step on a pair of curves.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "rules/curves.hpp"
#include "rules/pair_step.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/simplex_labels.hpp"

namespace tagalong::test::curves_test {
namespace {

// The mean of x under the tilted masses, by definition.
double naive_value(const SimplexCurve& curve, double amount) {
    const double a = curve.sign * amount;
    long double total = curve.outside, first = 0;
    for (std::size_t i = 0; i < curve.atoms.size(); ++i) {
        const long double weight =
            curve.masses[i] * std::exp(static_cast<long double>(a * curve.atoms[i]));
        total += weight;
        first += weight * curve.atoms[i];
    }
    return static_cast<double>(curve.sign * first / total);
}

// The point in [0, cap] where an increasing function reaches the level, by bisection.
template <class Function>
double bisect(Function&& f, double level, double cap) {
    double low = 0, high = cap;
    for (int round = 0; round < 200; ++round) {
        const double middle = 0.5 * (low + high);
        (f(middle) < level ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

const Test values{
    "curves: value and slope equal the definition and finite differences", [] {
        Random random(1);
        for (int round = 0; round < 500; ++round) {
            const SimplexLabels labels(random, 1, 1 + random.below(6), random.chance(0.2));
            const SimplexCurve curve = labels.curve(0, random.chance(0.5));
            const double amount = random.magnitude(1e-3, 5), step = 1e-5;
            const ValueSlope at = curve.at(amount);
            near(at.value, naive_value(curve, amount), 1e-14);
            const double difference =
                (naive_value(curve, amount + step) - naive_value(curve, amount - step)) /
                (2 * step);
            near(at.slope, difference, 1e-8);
            near(curve.at(0).value, (curve.sign > 0 ? 1 : -1) * labels.scores()[0], 1e-15);
        }
    }};

const Test far{"curves: the limit for large amounts is the extreme value of x", [] {
                   const std::vector<double> atoms{-0.5, 0.25, 1.0}, masses{1, 2, 3};
                   const SimplexCurve up{1, atoms, masses.data(), 4},
                       down{-1, atoms, masses.data(), 4};
                   same(up.at(1e6).value, 1.0);
                   same(up.at(1e6).slope, 0.0);
                   same(down.at(1e6).value, 0.5);
                   const std::vector<double> positive{0.25, 1.0};
                   const SimplexCurve floor{-1, positive, masses.data(), 4};
                   same(std::abs(floor.at(1e6).value), 0.0);
                   const SimplexCurve inside{-1, positive, masses.data(), 0};
                   same(inside.at(1e6).value, -0.25);
               }};

const Test massless{"curves: atoms without mass have no effect", [] {
                        const std::vector<double> atoms{0.5, 1.0}, masses{1, 0};
                        const SimplexCurve curve{1, atoms, masses.data(), 1};
                        same(curve.at(1e5).value, 0.5);
                        const std::vector<double> none{0, 0};
                        const SimplexCurve flat{1, atoms, none.data(), 1};
                        same(flat.at(3).value, 0.0);
                        same(flat.at(3).slope, 0.0);
                    }};

// The ends of the range of k; includes zero if there is mass outside the support.
std::pair<double, double> range(const SimplexCurve& curve) {
    double least = curve.outside > 0 ? 0 : 1e300, most = curve.outside > 0 ? 0 : -1e300;
    for (const double x : curve.atoms) {
        least = std::min(least, curve.sign * x);
        most = std::max(most, curve.sign * x);
    }
    return {least, most};
}

const Test log_odds{
    "curves: log-odds match the value, and their slope matches finite differences", [] {
        Random random(2);
        for (int round = 0; round < 2000; ++round) {
            const SimplexLabels labels(random, 1, 1 + random.below(5), false);
            const SimplexCurve curve = labels.curve(0, random.chance(0.5));
            const auto [least, most] = range(curve);
            const double amount = random.magnitude(1e-3, 5), step = 1e-5;
            const auto naive = [&](double b) {
                const double k = naive_value(curve, b);
                return std::log((k - least) / (most - k));
            };
            const ValueSlope odds = curve.odds(amount, least, most);
            near(odds.value, naive(amount), 1e-10);
            near(odds.slope, (naive(amount + step) - naive(amount - step)) / (2 * step),
                 1e-5 * (1 + odds.slope));
        }
    }};

const Test linear_odds{"curves: log-odds of one atom are linear in the amount, even when saturated",
                       [] {
                           Random random(3);
                           for (int round = 0; round < 500; ++round) {
                               const SimplexLabels labels(random, 1, 1, true);
                               const SimplexCurve curve = labels.curve(0, random.chance(0.5));
                               const auto [least, most] = range(curve);
                               const double start = curve.odds(0, least, most).value;
                               for (const double amount : {1.0, 30.0, 300.0})
                                   near(curve.odds(amount, least, most).value, start + amount,
                                        1e-12 * (std::abs(start) + amount));
                           }
                       }};

const Test saturated{
    "curves: saturated curves are flat, nearly saturated curves still increase", [] {
        const std::vector<double> atoms{1.0}, masses{2.0}, nothing{0.0};
        const SimplexCurve inside{1, atoms, masses.data(), 0}, outside{1, atoms, nothing.data(), 3};
        for (const double amount : {0.0, 1.0, 1e3, 1e6}) {
            same(inside.at(amount).value, 1.0);
            same(inside.at(amount).slope, 0.0);
            same(outside.at(amount).value, 0.0);
            same(outside.at(amount).slope, 0.0);
        }
        for (const double rest : {1e-14, 1e-100, 1e-300}) {
            const SimplexCurve nearly{-1, atoms, masses.data(), rest};
            near(nearly.at(std::log(2 / rest)).value, -0.5, 1e-12);
        }
    }};

double pair_by_bisection(const SimplexCurve& r, const SimplexCurve& s, double margin,
                         double budget) {
    const auto sum = [&](double t) { return r.at(t).value + s.at(t).value; };
    if (sum(0) >= margin) return 0;
    if (sum(budget) <= margin) return budget;
    return bisect(sum, margin, budget);
}

const Test pairs{
    "curves: the step on a pair equals the clipped bisection", [] {
        Random random(4);
        for (int round = 0; round < 3000; ++round) {
            const Note note("round ", round);
            const SimplexLabels labels(random, 2, 1 + random.below(4), random.chance(0.3));
            const SimplexCurve r = labels.curve(0, true), s = labels.curve(1, false);
            const double margin = random.magnitude(0.01, 1.5), budget = random.magnitude(0.01, 20);
            const double expected = pair_by_bisection(r, s, margin, budget);
            const double slope = r.at(expected).slope + s.at(expected).slope;
            near(pair_step(r, s, margin, budget), expected,
                 1e-11 * (1 + budget) + 1e-14 / std::max(slope, 1e-15));
        }
    }};

const Test linear_pairs{"curves: the step on a pair of linear curves", [] {
                            const LinearCurve r{0.25, 2}, s{-0.5, 2};
                            same(r.at(3).value, 6.25);
                            same(r.at(3).slope, 2.0);
                            same(pair_step(r, s, 1, 10), (1 - 0.25 + 0.5) / 4);
                            same(pair_step(r, s, 1, 0.125), 0.125);
                            same(pair_step(r, s, -0.5, 10), 0.0);
                        }};

}  // namespace
}  // namespace tagalong::test::curves_test
