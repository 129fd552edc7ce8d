// Learnt relevances of features: the formulas, the complexity, and the same numbers in every
// storage of the weights.
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "geometry/linear.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::relevances_test {
namespace {

constexpr std::size_t kMany = 3000;  // number of labels; enough for sparse rows and shared columns

const Test formulas{"relevances: two updates by hand", [] {
                        Relevances relevances(RelevanceOf::all);
                        for (int row = 0; row < 3; ++row) relevances.add({});
                        relevances.begin();
                        relevances.add_share(0, false, 0.5);
                        relevances.add_share(1, false, -1);
                        relevances.add_share(2, true, 9);  // the constant feature
                        relevances.finish();
                        const double mean = (0.25 + 1) / 2;
                        same(relevances.mean().value(), mean);
                        const double up = 0.05 * 0.5 / std::sqrt(0.25 + mean);
                        near(relevances.update(0, 0), std::exp(2 * up), 1e-15);
                        near(relevances.update(1, 1), std::exp(-0.1 / std::sqrt(1 + mean)), 1e-15);
                        same(relevances.update(2, 2), 1.0);
                        relevances.begin();
                        relevances.add_share(0, false, 1e300);  // its square would overflow
                        relevances.finish();
                        near(relevances.update(0, 0),
                             std::exp(2 * (up + 0.05 / std::sqrt(1 + 1 / 2.9998))), 1e-12);
                        same(relevances.row(0).updates, 2);
                        same(relevances.updates(), 2);
                    }};

const Test limits{"relevances: stop at their limits", [] {
                      Relevances relevances(RelevanceOf::all);
                      relevances.add({});
                      for (const double share : {1.0, -1.0})
                          for (int i = 0; i < 2000; ++i) {
                              relevances.begin();
                              relevances.add_share(0, false, share);
                              relevances.finish();
                              relevances.update(0, 0);
                              at_most(std::abs(relevances.row(0).beta), Relevances::kMost);
                              if (i == 1999 && share > 0) same(relevances.row(0).beta, 0.7);
                          }
                      check(relevances.row(0).beta < 0.7, "the relevance did not fall");
                  }};

const Test rare{"relevances: only of features in under half of the updates", [] {
                    Relevances relevances(RelevanceOf::rare);
                    relevances.add({});
                    relevances.add({});
                    for (int i = 0; i < 9; ++i) {
                        relevances.begin();
                        relevances.add_share(0, false, 1);
                        if (i % 3 == 2) relevances.add_share(1, false, 1);
                        relevances.finish();
                        relevances.update(0, 0);
                        if (i % 3 == 2) relevances.update(1, 1);
                    }
                    same(relevances.row(0).beta, 0.0);
                    check(relevances.row(1).beta > 0, "a rare feature has no relevance");
                }};

Example random_example(Random& random) {
    Example x;
    for (int i = 0; i < 6; ++i) x.add(random.below(40), random.between(-1, 1));
    x.finish(Norm::euclidean, 0.5);
    return x;
}

// The same steps on a geometry with another storage of the weights and on one with whole rows.
template <class T>
void storages_agree(StepPattern steps, bool averaged, double tolerance) {
    const Note note("steps ", static_cast<int>(steps), ", averaged ", averaged);
    Random random(7);
    LinearGeometry<T> other(3, averaged, steps, RelevanceOf::all);
    LinearGeometry<T> whole(3, averaged, StepPattern::any, RelevanceOf::all);
    other.add_labels(kMany);
    whole.add_labels(kMany);
    RowLookup<T> at_other, at_whole;
    Step step;
    for (int round = 0; round < 120; ++round) {
        const Note where("round ", round);
        const Example x = random_example(random);
        step.clear(kMany);
        const bool all_move = steps == StepPattern::by_score && round % 2 == 0;
        if (all_move) {
            for (std::size_t k = 0; k < kMany; ++k) step.alpha[k] = -0.01;
            step.touch_all();
            step.alpha[static_cast<std::size_t>(random.below(20))] = 0.01 * (kMany - 1);
        } else {
            const int up = random.below(20);
            step.set(up, 0.7);
            step.set(20 + random.below(20), -0.7);
        }
        other.add_missing_columns(x);
        other.score(x, averaged, at_other);
        whole.score(x, averaged, at_whole);
        other.apply(x, step, round, at_other);
        whole.apply(x, step, round, at_whole);
        near(other.complexity(), other.recompute_complexity(),
             tolerance * (1 + std::abs(other.complexity())));
        near(other.complexity(), whole.complexity(),
             tolerance * (1 + std::abs(whole.complexity())));
        near(other.penalty(), whole.penalty(), tolerance * (1 + whole.penalty()));
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto row = static_cast<std::size_t>(at_whole.row[i]);
            near(other.relevances().row(row).beta, whole.relevances().row(row).beta, tolerance);
            if (x.feature[i] < 0) same(whole.relevances().row(row).beta, 0.0);
        }
    }
    check(whole.penalty() > 0, "no relevance rose");
}

const Test storages{"relevances: the same with sparse rows and with shared columns", [] {
                        for (const bool averaged : {false, true}) {
                            storages_agree<double>(StepPattern::few_labels, averaged, 1e-12);
                            storages_agree<float>(StepPattern::few_labels, averaged, 1e-4);
                            storages_agree<double>(StepPattern::by_score, averaged, 1e-9);
                            storages_agree<float>(StepPattern::by_score, averaged, 1e-3);
                        }
                    }};

// D + P never decreases for rules that ascend, and D itself equals its recomputation.
template <class T>
void certificate_holds(std::string_view update, RelevanceOf relevance, double tolerance) {
    const Note note("update ", update);
    RankerConfig config = config_of(Geometry::adaptive, update);
    config.constant = 0.5;
    config.relevance = relevance;
    LabelRanker<T> ranker(config);
    double before = 0;
    int round = 0;
    for (const Item& item : random_stream(5, 200, {.weights = true})) {
        const Note where("round ", round);
        if (++round == 120) {
            ranker.restart_certificate();
            same(ranker.penalty(), 0.0);
            before = 0;
        }
        learn(ranker, item);
        const double total = ranker.dual() + ranker.penalty();
        near(ranker.dual(), ranker.recompute_dual(), tolerance * (1 + std::abs(total)));
        if (update != "fixed") at_most(before, total + tolerance * (1 + std::abs(total)));
        before = total;
    }
}

const Test certificate{
    "relevances: the steps gain at most the dual value plus the penalty", [] {
        for (const std::string_view update : {"fixed", "single", "optimal", "smooth"})
            for (const RelevanceOf of : {RelevanceOf::rare, RelevanceOf::all}) {
                certificate_holds<double>(update, of, 1e-9);
                certificate_holds<float>(update, of, 1e-4);
            }
    }};

}  // namespace
}  // namespace tagalong::test::relevances_test
