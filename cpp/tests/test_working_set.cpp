// WorkingSet: which labels take part, and the step of the smooth rule on them.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rules/linear_smooth.hpp"
#include "rules/linear_water_filling.hpp"
#include "rules/working_set.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/ranking_round.hpp"
#include "tests/smooth_conditions.hpp"

namespace tagalong::test::working_set_test {
namespace {

struct Problem {
    RankingRound round;
    double q;
    RuleParameters rule;
};

Problem random_problem(Random& random, int labels) {
    const Scores kind =
        std::vector<Scores>{Scores::spread, Scores::separated, Scores::tied}[random.bits() % 3];
    RankingRound round(random, random_scores(random, labels, kind, random.magnitude(0.1, 3)),
                       random.chance(0.4));
    return {std::move(round),
            random.magnitude(1e-2, 10),
            {random.magnitude(1e-2, 1e2), random.magnitude(0.1, 3), random.magnitude(1e-2, 1)}};
}

double shortfall(const Problem& p, int relevant, int irrelevant) {
    return p.rule.margin - (p.round.score(relevant) - p.round.score(irrelevant));
}

// The labels by their definition, from the step of Update III on the labels that violate the margin.
std::vector<int> expected_labels(const Problem& p) {
    const Sides& sides = p.round.sides;
    const int top = sides.highest_irrelevant();
    std::vector<int> relevant, unknown = p.round.unknown;
    for (const int r : p.round.relevant)
        (shortfall(p, r, top) > 0 ? relevant : unknown).push_back(r);
    for (const int s : p.round.irrelevant)
        if (!(shortfall(p, sides.lowest_relevant, s) > 0)) unknown.push_back(s);
    std::sort(unknown.begin(), unknown.end());
    Sides violating;
    violating.split(std::span<const double>(p.round.scores), relevant, unknown);
    LinearWaterFilling optimal;
    Step step = fresh_step(p.round.scores.size());
    optimal.step(violating, p.q, p.rule, step);
    const double depth = WorkingSet::kDepth * p.rule.temperature;
    const double highest = sides.lowest_score + p.q * step.alpha[sides.lowest_relevant] + depth;
    const double lowest = sides.highest_score + p.q * step.alpha[top] - depth;
    std::vector<int> labels;
    for (const int r : p.round.relevant)
        if (p.round.score(r) <= highest) labels.push_back(r);
    for (const int s : p.round.irrelevant)
        if (p.round.score(s) >= lowest && shortfall(p, sides.lowest_relevant, s) > 0)
            labels.push_back(s);
    std::sort(labels.begin(), labels.end());
    return labels;
}

const Test definition{
    "working set: the labels near the levels that Update III reaches", [] {
        Random random(3);
        WorkingSet set;
        int chosen = 0, restricted = 0;
        for (int i = 0; i < 3000; ++i) {
            const Problem p = random_problem(random, 2 + random.below(60));
            const Note note("round ", i);
            const bool any = set.choose(p.round.sides, p.q, p.rule);
            same(any, shortfall(p, p.round.sides.lowest_relevant,
                                p.round.sides.highest_irrelevant()) > 0);
            if (!any) continue;
            std::vector<int> labels = set.labels();
            std::sort(labels.begin(), labels.end());
            check(labels == expected_labels(p), "the labels are not those of the definition");
            ++chosen;
            restricted += labels.size() < p.round.relevant.size() + p.round.irrelevant.size();
        }
        check(chosen > 1000 && restricted > 500, "the test does not have rounds of both kinds");
    }};

// The round with the labels of the working set; the others are unknown.
RankingRound restricted_round(const Problem& p, const std::vector<int>& labels) {
    RankingRound out(p.round.scores, p.round.relevant);
    const auto absent = [&](int label) {
        return std::find(labels.begin(), labels.end(), label) == labels.end();
    };
    std::erase_if(out.relevant, absent);
    std::erase_if(out.irrelevant, absent);
    out.unknown.clear();
    for (int label = 0; label < static_cast<int>(p.round.scores.size()); ++label)
        if (absent(label)) out.unknown.push_back(label);
    out.sides.split(std::span<const double>(out.scores), out.relevant, out.unknown);
    return out;
}

const Test conditions{
    "working set: the step is the smooth one on these labels, and at least that of the worst pair",
    [] {
        Random random(4);
        WorkingSet set;
        const LinearStep step_on_set = on_working_set(label_rule("smooth").linear(Solver::exact));
        const LinearStep single = label_rule("single").linear(Solver::exact);
        for (int i = 0; i < 2000; ++i) {
            const Problem p = random_problem(random, 2 + random.below(60));
            const Note note("round ", i);
            Step step = fresh_step(p.round.scores.size());
            step_on_set(p.round.sides, p.q, p.rule, step);
            if (!set.choose(p.round.sides, p.q, p.rule)) {
                check(step.empty(), "labels move although the margin holds");
                continue;
            }
            const RankingRound part = restricted_round(p, set.labels());
            const auto line = [&](int label, bool relevant, double b) {
                return (relevant ? part.score(label) : -part.score(label)) + p.q * b;
            };
            const SmoothConditions solution(part, step, p.rule, line);
            solution.expect(1e-9);
            const double entropy = solution.entropy();
            near(step.entropy, entropy, 1e-9 * (entropy + p.rule.budget * p.rule.temperature));

            const auto increase = [&](const Step& taken) {
                double sum = p.rule.margin * taken.mass + taken.entropy;
                for (const int label : taken.touched) {
                    const double a = taken.alpha[static_cast<std::size_t>(label)];
                    sum -= a * p.round.score(label) + 0.5 * p.q * a * a;
                }
                return sum;
            };
            Step of_pair = fresh_step(p.round.scores.size());
            single(p.round.sides, p.q, p.rule, of_pair);
            at_most(increase(of_pair), increase(step) + 1e-9 * (1 + std::abs(increase(step))));
        }
    }};

const Test many{"working set: of many labels with equal scores, the first ones take part", [] {
                    std::vector<double> scores(3000, 0.1);
                    for (int label = 0; label < 3000; label += 3) scores[label] = 0;
                    scores[2000] = 0.25;
                    scores[2999] = -0.5;
                    const RankingRound round(scores, {2999});
                    WorkingSet set;
                    check(set.choose(round.sides, 1, {1, 1, 0.1}), "the margin is violated");
                    std::vector<int> expected;
                    for (int label = 0; expected.size() < WorkingSet::kMost - 1; ++label)
                        if (label % 3 != 0) expected.push_back(label);
                    expected.push_back(2000);
                    expected.push_back(2999);
                    check(set.labels() == expected, "other labels take part");
                }};

const Test zeros{"working set: of many labels without weights, only the first takes part", [] {
                     std::vector<double> scores(3000, 0.0);
                     scores[7] = -0.25;
                     const RankingRound round(scores, {2999});
                     WorkingSet set;
                     check(set.choose(round.sides, 1, {1, 1, 0.1}), "the margin is violated");
                     check(set.labels() == std::vector<int>{0, 7, 2999}, "other labels take part");
                 }};

const Test edge{"working set: nothing moves at the margin, and the worst pair does below it", [] {
                    WorkingSet set;
                    const RuleParameters rule{1, 1, 0.1};
                    check(!set.choose(RankingRound({1.0, 0.0}, {0}).sides, 1, rule), "at it");
                    const double below = std::nextafter(1.0, 0.0);
                    check(set.choose(RankingRound({below, 0.0}, {0}).sides, 1, rule), "below it");
                    same(set.labels().size(), std::size_t{2});
                }};

}  // namespace
}  // namespace tagalong::test::working_set_test
