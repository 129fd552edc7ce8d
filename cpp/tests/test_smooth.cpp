// LinearSmooth: its equations, its entropy, and optimality among feasible steps.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rules/linear_smooth.hpp"
#include "rules/linear_water_filling.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/ranking_round.hpp"
#include "tests/smooth_conditions.hpp"

namespace tagalong::test::smooth_test {
namespace {

struct Problem {
    RankingRound round;
    double q;
    RuleParameters rule;

    std::string words() const {
        return "labels " + text(round.scores.size()) + " (" + text(round.relevant.size()) +
               " relevant), q " + text(q) + ", C " + text(rule.budget) + ", T " +
               text(rule.temperature) + ", margin " + text(rule.margin) + ", scores' margin " +
               text(round.sides.margin);
    }
};

Problem random_problem(Random& random, int labels) {
    const Scores kind =
        std::vector<Scores>{Scores::spread, Scores::separated, Scores::tied}[random.bits() % 3];
    RankingRound round(random, random_scores(random, labels, kind, random.magnitude(0.01, 10)),
                       random.chance(0.4));
    const double q = random.magnitude(1e-6, 1e3);
    return {std::move(round),
            q,
            {random.magnitude(1e-3, 1e3), random.magnitude(0.1, 3), random.magnitude(1e-3, 10)}};
}

Step smoothed(LinearSmooth& smooth, const Problem& p) {
    Step step = fresh_step(p.round.scores.size());
    smooth.step(p.round.sides, p.q, p.rule, step);
    return step;
}

auto conditions(const Problem& p, const Step& step) {
    const auto line = [&p](int label, bool relevant, double b) {
        return (relevant ? p.round.score(label) : -p.round.score(label)) + p.q * b;
    };
    return SmoothConditions(p.round, step, p.rule, line);
}

void equations_hold(Random& random, int rounds, int least, int most) {
    LinearSmooth smooth;
    for (int i = 0; i < rounds; ++i) {
        const Problem p = random_problem(random, least + random.below(most - least + 1));
        const Note note("round ", i, ": ", p.words());
        const Step step = smoothed(smooth, p);
        const auto solution = conditions(p, step);
        solution.expect(1e-9);
        const double entropy = solution.entropy();
        near(step.entropy, entropy, 1e-9 * (entropy + p.rule.budget * p.rule.temperature));
    }
}

const Test two_labels{"smooth: the equations hold for two labels", [] {
                          Random random(1);
                          equations_hold(random, 2000, 2, 2);
                      }};
const Test some_labels{"smooth: the equations hold for up to 30 labels", [] {
                           Random random(2);
                           equations_hold(random, 3000, 3, 30);
                       }};
const Test many_labels{"smooth: the equations hold for up to 500 labels", [] {
                           Random random(1003);
                           equations_hold(random, 500, 31, 500);
                       }};

// Long examples at low temperatures, where Newton's method often does not converge.
const Test long_examples{"smooth: the equations hold for long examples at low temperatures", [] {
                             Random random(9);
                             LinearSmooth smooth;
                             for (int i = 0; i < 600; ++i) {
                                 Problem p = random_problem(
                                     random, 2 + random.below(i % 3 == 0 ? 400 : 40));
                                 p.q = random.magnitude(1e2, 1e3);
                                 p.rule.temperature = random.magnitude(1e-3, 1e-2);
                                 const Note note("round ", i, ": ", p.words());
                                 conditions(p, smoothed(smooth, p)).expect(1e-9);
                             }
                         }};

// Two labels: b_r = b_s = m, so the equations reduce to one equation in the logit of m / C.
const Test one_pair{
    "smooth: for one pair the step is the root of one equation", [] {
        Random random(4);
        LinearSmooth smooth;
        for (int i = 0; i < 1000; ++i) {
            const Problem p = random_problem(random, 2);
            const Note note("round ", i, ": ", p.words());
            const double T = p.rule.temperature, C = p.rule.budget;
            double low = -1e5, high = 1e5;
            for (int halving = 0; halving < 110; ++halving) {
                const double z = 0.5 * (low + high), m = C / (1 + std::exp(-z));
                const double left = p.rule.margin - p.round.sides.margin - 2 * p.q * m - T * z;
                (left > 0 ? low : high) = z;
            }
            const double m = C / (1 + std::exp(-low)), mass = smoothed(smooth, p).mass;
            if ((p.rule.margin - p.round.sides.margin) / T > kNoLoss) near(mass / m, 1, 1e-9);
            else at_most(mass, m * (1 + 1e-9));
        }
    }};

const Test extreme_temperatures{
    "smooth: the equations hold at the ends of the ranges", [] {
        Random random(5);
        LinearSmooth smooth;
        for (const double T : {1e-3, 10.0})
            for (const double q : {1e-6, 1e3})
                for (const double C : {1e-3, 1e3})
                    for (const double size : {0.0, 0.01, 1.0, 10.0})
                        for (const int labels : {2, 3, 40, 500}) {
                            const Problem p{
                                RankingRound(random,
                                             random_scores(random, labels, Scores::spread, size),
                                             true),
                                q,
                                {C, 1, T}};
                            const Note note("size ", size, ": ", p.words());
                            conditions(p, smoothed(smooth, p)).expect(1e-9);
                        }
    }};

// Ranked correctly by a wide margin, as at the end of learning: the step is close to zero.
const Test far_apart{
    "smooth: a round ranked correctly by a wide margin makes a tiny step", [] {
        LinearSmooth smooth;
        for (const double gap : {1.5, 1.7, 2.0, 5.0, 20.0, 1e6}) {
            const Note note("gap ", gap);
            Sides sides;
            sides.split(std::vector<double>{gap, 0, 0}, std::vector<int>{0}, {});
            Step step = fresh_step(3);
            smooth.step(sides, 1, {1, 1, 1e-3}, step);
            for (const double amount :
                 {step.alpha[0], -step.alpha[1], -step.alpha[2], step.mass, step.entropy})
                check(amount >= 0 && amount <= 1e-200, text(amount) + " is not close to zero");
        }
    }};

const Test far_off{"smooth: a round ranked wrongly by a wide margin spends the budget", [] {
                       LinearSmooth smooth;
                       for (const double gap : {-0.7, -2.0, -5.0, -20.0, -1e6}) {
                           const Note note("gap ", gap);
                           Sides sides;
                           sides.split(std::vector<double>{gap, 0, 0}, std::vector<int>{0}, {});
                           Step step = fresh_step(3);
                           smooth.step(sides, 1e-3, {1, 1, 1e-3}, step);
                           near(step.alpha[0], 1, 1e-12);
                           near(step.alpha[1], -0.5, 1e-12);
                           near(step.alpha[2], -0.5, 1e-12);
                       }
                   }};

// gamma m + C T H(p) - sum_y (rho_y alpha_y + q alpha_y^2 / 2), where p has the largest entropy for
// these alpha: the product of the shares.
double gain(const Problem& p, const std::vector<double>& alpha, double mass) {
    Step step;
    step.alpha = alpha;
    step.mass = mass;
    double value = p.rule.margin * mass + conditions(p, step).entropy();
    for (std::size_t k = 0; k < alpha.size(); ++k)
        value -= p.round.scores[k] * alpha[k] + 0.5 * p.q * alpha[k] * alpha[k];
    return value;
}

// A random feasible point: a new mass, and each label's amount times a random factor.
std::vector<double> perturbed(Random& random, const Problem& p, const Step& step, double size,
                              double& mass) {
    std::vector<double> alpha(step.alpha.size(), 0.0);
    const double room = p.rule.budget - step.mass;
    mass = random.chance(0.5) ? step.mass * (1 - size * random.uniform())
                              : step.mass + size * room * random.uniform();
    for (const auto* side : {&p.round.relevant, &p.round.irrelevant}) {
        double sum = 0;
        for (const int label : *side)
            sum += alpha[static_cast<std::size_t>(label)] =
                std::abs(step.alpha[static_cast<std::size_t>(label)]) *
                std::exp(size * random.normal());
        const double sign = side == &p.round.relevant ? 1 : -1;
        for (const int label : *side) alpha[static_cast<std::size_t>(label)] *= sign * mass / sum;
    }
    return alpha;
}

const Test best{
    "smooth: no feasible step gains more", [] {
        Random random(6);
        LinearSmooth smooth;
        for (int i = 0; i < 400; ++i) {
            const Problem p = random_problem(random, 2 + random.below(15));
            const Note note("round ", i, ": ", p.words());
            const Step step = smoothed(smooth, p);
            if (step.empty()) continue;
            const double most = gain(p, step.alpha, step.mass);
            const double rounding = 1e-12 * (std::abs(most) + p.rule.margin * p.rule.budget);
            check(most >= -rounding, "the dual value decreased");
            for (int trial = 0; trial < 20; ++trial) {
                double mass = 0;
                const auto other = perturbed(random, p, step, random.magnitude(1e-4, 1), mass);
                at_most(gain(p, other, mass), most + rounding);
            }
        }
    }};

// The smoothed loss lies between the hinge of the worst pair and T log(1 + pairs) above it.
const Test near_optimal{
    "smooth: the gain differs from that of Update III by at most the entropy", [] {
        Random random(7);
        LinearSmooth smooth;
        LinearWaterFilling filling;
        for (int i = 0; i < 1000; ++i) {
            const Problem p = random_problem(random, 2 + random.below(100));
            const Note note("round ", i, ": ", p.words());
            const Step step = smoothed(smooth, p);
            Step hard = fresh_step(p.round.scores.size());
            filling.step(p.round.sides, p.q, p.rule, hard);
            double optimum = p.rule.margin * hard.mass;
            for (std::size_t k = 0; k < hard.alpha.size(); ++k)
                optimum -=
                    p.round.scores[k] * hard.alpha[k] + 0.5 * p.q * hard.alpha[k] * hard.alpha[k];
            const double pairs =
                static_cast<double>(p.round.relevant.size() * p.round.irrelevant.size());
            const double room = p.rule.budget * p.rule.temperature * std::log1p(pairs);
            const double value = gain(p, step.alpha, step.mass);
            // The amounts of Update III are differences of scores divided by q.
            double size = p.rule.margin;
            for (const double score : p.round.scores) size = std::max(size, std::abs(score));
            const double blur =
                1e-15 * static_cast<double>(p.round.scores.size()) * size * size / p.q;
            const double rounding = 1e-9 * (std::abs(optimum) + room) + blur;
            at_most(optimum, value + rounding);
            at_most(value, optimum + room + rounding);
        }
    }};

const Test again{"smooth: a round does not depend on the previous one", [] {
                     Random random(8);
                     LinearSmooth used;
                     for (int i = 0; i < 200; ++i) {
                         const Problem p = random_problem(random, 2 + random.below(60));
                         LinearSmooth fresh;
                         const Step first = smoothed(fresh, p), second = smoothed(used, p);
                         same_bits(second.alpha, first.alpha);
                         same(second.mass, first.mass);
                         same(second.entropy, first.entropy);
                     }
                 }};

}  // namespace
}  // namespace tagalong::test::smooth_test
