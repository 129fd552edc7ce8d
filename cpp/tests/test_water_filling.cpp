// LinearWaterFilling: optimality conditions, comparison with bisection and with the interior point
// method.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rules/curves.hpp"
#include "rules/interior_point.hpp"
#include "rules/linear_water_filling.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/ranking_round.hpp"

namespace tagalong::test::water_filling_test {
namespace {

struct Problem {
    RankingRound round;
    double q;
    RuleParameters rule;
};

Problem random_problem(Random& random, int most_labels, double least, double most) {
    const Scores kind =
        std::vector<Scores>{Scores::spread, Scores::separated, Scores::tied}[random.bits() % 3];
    const int labels = 2 + random.below(most_labels - 1);
    RankingRound round(random, random_scores(random, labels, kind, random.magnitude(0.1, 3)),
                       random.chance(0.4));
    const double q = random.magnitude(least, most);
    return {std::move(round), q, {random.magnitude(least, most), random.magnitude(0.1, 3), 0}};
}

Step filled(LinearWaterFilling& filling, const Problem& p) {
    Step step = fresh_step(p.round.scores.size());
    filling.step(p.round.sides, p.q, p.rule, step);
    return step;
}

// Each side has a level: labels that moved end at it, the others are beyond it.
struct Levels {
    double u = 0, v = 0;

    Levels(const Problem& p, const Step& step, double distance) {
        const auto& alpha = step.alpha;
        const auto end = [&](int label) {
            return p.round.score(label) + p.q * alpha[static_cast<std::size_t>(label)];
        };
        // The label with the largest step gives the level most accurately.
        const auto moved_less = [&](int a, int b) {
            return std::abs(alpha[static_cast<std::size_t>(a)]) <
                   std::abs(alpha[static_cast<std::size_t>(b)]);
        };
        u = end(*std::max_element(p.round.relevant.begin(), p.round.relevant.end(), moved_less));
        v = end(
            *std::max_element(p.round.irrelevant.begin(), p.round.irrelevant.end(), moved_less));
        for (const int r : p.round.relevant) {
            if (alpha[static_cast<std::size_t>(r)] > 0) near(end(r), u, distance);
            else at_most(u, end(r) + distance);
        }
        for (const int s : p.round.irrelevant) {
            if (alpha[static_cast<std::size_t>(s)] < 0) near(end(s), v, distance);
            else at_most(end(s), v + distance);
        }
    }
};

const Test optimality{
    "water filling: the optimality conditions hold", [] {
        Random random(1);
        LinearWaterFilling filling;
        int slack = 0, tight = 0;
        for (int i = 0; i < 3000; ++i) {
            const Problem p = random_problem(random, i % 10 == 0 ? 300 : 20, 1e-3, 1e3);
            const Note note("round ", i, ", labels ", p.round.scores.size(), ", q ", p.q, ", C ",
                            p.rule.budget);
            const Step step = filled(filling, p);
            // An amount is a difference of scores divided by q, which sets its rounding error.
            const double blur =
                1e-14 * static_cast<double>(p.round.scores.size()) / (p.q * p.rule.budget);
            expect_feasible(p.round, step, p.rule.budget, 1e-9 + blur);
            if (p.round.sides.margin >= p.rule.margin) {
                check(step.empty(), "a round without loss made a step");
                continue;
            }
            const Levels levels(p, step, 1e-11);
            const bool spent = step.mass >= p.rule.budget * (1 - 1e-12);
            ++(spent ? tight : slack);
            if (spent) at_most(levels.u - levels.v, p.rule.margin + 1e-10);
            else near(levels.u - levels.v, p.rule.margin, 1e-10);
        }
        check(slack > 300 && tight > 300, "the random rounds do not cover both cases");
    }};

// The mass that raises the relevant labels to a level, or lowers the irrelevant labels to it.
double mass_at(const Problem& p, double level, bool up) {
    double mass = 0;
    for (const int label : up ? p.round.relevant : p.round.irrelevant)
        mass +=
            std::max(0.0, (up ? level - p.round.score(label) : p.round.score(label) - level) / p.q);
    return mass;
}
double level_of_mass(const Problem& p, double mass, bool up) {
    double low = up ? -1e7 : 1e7, high = -low;
    for (int i = 0; i < 200; ++i) {
        const double middle = 0.5 * (low + high);
        (mass_at(p, middle, up) < mass ? low : high) = middle;
    }
    return high;
}

const Test bisection{
    "water filling: equals bisection over the mass", [] {
        Random random(2);
        LinearWaterFilling filling;
        for (int i = 0; i < 200; ++i) {
            const Problem p = random_problem(random, 25, 1e-2, 1e2);
            const Note note("round ", i, ", labels ", p.round.scores.size(), ", q ", p.q, ", C ",
                            p.rule.budget);
            double low = 0, high = p.rule.budget;
            for (int halving = 0; halving < 60; ++halving) {
                const double mass = 0.5 * (low + high);
                const double reach = level_of_mass(p, mass, true) - level_of_mass(p, mass, false);
                (reach < p.rule.margin ? low : high) = mass;
            }
            const Step step = filled(filling, p);
            near(step.mass, high, 1e-9 * p.rule.budget + 1e-12 / p.q);
            const double u = level_of_mass(p, high, true), v = level_of_mass(p, high, false);
            for (const int r : p.round.relevant)
                near(step.alpha[static_cast<std::size_t>(r)],
                     std::max(0.0, (u - p.round.score(r)) / p.q), 1e-8 / p.q);
            for (const int s : p.round.irrelevant)
                near(step.alpha[static_cast<std::size_t>(s)],
                     std::min(0.0, (v - p.round.score(s)) / p.q), 1e-8 / p.q);
        }
    }};

// In random rounds no label is within 1e-6 of the level that decides whether it moves. So the two
// methods agree more closely than the tolerance of the interior point method guarantees.
const Test interior{
    "water filling: equals the interior point method", [] {
        Random random(3);
        LinearWaterFilling filling;
        InteriorPoint<LinearCurve> interior_point;
        std::vector<int> iterations;
        for (int i = 0; i < 400; ++i) {
            const int labels = 2 + random.below(30);
            const RankingRound round(random, random_scores(random, labels, Scores::spread, 1),
                                     random.chance(0.4));
            const Problem p{round,
                            random.magnitude(0.1, 10),
                            {random.magnitude(0.05, 5), random.magnitude(0.2, 3), 0}};
            const Note note("round ", i, ", labels ", labels, ", q ", p.q, ", C ", p.rule.budget,
                            ", margin ", p.rule.margin);
            const Step exact = filled(filling, p);
            Step step = fresh_step(p.round.scores.size());
            interior_point.step(
                p.round.sides,
                [&](int label, bool relevant) {
                    return LinearCurve{relevant ? p.round.score(label) : -p.round.score(label),
                                       p.q};
                },
                p.rule, step);
            near(step.mass, exact.mass, 1e-8);
            for (std::size_t k = 0; k < exact.alpha.size(); ++k)
                near(step.alpha[k], exact.alpha[k], 1e-8);
            iterations.push_back(step.iterations);
        }
        std::sort(iterations.begin(), iterations.end());
        at_most(iterations[iterations.size() * 9 / 10], 50);
    }};

double gain(const Problem& p, const std::vector<double>& alpha) {
    double value = 0;
    for (const int r : p.round.relevant)
        value += p.rule.margin * alpha[static_cast<std::size_t>(r)];
    for (std::size_t k = 0; k < alpha.size(); ++k)
        value -= p.round.scores[k] * alpha[k] + 0.5 * p.q * alpha[k] * alpha[k];
    return value;
}

const Test best{"water filling: no feasible step gains more", [] {
                    Random random(4);
                    LinearWaterFilling filling;
                    for (int i = 0; i < 500; ++i) {
                        const Problem p = random_problem(random, 12, 1e-2, 1e2);
                        const Note note("round ", i);
                        const Step step = filled(filling, p);
                        const double best = gain(p, step.alpha);
                        check(best >= 0, "the dual value decreased");
                        for (int trial = 0; trial < 30; ++trial) {
                            // A convex combination of the step and a random feasible step is
                            // feasible.
                            std::vector<double> other(step.alpha.size(), 0.0);
                            const double mass = p.rule.budget * random.uniform();
                            for (const auto* side : {&p.round.relevant, &p.round.irrelevant}) {
                                std::vector<double> share;
                                double sum = 0;
                                for (std::size_t j = 0; j < side->size(); ++j)
                                    sum += share.emplace_back(random.magnitude(1e-3, 1));
                                for (std::size_t j = 0; j < side->size(); ++j)
                                    other[static_cast<std::size_t>((*side)[j])] =
                                        (side == &p.round.relevant ? mass : -mass) * share[j] / sum;
                            }
                            const double part = random.magnitude(1e-6, 1);
                            for (std::size_t k = 0; k < other.size(); ++k)
                                other[k] = part * other[k] + (1 - part) * step.alpha[k];
                            at_most(gain(p, other), best + 1e-12 * (1 + std::abs(best)));
                        }
                    }
                }};

const Test equal_labels{"water filling: equal labels make equal steps", [] {
                            Sides sides;
                            sides.split(std::vector<double>{0, 0, 0, 0, 0}, std::vector<int>{1, 3},
                                        {});
                            Step step = fresh_step(5);
                            LinearWaterFilling().step(sides, 2, {100, 1, 0}, step);
                            // m/2 + m/3 = gamma / q
                            near(step.mass, 0.6, 1e-15);
                            for (const std::size_t r : {1u, 3u}) near(step.alpha[r], 0.3, 1e-15);
                            for (const std::size_t s : {0u, 2u, 4u})
                                near(step.alpha[s], -0.2, 1e-15);
                        }};

}  // namespace
}  // namespace tagalong::test::water_filling_test
