// LinearPairs equals loops over all pairs, including ties.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rules/linear_pairs.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/ranking_round.hpp"

namespace tagalong::test::pair_rules_test {
namespace {

struct Coefficients {
    std::vector<double> alpha;
    double mass = 0;

    explicit Coefficients(std::size_t labels) : alpha(labels, 0.0) {}
    void add(int r, int s, double lambda) {
        alpha[static_cast<std::size_t>(r)] += lambda;
        alpha[static_cast<std::size_t>(s)] -= lambda;
        mass += lambda;
    }
};

// Calls visit(r, s, rho_r - rho_s) for every pair.
template <class Visit>
void for_pairs(const RankingRound& round, Visit&& visit) {
    for (const int r : round.relevant)
        for (const int s : round.irrelevant) visit(r, s, round.score(r) - round.score(s));
}

// The kappa >= 0 for which the sum of max(0, l - kappa) over the pairs is at most `target`, by
// bisection.
double simopt_by_bisection(const RankingRound& round, double margin, double target) {
    const auto total = [&](double kappa) {
        double sum = 0;
        for_pairs(round, [&](int, int, double gap) { sum += std::max(0.0, margin - gap - kappa); });
        return sum;
    };
    if (total(0) <= target) return 0;
    double low = 0, high = std::max(0.0, margin - round.sides.margin);
    for (int i = 0; i < 100; ++i) {
        const double middle = 0.5 * (low + high);
        (total(middle) > target ? low : high) = middle;
    }
    return high;
}

Coefficients by_loops(PairScheme scheme, const RankingRound& round, double q,
                      const RuleParameters& rule) {
    Coefficients out(round.scores.size());
    const double v = 2 * q;
    const auto in_play = [&](double gap) {
        return scheme == kSimPerc || scheme == kConProj ? gap <= 0 : gap < rule.margin;
    };
    double count = 0;
    for_pairs(round, [&](int, int, double gap) { count += in_play(gap); });
    const double kappa =
        scheme == kSimOpt ? simopt_by_bisection(round, rule.margin, rule.budget * v) : 0;
    for_pairs(round, [&](int r, int s, double gap) {
        if (!in_play(gap)) return;
        const double loss = rule.margin - gap;
        if (scheme == kSimOpt) out.add(r, s, std::max(0.0, loss - kappa) / v);
        else if (scheme == kSimPerc) out.add(r, s, rule.budget / count);
        else out.add(r, s, std::min(rule.budget, loss / v) / count);
    });
    return out;
}

void compare(PairScheme scheme, Scores kind) {
    Random random(7);
    LinearPairs rule_of_pairs;
    for (int i = 0; i < 400; ++i) {
        const int labels = 2 + random.below(i % 10 == 0 ? 150 : 20);
        const RankingRound round(random,
                                 random_scores(random, labels, kind, random.magnitude(0.1, 10)),
                                 random.chance(0.4));
        const double q = random.magnitude(1e-3, 1e2);
        const RuleParameters rule{random.magnitude(1e-3, 1e2), random.magnitude(0.05, 5), 0};
        const Note note("round ", i, ", labels ", labels, ", q ", q, ", C ", rule.budget,
                        ", margin ", rule.margin);
        Step step = fresh_step(round.scores.size());
        rule_of_pairs.step(scheme, round.sides, q, rule, step);
        const Coefficients expected = by_loops(scheme, round, q, rule);
        // The rounding errors of prefix sums are relative to the scores, not to their differences.
        double size = rule.margin;
        for (const double score : round.scores) size = std::max(size, std::abs(score));
        const double distance = 1e-13 * (rule.budget + labels * size / q);
        near(step.mass, expected.mass, distance);
        for (std::size_t k = 0; k < expected.alpha.size(); ++k)
            near(step.alpha[k], expected.alpha[k], distance);
        double balance = 0;
        for (const double alpha : step.alpha) balance += alpha;
        near(balance, 0, distance);
        at_most(step.mass, rule.budget + distance);
    }
}

void compare_all(PairScheme scheme) {
    for (const Scores kind : {Scores::spread, Scores::separated, Scores::tied})
        compare(scheme, kind);
}

const Test simperc{"pair rules: SimPerc equals the loop over pairs", [] { compare_all(kSimPerc); }};
const Test conproj{"pair rules: ConProj equals the loop over pairs", [] { compare_all(kConProj); }};
const Test simproj{"pair rules: SimProj equals the loop over pairs", [] { compare_all(kSimProj); }};
const Test simopt{"pair rules: SimOpt equals the loop over pairs with a level found by bisection",
                  [] { compare_all(kSimOpt); }};

Step step_on(PairScheme scheme, const std::vector<double>& scores, const std::vector<int>& relevant,
             const RuleParameters& rule) {
    Sides sides;
    sides.split(scores, relevant, {});
    Step step = fresh_step(scores.size());
    LinearPairs().step(scheme, sides, 0.5, rule, step);
    return step;
}

const Test tied_pair{"pair rules: equal scores are a mistake", [] {
                         const RuleParameters rule{0.25, 1, 0};
                         for (const PairScheme scheme : {kSimPerc, kConProj, kSimProj, kSimOpt}) {
                             const Step step = step_on(scheme, {2, 2}, {1}, rule);
                             same(step.alpha[1], 0.25);
                             same(step.alpha[0], -0.25);
                         }
                     }};

const Test at_the_margin{"pair rules: a pair at the margin gets no step", [] {
                             const RuleParameters rule{1, 1, 0};
                             for (const PairScheme scheme : {kSimPerc, kConProj, kSimProj, kSimOpt})
                                 check(step_on(scheme, {1, 2}, {1}, rule).empty(),
                                       "a round without loss made a step");
                             check(step_on(kSimPerc, {1, 1.5}, {1}, rule).empty(),
                                   "SimPerc made a step without a mistake");
                             check(step_on(kConProj, {1, 1.5}, {1}, rule).empty(),
                                   "ConProj made a step without a mistake");
                             same(step_on(kSimProj, {1, 1.5}, {1}, rule).mass, 0.5);
                             same(step_on(kSimOpt, {1, 1.5}, {1}, rule).mass, 0.5);
                         }};

}  // namespace
}  // namespace tagalong::test::pair_rules_test
