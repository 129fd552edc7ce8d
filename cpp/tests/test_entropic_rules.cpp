// EntropicRules on labels of the entropic geometry: the smooth, optimal, single and pair steps.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rules/entropic_rules.hpp"
#include "rules/interior_point.hpp"
#include "rules/pair_step.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/ranking_round.hpp"
#include "tests/simplex_labels.hpp"
#include "tests/smooth_conditions.hpp"

namespace tagalong::test::entropic_rules_test {
namespace {

struct Problem {
    SimplexLabels labels;
    RankingRound round;
    RuleParameters rule;

    Problem(Random& random, int count, int atoms, bool uneven, const RuleParameters& given)
        : labels(random, count, atoms, uneven),
          round(random, labels.scores(), random.chance(0.4)),
          rule(given) {}
    Problem(SimplexLabels made, std::vector<int> relevant, const RuleParameters& given)
        : labels(std::move(made)), round(labels.scores(), std::move(relevant)), rule(given) {}

    CurveOf curves() const {
        return [this](int label, bool relevant) { return labels.curve(label, relevant); };
    }
    double k(int label, bool relevant, double amount) const {
        return labels.curve(label, relevant).at(amount).value;
    }
    double gain(const Step& step) const {
        double value = rule.margin * step.mass;
        for (std::size_t y = 0; y < step.alpha.size(); ++y)
            value -= labels.complexity(static_cast<int>(y), step.alpha[y]);
        return value;
    }
    std::string words() const {
        return "labels " + text(round.scores.size()) + " (" + text(round.relevant.size()) +
               " relevant), C " + text(rule.budget) + ", T " + text(rule.temperature) +
               ", margin " + text(rule.margin) + ", scores' margin " + text(round.sides.margin);
    }
};

// Half of the problems have a binary x.
Problem random_problem(Random& random, int most_labels, bool uneven) {
    const int atoms = random.chance(0.5) ? 1 : 2 + random.below(4);
    const RuleParameters rule{random.magnitude(1e-3, 1e2), random.magnitude(0.05, 1.2),
                              random.magnitude(1e-3, 10)};
    return {random, 2 + random.below(most_labels - 1), atoms, uneven, rule};
}

void smooth_equations_hold(Random& random, int rounds, int most_labels, bool uneven) {
    EntropicRules rules;
    for (int i = 0; i < rounds; ++i) {
        const Problem p = random_problem(random, most_labels, uneven);
        const Note note("round ", i, ": ", p.words());
        Step step = fresh_step(p.round.scores.size());
        rules.smooth(p.round.sides, p.curves(), p.rule, step);
        const auto k = [&p](int label, bool relevant, double b) { return p.k(label, relevant, b); };
        const SmoothConditions solution(p.round, step, p.rule, k);
        solution.expect(1e-9);
        const double entropy = solution.entropy();
        near(step.entropy, entropy, 1e-9 * (entropy + p.rule.budget * p.rule.temperature));
        check(p.gain(step) + step.entropy >= -1e-12, "the dual value decreased");
    }
}

const Test smooth{"entropic rules: the equations of the smooth step hold", [] {
                      Random random(1);
                      smooth_equations_hold(random, 400, 12, false);
                      smooth_equations_hold(random, 10, 150, false);
                  }};
const Test smooth_uneven{
    "entropic rules: the equations of the smooth step hold for very uneven weights", [] {
        Random random(2);
        smooth_equations_hold(random, 200, 12, true);
    }};

// The level of a side: labels that moved end at it, the others are beyond it. Amounts within the
// rounding error of the budget count as zero.
double level(const Problem& p, const Step& step, bool relevant, double distance) {
    const auto& side = relevant ? p.round.relevant : p.round.irrelevant;
    double lowest = 1e300, highest = -1e300;
    for (const int label : side) {
        const double b = std::abs(step.alpha[static_cast<std::size_t>(label)]),
                     k = p.k(label, relevant, b);
        lowest = std::min(lowest, k);
        if (b > 1e-12 * p.rule.budget) highest = std::max(highest, k);
    }
    near(highest, lowest, distance);
    return lowest;
}

// Checks the optimality conditions. Returns whether the budget was spent.
bool expect_optimal(EntropicRules& rules, const Problem& p, const Where& where = Where::current()) {
    Step step = fresh_step(p.round.scores.size());
    rules.optimal(p.round.sides, p.curves(), p.rule, step);
    expect_feasible(p.round, step, p.rule.budget, 1e-9, where);
    if (p.round.sides.margin >= p.rule.margin) {
        check(step.empty(), "a round without loss made a step", where);
        return false;
    }
    const double sum = level(p, step, true, 1e-7) + level(p, step, false, 1e-7);
    const bool spent = step.mass >= p.rule.budget * (1 - 1e-9);
    if (spent) at_most(sum, p.rule.margin + 1e-7, where);
    else near(sum, p.rule.margin, 1e-7, where);
    return spent;
}

const Test optimal{"entropic rules: the optimality conditions of Update III hold", [] {
                       Random random(3);
                       EntropicRules rules;
                       int spent = 0;
                       for (int i = 0; i < 2000; ++i) {
                           const Problem p = random_problem(random, 12, false);
                           const Note note("round ", i, ": ", p.words());
                           spent += expect_optimal(rules, p);
                       }
                       check(spent > 200 && spent < 1800,
                             "the random rounds do not cover both cases");
                   }};

// When the levels are gamma apart, the relevant side has moved all of the budget except its last
// bit, and the irrelevant side twice as much.
const Test boundary{
    "entropic rules: the optimality conditions of Update III hold where one side just spends the "
    "budget",
    [] {
        const SimplexLabels labels(
            {0.21192900882309029, 0.82738383924180581},
            {{0.59241963290162059, 0.55348942621535047, 0.11997793921634681},
             {0.93161499318338215, 0.50536409321766551, 0.86148244651051697},
             {0.28626072700853605, 0.2425334580565125, 0.30602582609837931},
             {0.075091265367859594, 0.053783943793832889, 0.81958670341279383},
             {0.18994217280448156, 0.75027043174746422, 0.08849760706178883},
             {0.81540644699857545, 0.10724643065492435, 0.16776443638698021}});
        EntropicRules rules;
        for (double C = 3; C < 6; C += 0.01) {
            const Problem p(labels, {0, 1, 2, 3}, {C, 0.23644093732686941, 0});
            const Note note(p.words());
            expect_optimal(rules, p);
        }
    }};

void one_pair_is_update_two(bool uneven) {
    Random random(8);
    EntropicRules rules;
    for (int i = 0; i < 300; ++i) {
        const Problem p = random_problem(random, 2, uneven);
        const Note note("round ", i, ": ", p.words());
        Step optimal = fresh_step(2), single = optimal;
        rules.optimal(p.round.sides, p.curves(), p.rule, optimal);
        rules.single(p.round.sides, p.curves(), p.rule, single);
        const double m = single.mass;
        const double slope = p.labels.curve(p.round.sides.lowest_relevant, true).at(m).slope +
                             p.labels.curve(p.round.sides.highest_irrelevant(), false).at(m).slope;
        near(optimal.mass, m, 1e-9 * (p.rule.budget + 1e-4 / std::max(slope, 1e-15)));
    }
}

const Test one_pair{"entropic rules: for one pair, Update III equals Update II",
                    [] { one_pair_is_update_two(false); }};
// Weights as after long learning: for example, all but 1e-10 of a label's mass is on the features
// of x.
const Test saturated_pair{
    "entropic rules: for one pair of labels with very uneven weights, Update III equals Update II",
    [] { one_pair_is_update_two(true); }};

const Test never_less{
    "entropic rules: Update III gains at least as much as Update II, also for very uneven weights",
    [] {
        Random random(4);
        EntropicRules rules;
        for (int i = 0; i < 600; ++i) {
            const Problem p = random_problem(random, 12, i % 2 == 0);
            const Note note("round ", i, ": ", p.words());
            Step optimal = fresh_step(p.round.scores.size()), single = optimal;
            rules.optimal(p.round.sides, p.curves(), p.rule, optimal);
            rules.single(p.round.sides, p.curves(), p.rule, single);
            at_most(p.gain(single), p.gain(optimal) + 1e-9 * p.rule.budget);
        }
    }};

const Test interior{
    "entropic rules: Update III equals the interior point method", [] {
        Random random(5);
        EntropicRules rules;
        InteriorPoint<SimplexCurve> interior_point;
        for (int i = 0; i < 200; ++i) {
            const RuleParameters rule{random.magnitude(0.05, 3), random.magnitude(0.05, 0.6), 0};
            const Problem p(random, 2 + random.below(12), 1 + random.below(3), false, rule);
            const Note note("round ", i, ": ", p.words());
            Step exact = fresh_step(p.round.scores.size()), step = exact;
            rules.optimal(p.round.sides, p.curves(), p.rule, exact);
            interior_point.step(p.round.sides, p.curves(), p.rule, step);
            near(p.gain(step), p.gain(exact), 1e-10);
            for (std::size_t k = 0; k < exact.alpha.size(); ++k)
                near(step.alpha[k], exact.alpha[k], 1e-6);
        }
    }};

const Test single{
    "entropic rules: the single step moves the worst pair", [] {
        Random random(6);
        EntropicRules rules;
        for (int i = 0; i < 300; ++i) {
            const Problem p = random_problem(random, 10, false);
            const Note note("round ", i, ": ", p.words());
            Step step = fresh_step(p.round.scores.size());
            rules.single(p.round.sides, p.curves(), p.rule, step);
            const int r = p.round.sides.lowest_relevant, s = p.round.sides.highest_irrelevant();
            const double amount = p.round.sides.margin >= p.rule.margin
                                      ? 0
                                      : pair_step(p.labels.curve(r, true), p.labels.curve(s, false),
                                                  p.rule.margin, p.rule.budget);
            same(step.mass, amount);
            for (std::size_t k = 0; k < step.alpha.size(); ++k)
                same(step.alpha[k], static_cast<int>(k) == r   ? amount
                                    : static_cast<int>(k) == s ? -amount
                                                               : 0);
            check(p.gain(step) >= -1e-14, "the dual value decreased");
        }
    }};

void pairs_like_loops(PairScheme scheme) {
    Random random(7);
    EntropicRules rules;
    for (int i = 0; i < 200; ++i) {
        const Problem p = random_problem(random, 12, false);
        const Note note("round ", i, ": ", p.words());
        std::vector<double> expected(p.round.scores.size(), 0.0);
        double count = 0;
        for (const int r : p.round.relevant)
            for (const int s : p.round.irrelevant) {
                const double gap = p.round.score(r) - p.round.score(s);
                if (scheme == kSimProj ? gap >= p.rule.margin : gap > 0) continue;
                const double amount = scheme == kSimPerc ? p.rule.budget
                                                         : pair_step(p.labels.curve(r, true),
                                                                     p.labels.curve(s, false),
                                                                     p.rule.margin, p.rule.budget);
                expected[static_cast<std::size_t>(r)] += amount;
                expected[static_cast<std::size_t>(s)] -= amount;
                ++count;
            }
        Step step = fresh_step(p.round.scores.size());
        rules.pairs(scheme, p.round.sides, p.curves(), p.rule, step);
        expect_feasible(p.round, step, p.rule.budget, 1e-12);
        for (std::size_t k = 0; k < expected.size(); ++k)
            near(step.alpha[k], count > 0 ? expected[k] / count : 0, 1e-13 * p.rule.budget);
    }
}

const Test pairs{"entropic rules: SimPerc, ConProj and SimProj equal the loop over pairs", [] {
                     pairs_like_loops(kSimPerc);
                     pairs_like_loops(kConProj);
                     pairs_like_loops(kSimProj);
                 }};

}  // namespace
}  // namespace tagalong::test::entropic_rules_test
