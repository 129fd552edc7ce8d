// Random rounds of label ranking without a learner: scores, relevant, irrelevant and unknown
// labels.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "rules/step.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test {

struct RankingRound {
    std::vector<double> scores;
    std::vector<int> relevant;
    std::vector<int> irrelevant;
    std::vector<int> unknown;
    Sides sides;

    // Splits the labels at random, with at least one relevant and one irrelevant label.
    RankingRound(Random& random, std::vector<double> given, bool some_unknown)
        : scores(std::move(given)) {
        const int labels = static_cast<int>(scores.size());
        std::vector<int> all(scores.size());
        std::iota(all.begin(), all.end(), 0);
        random.shuffle(all);
        const int spare = some_unknown && labels > 2 ? random.below(labels - 1) / 2 : 0;
        const int most = labels - spare - 1;
        // Usually few labels are relevant, sometimes many.
        const int count = 1 + random.below(random.chance(0.7) ? std::min(most, 8) : most);
        relevant.assign(all.begin(), all.begin() + count);
        unknown.assign(all.begin() + count, all.begin() + count + spare);
        irrelevant.assign(all.begin() + count + spare, all.end());
        for (auto* side : {&relevant, &irrelevant, &unknown}) std::sort(side->begin(), side->end());
        sides.split(scores, relevant, unknown);
    }

    RankingRound(std::vector<double> given, std::vector<int> sorted_relevant)
        : scores(std::move(given)), relevant(std::move(sorted_relevant)) {
        for (int label = 0; label < static_cast<int>(scores.size()); ++label)
            if (!std::binary_search(relevant.begin(), relevant.end(), label))
                irrelevant.push_back(label);
        sides.split(scores, relevant, unknown);
    }

    double score(int label) const { return scores[static_cast<std::size_t>(label)]; }
};

enum class Scores { spread, separated, tied };

inline std::vector<double> random_scores(Random& random, int labels, Scores kind, double size) {
    std::vector<double> scores(static_cast<std::size_t>(labels));
    for (double& score : scores) {
        if (kind == Scores::tied) score = 0.25 * size * (random.below(9) - 4);
        else score = size * random.normal();
        if (kind == Scores::separated && random.chance(0.1)) score += 5 * size;
    }
    return scores;
}

inline Step fresh_step(std::size_t labels) {
    Step step;
    step.clear(labels);
    return step;
}

// Conditions of every step: coefficients are nonnegative on relevant labels, nonpositive on
// irrelevant ones and zero elsewhere; both sides have the same mass, within the budget; each label
// is touched at most once.
inline void expect_feasible(const RankingRound& round, const Step& step, double budget,
                            double distance, const Where& where = Where::current()) {
    double up = 0, down = 0;
    for (const int label : round.relevant) {
        const double alpha = step.alpha[static_cast<std::size_t>(label)];
        check(alpha >= 0, "a relevant label has a negative coefficient", where);
        up += alpha;
    }
    for (const int label : round.irrelevant) {
        const double alpha = step.alpha[static_cast<std::size_t>(label)];
        check(alpha <= 0, "an irrelevant label has a positive coefficient", where);
        down -= alpha;
    }
    for (const int label : round.unknown)
        same(step.alpha[static_cast<std::size_t>(label)], 0.0, where);
    near(up, step.mass, distance * step.mass, where);
    near(down, step.mass, distance * step.mass, where);
    at_most(step.mass, budget * (1 + distance), where);
    auto touched = step.touched;
    std::sort(touched.begin(), touched.end());
    check(std::adjacent_find(touched.begin(), touched.end()) == touched.end(),
          "a label is listed as touched twice", where);
    std::vector<int> moved;
    for (std::size_t k = 0; k < step.alpha.size(); ++k)
        if (step.alpha[k] != 0) moved.push_back(static_cast<int>(k));
    check(std::includes(touched.begin(), touched.end(), moved.begin(), moved.end()),
          "a label with a coefficient is not listed as touched", where);
}

}  // namespace tagalong::test
