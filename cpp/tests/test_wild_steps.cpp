// Steps of every update rule on numbers of any magnitude: they end, are finite and feasible, and
// say whether they are solved.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rules/rule_table.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/ranking_round.hpp"
#include "tests/simplex_labels.hpp"

namespace tagalong::test::wild_steps_test {
namespace {

// Numbers near 1 half of the time, otherwise of any magnitude up to `largest`.
double wild(Random& random, double largest) {
    if (random.chance(0.5)) return random.magnitude(0.1, 10);
    return random.magnitude(1 / largest, largest);
}
double wild_signed(Random& random, double largest) {
    if (random.chance(0.1)) return 0;
    return (random.chance(0.5) ? 1 : -1) * wild(random, largest);
}

RuleParameters wild_rule(Random& random) {
    return {wild(random, 1e12), wild(random, 1e12), wild(random, 1e12)};
}

std::string words(const RankingRound& round, const RuleParameters& rule, double q) {
    std::string out = "q " + text(q) + ", C " + text(rule.budget) + ", margin " +
                      text(rule.margin) + ", T " + text(rule.temperature) + ", scores";
    for (const double score : round.scores) out += " " + text(score);
    return out;
}

void expect_sound(const RankingRound& round, const Step& step, const RuleParameters& rule) {
    for (const double alpha : step.alpha)
        check(std::isfinite(alpha), "a coefficient is not finite");
    check(std::isfinite(step.mass) && step.mass >= 0, "the mass is not finite");
    check(std::isfinite(step.entropy) && step.entropy >= 0, "the entropy is not finite");
    expect_feasible(round, step, rule.budget, 1e-6);
}

template <class Look>
void every_rule(Look&& look) {
    for (const LabelRule& rule : label_rules())
        for (const Solver solver : {Solver::exact, Solver::interior_point}) {
            if (solver == Solver::interior_point && !rule.interior_point) continue;
            const Note note("update ", rule.name);
            look(rule, solver);
        }
}

const Test linear{"wild steps: linear steps are finite and feasible", [] {
                      every_rule([](const LabelRule& rule, Solver solver) {
                          Random random(11);
                          const LinearStep step = rule.linear(solver);
                          for (int i = 0; i < 3000; ++i) {
                              std::vector<double> scores(2 + random.below(8));
                              const double largest = random.chance(0.5) ? 1e15 : 1e150;
                              for (double& score : scores) score = wild_signed(random, largest);
                              const RankingRound round(random, scores, random.chance(0.4));
                              const RuleParameters parameters = wild_rule(random);
                              const double q = wild(random, 1e300);
                              const Note note(words(round, parameters, q));
                              Step out = fresh_step(scores.size());
                              step(round.sides, q, parameters, out);
                              expect_sound(round, out, parameters);
                          }
                      });
                  }};

const Test nan_scale{
    "wild steps: a step along a row whose length is not a number ends and is finite", [] {
        every_rule([](const LabelRule& rule, Solver solver) {
            const RankingRound round({1, 2, 0, 3}, {0, 2});
            const RuleParameters parameters{1, 1, 0.1};
            for (const double q : {std::numeric_limits<double>::quiet_NaN(),
                                   std::numeric_limits<double>::infinity(), 0.0}) {
                const Note note("q ", q);
                Step out = fresh_step(round.scores.size());
                rule.linear(solver)(round.sides, q, parameters, out);
                expect_sound(round, out, parameters);
            }
        });
    }};

const Test limit{"wild steps: a step beyond the solver's limit is the step on the worst pair", [] {
                     std::vector<std::vector<double>> masses(40, std::vector<double>(8, 1.0));
                     const SimplexLabels labels(
                         {5.1e17, 5.5e17, 6.2e17, 7.7e17, 8.3e17, 9.1e17, 9.9e17}, masses);
                     const RankingRound round(labels.scores(), {1, 5, 9});
                     const CurveOf curve = [&](int label, bool relevant) {
                         return labels.curve(label, relevant);
                     };
                     const auto take = [&](const char* update, double budget) {
                         Step out = fresh_step(round.scores.size());
                         label_rule(update).entropic(Solver::exact)(round.sides, curve,
                                                                    {budget, 0.01, 0.001}, out);
                         return out;
                     };
                     for (const double budget : {1.0, 1e6}) {
                         const Step step = take("smooth", budget);
                         check(!step.solved, "the step counts as solved");
                         same_bits(step.alpha, take("single", budget).alpha);
                     }
                 }};

const Test simplex{
    "wild steps: entropic steps are finite and feasible", [] {
        every_rule([](const LabelRule& rule, Solver solver) {
            if (rule.entropic == nullptr) return;
            Random random(12);
            const EntropicStep step = rule.entropic(solver);
            for (int i = 0; i < 100; ++i) {
                std::vector<double> atoms(1 + random.below(5));
                const double largest = random.chance(0.5) ? 1e6 : 1e150;
                for (double& atom : atoms) do
                        atom = wild_signed(random, largest);
                    while (atom == 0);
                std::sort(atoms.begin(), atoms.end());
                std::vector<std::vector<double>> masses(2 + random.below(5));
                for (auto& label : masses)
                    for (std::size_t a = 0; a <= atoms.size(); ++a)
                        label.push_back(random.chance(0.1) ? 0 : random.magnitude(1e-300, 1));
                for (auto& label : masses) label[random.below(static_cast<int>(atoms.size()))] = 1;
                const SimplexLabels labels(atoms, masses);
                const RankingRound round(random, labels.scores(), random.chance(0.4));
                const RuleParameters parameters = wild_rule(random);
                const Note note(words(round, parameters, 0));
                const CurveOf curve = [&](int label, bool relevant) {
                    return labels.curve(label, relevant);
                };
                Step out = fresh_step(round.scores.size());
                step(round.sides, curve, parameters, out);
                expect_sound(round, out, parameters);
            }
        });
    }};

}  // namespace
}  // namespace tagalong::test::wild_steps_test
