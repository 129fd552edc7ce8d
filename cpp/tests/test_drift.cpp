// Drift: changes are noticed, dated and named; steady, improving and slowly declining streams raise
// no alarm; states are restored bit by bit or refused; labels can be merged and forgotten.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/selection.hpp"
#include "predictions/drift.hpp"
#include "predictions/rank_precisions.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::drift_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Items with one label each. A label is ranked first with its probability, or anywhere.
class Items {
  public:
    explicit Items(std::uint64_t seed, int labels = 20, double right = 0.9)
        : random_(seed), right_(static_cast<std::size_t>(labels), right) {}

    double& right(int label) { return right_[static_cast<std::size_t>(label)]; }
    void set_all(double right) { std::fill(right_.begin(), right_.end(), right); }

    void next(Drift& drift) { answer(drift, random_.below(static_cast<int>(right_.size()))); }
    void answer(Drift& drift, int label) {
        const double precision =
            random_.chance(right(label))
                ? 1
                : 1.0 / (2 + random_.below(static_cast<int>(right_.size()) - 1));
        const std::vector<int> relevant = {label};
        const std::vector<double> precisions = {precision};
        alarms += drift.observe(precision, relevant, precisions);
    }
    void run(Drift& drift, std::int64_t rounds) {
        for (std::int64_t round = 0; round < rounds; ++round) next(drift);
    }
    // The number of rounds until the next alarm, or `most`.
    std::int64_t until_alarm(Drift& drift, std::int64_t most) {
        for (std::int64_t round = 1; round <= most; ++round) {
            next(drift);
            if (drift.just_raised()) return round;
        }
        return most;
    }

    int alarms = 0;

  private:
    Random random_;
    std::vector<double> right_;
};

const Test steady{"drift: a steady stream raises no alarm", [] {
                      for (const double right : {0.05, 0.3, 0.6, 0.9, 1.0}) {
                          Note note("share right ", right);
                          Items items(1, 20, right);
                          Drift drift;
                          items.run(drift, 50'000);
                          same(items.alarms, 0);
                          same(drift.since(), 0);
                          check(!drift.alarm() && drift.labels().empty(), "alarm");
                      }
                  }};

const Test improves{"drift: a learner that improves raises no alarm, and a later fall is seen", [] {
                        Items items(2);
                        Drift drift;
                        for (int round = 0; round < 2000; ++round) {
                            items.set_all(0.95 * round / (round + 200.0));
                            items.next(drift);
                        }
                        same(items.alarms, 0);
                        items.set_all(0.1);
                        at_most(static_cast<double>(items.until_alarm(drift, 100)), 30);
                        near(static_cast<double>(drift.since()), 2001, 10);
                    }};

const Test declines{"drift: a slow decline raises no alarm", [] {
                        Items items(3);
                        Drift drift;
                        for (int round = 0; round < 20'000; ++round) {
                            items.set_all(0.9 - 0.6 * round / 20'000);
                            items.next(drift);
                        }
                        same(items.alarms, 0);
                    }};

const Test all_labels{"drift: a change of all labels is noticed within 30 rounds", [] {
                          for (std::uint64_t seed = 0; seed < 20; ++seed) {
                              Note note("seed ", seed);
                              Items items(seed);
                              Drift drift;
                              items.run(drift, 3000);
                              items.set_all(0.1);
                              at_most(static_cast<double>(items.until_alarm(drift, 100)), 30);
                              near(static_cast<double>(drift.since()), 3001, 10);
                              check(drift.alarm(), "no alarm stands");
                              items.run(drift, 100);
                              same(items.alarms, 1);
                              same(drift.labels().size(), std::size_t{5});
                          }
                      }};

const Test two_labels{"drift: a change of two of twenty labels is noticed, and they are named", [] {
                          for (std::uint64_t seed = 0; seed < 20; ++seed) {
                              Note note("seed ", seed);
                              Items items(seed);
                              Drift drift;
                              items.run(drift, 3000);
                              items.right(4) = items.right(17) = 0.05;
                              at_most(static_cast<double>(items.until_alarm(drift, 500)), 300);
                              near(static_cast<double>(drift.since()), 3001, 120);
                              const int first = drift.labels().at(0);
                              check(first == 4 || first == 17, "another label is named first");
                              items.run(drift, 200);
                              std::vector<int> labels = drift.labels();
                              labels.resize(2);
                              std::sort(labels.begin(), labels.end());
                              check(labels == std::vector<int>{4, 17},
                                    "other labels are named first");
                              same(items.alarms, 1);
                          }
                      }};

const Test new_labels{"drift: a burst of new labels is noticed, and they are named", [] {
                          Items items(5, 25);
                          Random random(5);
                          Drift drift;
                          for (int round = 0; round < 3000; ++round)
                              items.answer(drift, random.below(20));
                          for (int label = 20; label < 25; ++label) items.right(label) = 0.05;
                          same(items.alarms, 0);
                          at_most(static_cast<double>(items.until_alarm(drift, 200)), 100);
                          items.run(drift, 30);
                          const std::vector<int> labels = drift.labels();
                          for (std::size_t i = 0; i < 3; ++i)
                              check(labels.at(i) >= 20, "an old label is named first");
                      }};

const Test ends{"drift: an alarm ends when the gain has recovered, or after 1,000 rounds", [] {
                    for (const bool recovers : {true, false}) {
                        Items items(6);
                        Drift drift;
                        items.run(drift, 3000);
                        items.set_all(0.1);
                        items.until_alarm(drift, 100);
                        if (recovers) items.set_all(0.97);
                        std::int64_t rounds = 1;
                        for (; drift.alarm() && rounds < 2000; ++rounds) items.next(drift);
                        if (recovers) at_most(static_cast<double>(rounds), 400);
                        else same(rounds, 1000);
                        check(drift.since() > 0 && !drift.labels().empty(), "the change is lost");
                        items.run(drift, 5000);
                        same(items.alarms, 1);
                    }
                }};

const Test again{"drift: later changes are noticed too, but not endlessly many", [] {
                     Items items(7);
                     Drift drift;
                     items.run(drift, 3000);
                     items.set_all(0.1);
                     items.until_alarm(drift, 100);
                     items.set_all(0.9);
                     items.run(drift, 3000);
                     items.set_all(0.1);
                     at_most(static_cast<double>(items.until_alarm(drift, 200)), 60);
                     same(items.alarms, 2);
                     for (int change = 0; change < 100; ++change) {
                         items.set_all(change % 2 == 0 ? 0.9 : 0.1);
                         items.run(drift, 100);
                     }
                     at_most(items.alarms, 20);
                 }};

const Test without_ranking{"drift: rounds without a ranking are only counted", [] {
                               Items items(8);
                               Drift drift;
                               items.run(drift, 3000);
                               const std::vector<double> before = drift.state();
                               for (int round = 0; round < 100; ++round)
                                   check(!drift.observe(kNan, {}, {}), "alarm");
                               std::vector<double> after = drift.state();
                               same(after[0], before[0] + 100);
                               after[0] = before[0];
                               same_bits(after, before);
                           }};

Drift changed(std::uint64_t seed) {
    Items items(seed);
    Drift drift;
    items.run(drift, 1000);
    items.set_all(0.1);
    items.run(drift, 60);
    return drift;
}

const Test states{"drift: a restored detector continues with the same bits", [] {
                      for (const int rounds : {0, 5, 300, 1003, 1020, 1500}) {
                          Note note("rounds ", rounds);
                          Items items(9);
                          Drift drift;
                          for (int round = 0; round < rounds; ++round) {
                              if (round == 1000) items.set_all(0.1);
                              items.next(drift);
                          }
                          Drift restored;
                          check(restored.restore(drift.state(), 20), "refused");
                          Items same_items = items;
                          for (int round = 0; round < 2000; ++round) {
                              items.next(drift);
                              same_items.next(restored);
                          }
                          same_bits(restored.state(), drift.state());
                          same(restored.since(), drift.since());
                          check(restored.labels() == drift.labels(), "other labels");
                      }
                  }};

const Test unsound{"drift: an unsound state is refused, and changes nothing", [] {
                       const std::vector<double> sound = changed(10).state();
                       Drift drift;
                       check(drift.restore(sound, 20), "a sound state is refused");
                       const auto refuses = [&](std::vector<double> state, std::size_t labels) {
                           check(!drift.restore(state, labels), "accepted");
                           same_bits(drift.state(), sound);
                       };
                       for (std::size_t i = 0; i < sound.size(); ++i) {
                           Note note("number ", i);
                           for (const double wrong : {-1.0, kNan, 1e300}) {
                               std::vector<double> state = sound;
                               state[i] = wrong;
                               refuses(state, 20);
                           }
                       }
                       refuses({}, 20);
                       refuses({sound.begin(), sound.end() - 1}, 20);
                       refuses(sound, 19);
                       std::vector<double> longer = sound;
                       longer.push_back(0);
                       refuses(longer, 20);
                       std::vector<double> undated = sound;
                       undated[2] = 0;  // an alarm without a change
                       refuses(undated, 20);
                   }};

const Test selected{
    "drift: merged labels are named as one, forgotten ones are not", [] {
        Drift drift = changed(11);
        const std::vector<int> named = drift.labels();
        // The first two named labels become label 0; the third is forgotten.
        std::vector<std::vector<std::int32_t>> sources = {{named[0], named[1]}};
        for (std::int32_t label = 0; label < 20; ++label)
            if (std::find(named.begin(), named.begin() + 3, label) == named.begin() + 3)
                sources.push_back({label});
        drift.select(Selection::of_labels(sources, 20), 20);
        const std::vector<int> after = drift.labels();
        same(after[0], 0);
        same(sources[static_cast<std::size_t>(after[1])][0], named[3]);
        same(sources[static_cast<std::size_t>(after[2])][0], named[4]);
        check(drift.restore(drift.state(), sources.size()), "refused");
    }};

const Test precisions{"rank precisions: ties, unknown and new labels", [] {
                          std::vector<double> out;
                          const std::vector<double> scores = {3, 2, 2, 1, 0};
                          const auto precision = [&](std::vector<int> relevant,
                                                     std::vector<int> unknown) {
                              return rank_precisions<double>(scores, relevant, unknown, out);
                          };
                          same(precision({0}, {}), 1.0);
                          near(precision({1}, {}), 1.0 / 3, 1e-15);  // a tie counts against it
                          same(precision({1}, {2}), 0.5);
                          near(precision({1, 3}, {}), (1.0 / 3 + 0.5) / 2, 1e-15);
                          near(out[0], 1.0 / 3, 1e-15);
                          same(out[1], 0.5);
                          near(precision({0, 7}, {}), (1 + 2.0 / 6) / 2, 1e-15);  // 7 is new
                          const std::vector<double> broken = {1, kNan, 0};
                          const std::vector<int> second = {1};
                          same(rank_precisions<double>(broken, second, {}, out), 0.0);
                          check(std::isnan(precision({}, {})), "nothing is relevant");
                          check(std::isnan(precision({0, 1, 2, 3, 4}, {})), "nothing else");
                          check(std::isnan(precision({0}, {1, 2, 3, 4})), "nothing else is known");
                      }};

// Few and many relevant labels are counted in two ways.
const Test many_precisions{
    "drift: precisions at ranks are those of the definition, for any number of labels", [] {
        Random random(77);
        for (int i = 0; i < 60; ++i) {
            const int labels = 2 + random.below(300);
            std::vector<double> scores, found;
            for (int k = 0; k < labels; ++k) scores.push_back(random.below(40));
            if (i % 5 == 4) scores[0] = std::numeric_limits<double>::quiet_NaN();
            std::vector<int> relevant, unknown;
            const double share = random.uniform();
            for (int k = 0; k < labels + 3; ++k) {  // the last three have no score
                if (random.chance(share)) relevant.push_back(k);
                else if (random.chance(0.2)) unknown.push_back(k);
            }
            const auto score = [&](int k) {
                return k < labels ? scores[static_cast<std::size_t>(k)]
                                  : -std::numeric_limits<double>::infinity();
            };
            const auto in = [](const std::vector<int>& given, int k) {
                return std::binary_search(given.begin(), given.end(), k);
            };
            rank_precisions<double>(scores, relevant, unknown, found);
            int irrelevant = 0;
            for (int k = 0; k < labels; ++k) irrelevant += !in(relevant, k) && !in(unknown, k);
            for (std::size_t r = 0; r < relevant.size(); ++r) {
                double right = 0, all = 0;
                for (int k = 0; k < labels + 3; ++k) {
                    if (!(score(k) >= score(relevant[r])) || in(unknown, k)) continue;
                    right += in(relevant, k);
                    all += k < labels || in(relevant, k);
                }
                same(found[r], irrelevant == 0 ? 1.0 : all > 0 ? right / all : 0.0);
            }
        }
    }};

}  // namespace
}  // namespace tagalong::test::drift_test
