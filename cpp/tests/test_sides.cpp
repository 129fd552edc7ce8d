// Sides: the split of a round's labels, and the most violating pair.
#include <vector>

#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/ranking_round.hpp"

namespace tagalong::test::sides_test {
namespace {

const Test splitting{
    "sides: scores, extremes and the margin of random rounds", [] {
        Random random(1);
        for (int round = 0; round < 1000; ++round) {
            const int labels = 2 + random.below(60);
            const RankingRound r(
                random, random_scores(random, labels, round % 2 ? Scores::tied : Scores::spread, 1),
                true);
            check(r.sides.has_pair(), "no pair was found");
            same(r.sides.irrelevant_count, r.irrelevant.size());
            int lowest = -1, highest = -1;
            for (const int label : r.relevant)
                if (lowest < 0 || r.score(label) < r.score(lowest)) lowest = label;
            for (const int label : r.irrelevant)
                if (highest < 0 || r.score(label) > r.score(highest)) highest = label;
            same(r.sides.lowest_relevant, lowest);
            same(r.sides.highest_irrelevant(), highest);
            same(r.sides.margin, r.score(lowest) - r.score(highest));
            same(r.sides.mistake(), r.score(lowest) <= r.score(highest));
            for (const int label : r.irrelevant)
                same(r.sides.irrelevant_scores[static_cast<std::size_t>(label)], r.score(label));
            for (const int label : r.relevant)
                same(r.sides.irrelevant_scores[static_cast<std::size_t>(label)], Sides::kNone);
            for (const int label : r.unknown)
                same(r.sides.irrelevant_scores[static_cast<std::size_t>(label)], Sides::kNone);
        }
    }};

const Test no_pair{"sides: an empty side gives no pair", [] {
                       Sides sides;
                       const std::vector<double> scores{1, 2, 3};
                       const std::vector<int> none, all{0, 1, 2}, two{0, 2}, one{1};
                       sides.split(scores, none, none);
                       check(!sides.has_pair(), "a pair without relevant labels");
                       sides.split(scores, all, none);
                       check(!sides.has_pair(), "a pair without irrelevant labels");
                       sides.split(scores, two, one);
                       check(!sides.has_pair(), "a pair with a label of unknown relevance");
                       sides.split(scores, one, two);
                       check(!sides.has_pair(), "a pair with a label of unknown relevance");
                       sides.split(std::vector<double>{}, none, none);
                       check(!sides.has_pair(), "a pair without labels");
                   }};

const Test clearing{"sides: a step is cleared for the next round", [] {
                        Step step = fresh_step(3);
                        step.set_pair(2, 0, 0.5);
                        step.entropy = 1;
                        check(!step.empty(), "the step is empty after a pair");
                        same(step.mass, 0.5);
                        step.clear(5);
                        check(step.empty(), "the step is not empty after clear()");
                        check(step.alpha == std::vector<double>(5, 0.0),
                              "coefficients remain after clear()");
                        same(step.mass, 0.0);
                        same(step.entropy, 0.0);
                        step.set_pair(2, 0, 0.0);
                        check(step.empty(), "a pair with zero step makes the step nonempty");
                    }};

}  // namespace
}  // namespace tagalong::test::sides_test
