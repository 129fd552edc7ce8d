// SimplexCurve: value, slope and inverse, and the best step on a pair of curves.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "random.hpp"
#include "rules/curves.hpp"
#include "rules/pair_step.hpp"
#include "simplex_labels.hpp"

namespace tagalong::test {
namespace {

// The mean of x under the tilted masses, as the definition says.
double naive_value(const SimplexCurve& curve, double amount) {
    const double a = curve.sign * amount;
    long double total = curve.outside, first = 0;
    for (std::size_t i = 0; i < curve.atoms.size(); ++i) {
        const long double weight = curve.masses[i] * std::exp(static_cast<long double>(a * curve.atoms[i]));
        total += weight;
        first += weight * curve.atoms[i];
    }
    return static_cast<double>(curve.sign * first / total);
}

// Where an increasing function passes the level, on [0, cap], by halving alone.
template <class Function>
double bisect(Function&& f, double level, double cap) {
    double low = 0, high = cap;
    for (int round = 0; round < 200; ++round) {
        const double middle = 0.5 * (low + high);
        (f(middle) < level ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

const Test values{"curves: value and slope against the definition and differences", [] {
    Random random(1);
    for (int round = 0; round < 500; ++round) {
        const SimplexLabels labels(random, 1, 1 + random.below(6), random.chance(0.2));
        const SimplexCurve curve = labels.curve(0, random.chance(0.5));
        const double amount = random.magnitude(1e-3, 5), step = 1e-5;
        const ValueSlope at = curve.at(amount);
        near(at.value, naive_value(curve, amount), 1e-14);
        const double difference = (naive_value(curve, amount + step) - naive_value(curve, amount - step)) / (2 * step);
        near(at.slope, difference, 1e-8);
        near(curve.at(0).value, (curve.sign > 0 ? 1 : -1) * labels.scores()[0], 1e-15);
    }
}};

const Test far{"curves: far along, the extreme value of x", [] {
    const std::vector<double> atoms{-0.5, 0.25, 1.0}, masses{1, 2, 3};
    const SimplexCurve up{1, atoms, masses.data(), 4}, down{-1, atoms, masses.data(), 4};
    same(up.at(1e6).value, 1.0);
    same(up.at(1e6).slope, 0.0);
    same(down.at(1e6).value, 0.5);
    const std::vector<double> positive{0.25, 1.0};
    const SimplexCurve floor{-1, positive, masses.data(), 4};
    same(std::abs(floor.at(1e6).value), 0.0);
    const SimplexCurve inside{-1, positive, masses.data(), 0};
    same(inside.at(1e6).value, -0.25);
}};

const Test massless{"curves: atoms without mass do not count", [] {
    const std::vector<double> atoms{0.5, 1.0}, masses{1, 0};
    const SimplexCurve curve{1, atoms, masses.data(), 1};
    same(curve.at(1e5).value, 0.5);
    const std::vector<double> none{0, 0};
    const SimplexCurve flat{1, atoms, none.data(), 1};
    same(flat.at(3).value, 0.0);
    same(flat.at(3).slope, 0.0);
}};

const Test inverses{"curves: the inverse reaches the level from any guess", [] {
    Random random(2);
    for (int round = 0; round < 2000; ++round) {
        const SimplexLabels labels(random, 1, 1 + random.below(5), random.chance(0.2));
        const SimplexCurve curve = labels.curve(0, random.chance(0.5));
        const double cap = random.magnitude(0.01, 30), start = curve.at(0).value, end = curve.at(cap).value;
        const double level = random.between(start, end);
        if (!(level > start && level < end)) continue;
        for (const double guess : {0.0, cap, random.between(0, cap)}) {
            const double amount = curve.inverse(level, cap, guess);
            check(amount >= 0 && amount <= cap, "outside [0, cap]");
            near(curve.at(amount).value, level, 1e-14);
        }
    }
}};

const Test closed_form{"curves: the closed form of one atom is the bisection", [] {
    Random random(3);
    for (int round = 0; round < 2000; ++round) {
        const SimplexLabels labels(random, 1, 1, false);
        const SimplexCurve curve = labels.curve(0, random.chance(0.5));
        const double cap = random.magnitude(0.01, 10);
        const double level = random.between(curve.at(0).value, curve.at(cap).value);
        const double amount = bisect([&](double b) { return curve.at(b).value; }, level, cap);
        // What a rounding of the level moves.
        const double blur = 1e-15 / curve.at(amount).slope;
        near(curve.inverse(level, cap, 0), amount, 1e-12 * (1 + cap) + 8 * blur);
    }
}};

const Test saturated{"curves: saturated ones are flat, nearly saturated ones go on rising", [] {
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
        near(nearly.inverse(-0.5, 1e4, 0), std::log(2 / rest), 1e-9);
        same(nearly.inverse(-0.5, 10, 0), 10.0);
        near(nearly.at(std::log(2 / rest)).value, -0.5, 1e-12);
    }
}};

double pair_by_bisection(const SimplexCurve& r, const SimplexCurve& s, double margin, double budget) {
    const auto sum = [&](double t) { return r.at(t).value + s.at(t).value; };
    if (sum(0) >= margin) return 0;
    if (sum(budget) <= margin) return budget;
    return bisect(sum, margin, budget);
}

const Test pairs{"curves: the step on a pair is the bisection, clipped", [] {
    Random random(4);
    for (int round = 0; round < 3000; ++round) {
        const Note note("round ", round);
        const SimplexLabels labels(random, 2, 1 + random.below(4), random.chance(0.3));
        const SimplexCurve r = labels.curve(0, true), s = labels.curve(1, false);
        const double margin = random.magnitude(0.01, 1.5), budget = random.magnitude(0.01, 20);
        const double expected = pair_by_bisection(r, s, margin, budget);
        const double slope = r.at(expected).slope + s.at(expected).slope;
        near(pair_step(r, s, margin, budget), expected, 1e-11 * (1 + budget) + 1e-14 / std::max(slope, 1e-15));
    }
}};

const Test linear_pairs{"curves: the step on a pair of lines", [] {
    const LinearCurve r{0.25, 2}, s{-0.5, 2};
    same(r.at(3).value, 6.25);
    same(r.at(3).slope, 2.0);
    same(pair_step(r, s, 1, 10), (1 - 0.25 + 0.5) / 4);
    same(pair_step(r, s, 1, 0.125), 0.125);
    same(pair_step(r, s, -0.5, 10), 0.0);
}};

}  // namespace
}  // namespace tagalong::test
