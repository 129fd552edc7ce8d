// Scalings against their formulas, as if the statistics included the row.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "race/scaling.hpp"
#include "tests/check.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::scaling_test {
namespace {

using Row = std::map<std::int32_t, double>;

// A standardised value below this is 0 but for rounding.
constexpr double kRounding = 1e-12;

Row row_of(const Item& item) { return {item.pairs.begin(), item.pairs.end()}; }

Example example_of(const Row& row) {
    Example x;
    for (const auto& [feature, value] : row) x.add(feature, value);
    x.finish(Norm::none, 1);
    return x;
}

// The definitions, from all rows; the last one is the row itself.
Row naive(const std::vector<Row>& rows, Scaling scaling) {
    const auto n = static_cast<double>(rows.size());
    std::map<std::int32_t, std::vector<double>> values;
    for (const Row& row : rows)
        for (const auto& [feature, value] : row) values[feature].push_back(value);
    Row out;
    for (const auto& [feature, found] : values) {
        const auto own = rows.back().find(feature);
        const double x = own == rows.back().end() ? 0 : own->second;
        double largest = 0, mean = 0, squares = 0;
        for (const double value : found) {
            largest = std::max(largest, std::abs(value));
            mean += value / n;
        }
        for (const double value : found) squares += (value - mean) * (value - mean);
        squares += (n - static_cast<double>(found.size())) * mean * mean;
        const double deviation = std::sqrt(squares / n);
        double scaled = x;
        if (scaling == Scaling::largest) scaled = x / largest;
        if (scaling == Scaling::idf)
            scaled = x * std::log((n + 2) / (static_cast<double>(found.size()) + 0.5));
        if (scaling == Scaling::standard)
            scaled = deviation > kRounding ? std::clamp((x - mean) / deviation, -4.0, 4.0) : 0;
        if (std::abs(scaled) > kRounding) out[feature] = scaled;
    }
    return out;
}

Row scaled(const Example& x, const FeatureStatistics& before, Scaling scaling) {
    Example out;
    scale(x, before, scaling, out);
    check(std::is_sorted(out.feature.begin(), out.feature.end()), "features are not sorted");
    Row row;
    for (std::size_t i = 0; i < out.size(); ++i)
        if (std::abs(out.value[i]) > kRounding) row[out.feature[i]] = out.value[i];
    return row;
}

const Test definitions{
    "scalings: every value follows the formula, as if the row were included", [] {
        // Features appear late, are absent, or are constant.
        std::vector<Row> rows;
        FeatureStatistics before;
        before.keep_ascending(true);
        int t = 0;
        for (const Item& item : random_stream(11, 250, {.features = 40, .length = 5})) {
            Row row = row_of(item);
            row[1000] = 3;                        // always the same
            if (t % 50 == 49) row[2000 + t] = 7;  // new, once
            if (t > 100) row[std::numeric_limits<std::int32_t>::max()] = t % 7 - 2.5;
            rows.push_back(row);
            const Example x = example_of(row);
            for (const Scaling scaling :
                 {Scaling::unit, Scaling::largest, Scaling::standard, Scaling::idf}) {
                const Note note("row ", t, ", scaling ", static_cast<int>(scaling));
                const Row expected = naive(rows, scaling), found = scaled(x, before, scaling);
                same(found.size(), expected.size());
                for (const auto& [feature, value] : expected) {
                    const auto at = found.find(feature);
                    check(at != found.end(), "a feature is missing");
                    if (at != found.end())
                        near(at->second, value, 1e-11 * std::max(1.0, std::abs(value)));
                }
            }
            before.observe(x);
            ++t;
        }
    }};

const Test first_row{"scalings: in the first row nothing varies, and idf is that of one row", [] {
                         const Example x = example_of({{1, 5}, {9, -2}});
                         const FeatureStatistics none;
                         same(scaled(x, none, Scaling::standard).size(), std::size_t{0});
                         same(scaled(x, none, Scaling::largest).at(1), 1.0);
                         same(scaled(x, none, Scaling::largest).at(9), -1.0);
                         near(scaled(x, none, Scaling::idf).at(1), 5 * std::log(3 / 1.5), 1e-14);
                         same(scaled(x, none, Scaling::unit).at(9), -2.0);
                     }};

const Test extremes{
    "scalings: huge and tiny values stay finite, and no further than 4 deviations", [] {
        FeatureStatistics before;
        before.keep_ascending(true);
        Random random(12);
        for (int t = 0; t < 200; ++t) {
            Row row;
            for (int i = 0; i < 6; ++i)
                row[random.below(20)] = random.chance(0.5) ? random.magnitude(1e-320, 1e308)
                                                           : -random.magnitude(1e-320, 1e308);
            const Example x = example_of(row);
            for (const auto& [feature, value] : scaled(x, before, Scaling::standard))
                at_most(std::abs(value), 4);
            for (const auto& [feature, value] : scaled(x, before, Scaling::largest))
                check(std::isfinite(value), "a scaled value is not finite");
            before.observe(x);
        }
    }};

const Test shown{"scalings: slope and offset give the scaled value of a row that was seen", [] {
                     FeatureStatistics statistics;
                     std::vector<Row> rows;
                     for (const Item& item : random_stream(13, 100, {.features = 12})) {
                         rows.push_back(row_of(item));
                         statistics.observe(example_of(rows.back()));
                     }
                     for (const Scaling scaling :
                          {Scaling::unit, Scaling::largest, Scaling::standard, Scaling::idf}) {
                         const Row expected = naive(rows, scaling);
                         for (std::size_t i = 0; i < statistics.features().size(); ++i) {
                             const std::int32_t feature = statistics.features()[i];
                             const auto own = rows.back().find(feature);
                             const auto [slope, offset] = scaled_value(statistics, i, scaling);
                             const auto found = expected.find(feature);
                             const double value = found == expected.end() ? 0 : found->second;
                             if (std::abs(value) < 4)  // not clipped
                                 near(slope * (own == rows.back().end() ? 0 : own->second) + offset,
                                      value, 1e-12);
                         }
                     }
                 }};

}  // namespace
}  // namespace tagalong::test::scaling_test
