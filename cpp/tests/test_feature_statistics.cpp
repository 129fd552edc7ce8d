// Statistics of features against the values themselves: zeros count, the constant feature does not.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "race/feature_statistics.hpp"
#include "tests/check.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::feature_statistics_test {
namespace {

// All values of each feature that are not 0.
class Naive {
  public:
    void observe(const Example& x) {
        ++rows;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x.feature[i] != kConstantFeature) values[x.feature[i]].push_back(x.value[i]);
    }
    double mean(std::int32_t feature) const {
        double sum = 0;
        for (const double value : values.at(feature)) sum += value;
        return sum / rows;
    }
    double variance(std::int32_t feature) const {
        const double average = mean(feature);
        const auto& found = values.at(feature);
        double sum = (rows - static_cast<double>(found.size())) * average * average;
        for (const double value : found) sum += (value - average) * (value - average);
        return sum / rows;
    }

    double rows = 0;
    std::map<std::int32_t, std::vector<double>> values;
};

Example finished(const Item& item) {
    Example x = item.example();
    x.finish(Norm::none, 1);
    return x;
}

std::vector<Example> examples(std::uint64_t seed, int count, const StreamShape& shape = {}) {
    std::vector<Example> out;
    for (const Item& item : random_stream(seed, count, shape)) out.push_back(finished(item));
    return out;
}

FeatureStatistics statistics_of(const std::vector<Example>& rows) {
    FeatureStatistics out;
    for (const Example& x : rows) out.observe(x);
    return out;
}

std::vector<std::int32_t> in_ascending_order(const FeatureStatistics& statistics) {
    std::vector<std::int32_t> out;
    for (const std::int32_t place : statistics.ascending())
        out.push_back(statistics.features()[static_cast<std::size_t>(place)]);
    return out;
}

const Test definition{"feature statistics: means and variances are those of all rows", [] {
                          FeatureStatistics statistics;
                          Naive naive;
                          double entries = 0;
                          for (const Example& x : examples(1, 300)) {
                              statistics.observe(x);
                              naive.observe(x);
                              entries += static_cast<double>(x.size()) - 1;
                          }
                          same(statistics.rows(), 300.0);
                          same(statistics.entries(), entries);
                          same(statistics.features().size(), naive.values.size());
                          for (std::size_t i = 0; i < statistics.features().size(); ++i) {
                              const std::int32_t feature = statistics.features()[i];
                              const FeatureValues& found = statistics.at(i);
                              const auto& values = naive.values.at(feature);
                              same(found.rows, static_cast<double>(values.size()));
                              double largest = 0;
                              for (const double value : values)
                                  largest = std::max(largest, std::abs(value));
                              same(found.largest, largest);
                              near(found.mean_over(300), naive.mean(feature), 1e-14);
                              near(found.variance_over(300), naive.variance(feature), 1e-14);
                          }
                          near(statistics.density(),
                               entries / (300.0 * static_cast<double>(naive.values.size())), 1e-15);
                      }};

const Test included{"feature statistics: with() gives the values after one more row", [] {
                        const std::vector<Example> rows = examples(2, 100);
                        FeatureStatistics statistics;
                        for (const Example& x : rows) {
                            FeatureStatistics after = statistics;
                            after.observe(x);
                            std::vector<std::int32_t> places;
                            statistics.find(x, places);
                            for (std::size_t i = 1; i < x.size(); ++i) {
                                const FeatureValues with = statistics.with(places[i], x.value[i]);
                                const auto& ids = after.features();
                                const auto at = std::find(ids.begin(), ids.end(), x.feature[i]);
                                const FeatureValues& found =
                                    after.at(static_cast<std::size_t>(at - ids.begin()));
                                same(with.rows, found.rows);
                                same(with.largest, found.largest);
                                same(with.mean, found.mean);
                                same(with.spread, found.spread);
                            }
                            statistics = after;
                        }
                    }};

const Test huge{"feature statistics: huge and tiny values have finite statistics", [] {
                    FeatureStatistics statistics;
                    for (const double value : {1e300, -1e300, 1e-300, 5e-324, 1.0}) {
                        Example x;
                        x.add(std::numeric_limits<std::int32_t>::max(), value);
                        statistics.observe(x);
                    }
                    const FeatureValues& found = statistics.at(0);
                    check(std::isfinite(found.mean) && std::isfinite(found.spread), "not finite");
                    check(std::isfinite(found.variance_over(10)), "the variance is not finite");
                    same(found.largest, FeatureValues::kLargest);
                    check(statistics.any_negative(), "a negative value was not noticed");
                }};

const Test ascending{"feature statistics: the order of features is kept while they are added", [] {
                         for (const bool from_the_start : {true, false}) {
                             FeatureStatistics statistics;
                             statistics.keep_ascending(from_the_start);
                             std::set<std::int32_t> known;
                             for (const Example& x : examples(3, 60, {.features = 200})) {
                                 statistics.observe(x);
                                 known.insert(x.feature.begin() + 1, x.feature.end());
                                 if (!from_the_start) check(statistics.ascending().empty(), "kept");
                                 else
                                     same(in_ascending_order(statistics) ==
                                              std::vector<std::int32_t>(known.begin(), known.end()),
                                          true);
                             }
                             statistics.keep_ascending(true);
                             check(in_ascending_order(statistics) ==
                                       std::vector<std::int32_t>(known.begin(), known.end()),
                                   "features are not in ascending order");
                             statistics.keep_ascending(false);
                             check(statistics.ascending().empty(), "the order was kept");
                         }
                     }};

const Test one_value{"feature statistics: values of one size are noticed, whatever their sign", [] {
                         FeatureStatistics statistics;
                         const auto observe = [&](double value) {
                             Example x;
                             x.add(3, value);
                             statistics.observe(x);
                         };
                         observe(2);
                         observe(-2);
                         check(statistics.one_value(), "there is one size only");
                         observe(1);
                         check(!statistics.one_value(), "there are two sizes");
                     }};

const Test selected{
    "feature statistics: forgotten features leave nothing behind, others stay as they are", [] {
        FeatureStatistics statistics = statistics_of(examples(4, 80));
        statistics.keep_ascending(true);
        const FeatureStatistics before = statistics;
        std::vector<char> kept;
        for (const std::int32_t feature : before.features()) kept.push_back(feature % 3 != 0);
        statistics.select(kept);
        double entries = 0;
        std::size_t next = 0;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            same(statistics.knows(before.features()[i]), kept[i] != 0);
            if (!kept[i]) continue;
            same(statistics.features()[next], before.features()[i]);
            same(statistics.at(next).mean, before.at(i).mean);
            entries += before.at(i).rows;
            ++next;
        }
        same(statistics.features().size(), next);
        same(statistics.rows(), before.rows());
        same(statistics.entries(), entries);
        const auto order = in_ascending_order(statistics);
        same(order.size(), next);
        check(std::is_sorted(order.begin(), order.end()), "features are not in ascending order");
    }};

struct Saved {
    FeatureStatistics::Totals totals;
    std::vector<std::int32_t> features;
    std::vector<FeatureValues> values;
};
Saved saved(const FeatureStatistics& statistics) {
    Saved out{statistics.totals(), statistics.features(), {}};
    for (std::size_t i = 0; i < out.features.size(); ++i) out.values.push_back(statistics.at(i));
    return out;
}

const Test restored{"feature statistics: restored ones continue with the same bits", [] {
                        const std::vector<Example> rows = examples(5, 200);
                        FeatureStatistics plain, restored;
                        for (int i = 0; i < 100; ++i) plain.observe(rows[i]);
                        const Saved numbers = saved(plain);
                        check(restored.restore(numbers.totals, numbers.features, numbers.values),
                              "valid numbers were refused");
                        for (int i = 100; i < 200; ++i) {
                            plain.observe(rows[i]);
                            restored.observe(rows[i]);
                        }
                        check(restored.features() == plain.features(), "other features");
                        for (std::size_t i = 0; i < plain.features().size(); ++i) {
                            same(restored.at(i).mean, plain.at(i).mean);
                            same(restored.at(i).spread, plain.at(i).spread);
                        }
                        same(restored.density(), plain.density());
                        same(restored.any_negative(), plain.any_negative());
                    }};

const Test contradictions{
    "feature statistics: numbers that contradict each other are refused", [] {
        const FeatureStatistics plain = statistics_of(examples(6, 50));
        const auto refuses = [&](std::string_view what, auto change) {
            const Note note(what);
            Saved changed = saved(plain);
            change(changed);
            FeatureStatistics restored;
            check(!restored.restore(changed.totals, changed.features, changed.values), "accepted");
            same(restored.rows(), 0.0);
        };
        const double nan = std::numeric_limits<double>::quiet_NaN();
        refuses("fewer rows", [](Saved& s) { s.totals.rows = s.values[0].rows - 1; });
        refuses("other entries", [](Saved& s) { s.totals.entries += 1; });
        refuses("no first value", [](Saved& s) { s.totals.first_value = 0; });
        refuses("no occurrence", [](Saved& s) {
            s.totals.entries -= s.values[0].rows;
            s.values[0].rows = 0;
        });
        refuses("a negative feature", [](Saved& s) { s.features[0] = -1; });
        refuses("a feature twice", [](Saved& s) { s.features[1] = s.features[0]; });
        refuses("no largest value", [](Saved& s) { s.values[0].largest = 0; });
        refuses("a mean above the largest",
                [](Saved& s) { s.values[0].mean = 2 * s.values[0].largest; });
        refuses("a negative spread", [](Saved& s) { s.values[0].spread = -1; });
        refuses("an infinite spread",
                [](Saved& s) { s.values[0].spread = std::numeric_limits<double>::infinity(); });
        refuses("a mean that is no number", [&](Saved& s) { s.values[0].mean = nan; });
        refuses("half a row", [](Saved& s) {
            s.values[0].rows += 0.5;
            s.totals.entries += 0.5;
        });
    }};

}  // namespace
}  // namespace tagalong::test::feature_statistics_test
