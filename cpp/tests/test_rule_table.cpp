// The tables of update rules: their names, their properties, and steps that keep to them.
#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "blocks/rule_table.hpp"
#include "predtron/rule_table.hpp"
#include "rules/rule_table.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/ranking_round.hpp"

namespace tagalong::test {
namespace {

template <class Rule>
void names_are_sound(std::span<const Rule> rules) {
    std::set<std::string_view> names;
    for (const Rule& rule : rules) {
        const Note note("update ", rule.name);
        check(names.insert(rule.name).second, "two rules have the same name");
        check(&find_rule(rules, rule.name) == &rule, "the wrong rule was found");
        check(!rule.description.empty() && rule.description.find('\n') == std::string_view::npos,
              "the description is not one line");
    }
    std::string message;
    try {
        find_rule(rules, "none");
    } catch (const InputError& error) {
        message = error.what();
    }
    same(message, std::string("update has no choice 'none'"));
}

const Test names{"rule tables: every name is found exactly once, unknown names are refused", [] {
                     names_are_sound(label_rules());
                     names_are_sound(block_rules());
                     names_are_sound(std::span<const PredtronUpdate>(kPredtronUpdates));
                 }};

const Test steps{
    "rule tables: every rule has a linear step, and a substitute if it has no entropic step", [] {
        for (const LabelRule& rule : label_rules()) {
            const Note note("update ", rule.name);
            check(rule.linear != nullptr, "no linear step");
            same(rule.entropic == nullptr, !rule.entropic_instead.empty());
            if (rule.entropic == nullptr)
                check(label_rule(rule.entropic_instead).entropic != nullptr,
                      "the substitute has no entropic step");
        }
        for (const BlockRule& rule : block_rules()) {
            const Note note("update ", rule.name);
            check(rule.linear != nullptr, "no linear step");
        }
    }};

const Test families{"rule tables: a name has the same bound for labels and for blocks", [] {
                        int shared = 0;
                        for (const LabelRule& rule : label_rules())
                            for (const BlockRule& other : block_rules())
                                if (rule.name == other.name) {
                                    const Note note("update ", rule.name);
                                    check(rule.bound == other.bound, "bounds differ");
                                    ++shared;
                                }
                        check(shared > 0, "the tables share no name");
                    }};

// Calls `look` with random rounds, some with ties, and the step of the rule for each.
template <class Look>
void every_linear_step(const LabelRule& rule, Solver solver, Look&& look) {
    Random random(7);
    const LinearStep step = rule.linear(solver);
    for (int i = 0; i < 100; ++i) {
        const Scores kind = i % 2 == 0 ? Scores::spread : Scores::tied;
        const RankingRound round(random, random_scores(random, 12, kind, 1), random.chance(0.4));
        Step out = fresh_step(round.scores.size());
        step(round.sides, 0.5, {0.7, 1, 0.05}, out);
        look(round, out);
    }
}

const Test few{"rule tables: rules marked as moving few labels move one pair, the others more", [] {
                   for (const LabelRule& rule : label_rules()) {
                       const Note note("update ", rule.name);
                       std::size_t most = 0;
                       every_linear_step(rule, Solver::exact,
                                         [&](const RankingRound&, const Step& step) {
                                             most = std::max(most, step.touched.size());
                                         });
                       if (rule.few_labels) same(most, std::size_t{2});
                       else check(most > 2, "the rule moved only one pair");
                   }
               }};

const Test solvers{
    "rule tables: only rules with an interior point method iterate, with the same result", [] {
        for (const LabelRule& rule : label_rules()) {
            const Note note("update ", rule.name);
            std::vector<Step> exact;
            every_linear_step(rule, Solver::exact, [&](const RankingRound&, const Step& step) {
                exact.push_back(step);
            });
            std::size_t i = 0;
            int iterations = 0;
            every_linear_step(rule, Solver::interior_point,
                              [&](const RankingRound&, const Step& step) {
                                  for (std::size_t k = 0; k < step.alpha.size(); ++k)
                                      near(step.alpha[k], exact[i].alpha[k], 1e-6);
                                  iterations += step.iterations;
                                  ++i;
                              });
            same(iterations > 0, rule.interior_point);
        }
    }};

const Test given{
    "rule tables: for rules with a fixed step, a mistake moves the whole budget", [] {
        for (const LabelRule& rule : label_rules()) {
            if (rule.bound != MistakeBound::full_step) continue;
            const Note note("update ", rule.name);
            every_linear_step(rule, Solver::exact, [](const RankingRound& round, const Step& step) {
                near(step.mass, round.sides.has_pair() && round.sides.mistake() ? 0.7 : 0, 1e-12);
            });
        }
    }};

const Test rows{
    "rule tables: a block rule moves the rows that its ActiveRows names, and no others", [] {
        // A mistake, a larger mistake, within the margin, beyond the margin; each with
        // its own optimal step.
        const std::vector<BlockRow> rows{
            {-1, 1, 4, 0.5}, {-2, 1, 4, 0.7}, {0.5, 1, 2, 0.25}, {3, 1, 1, 0}};
        const std::function<void(std::vector<double>&)> optimum = [](std::vector<double>& lambda) {
            lambda = {0.1, 0.2, 0.3, 0.4};
        };
        for (const BlockRule& rule : block_rules()) {
            const Note note("update ", rule.name);
            std::vector<double> lambda;
            rule.linear({rows, 1, 0.7, optimum}, lambda);
            same(lambda.size(), rows.size());
            if (rule.rows != ActiveRows::all) same(lambda[3], 0.0);
            if (rule.rows == ActiveRows::worst) same_bits(lambda, {0, 0.7, 0, 0});
            // If the rows' own steps are zero, rules that use them make no step.
            std::vector<BlockRow> unknown = rows;
            for (BlockRow& row : unknown) row.own_step = 0;
            rule.linear({unknown, 1, 0.7, optimum}, lambda);
            same(std::count(lambda.begin(), lambda.end(), 0.0) == 4, rule.uses_own_steps);
        }
    }};

}  // namespace
}  // namespace tagalong::test
