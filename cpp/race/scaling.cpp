#include "race/scaling.hpp"

#include <algorithm>
#include <cmath>

namespace tagalong {

static constexpr double kMostDeviations = 4;

static double idf(double rows, double rows_with_feature) {
    return std::log((rows + 2) / (rows_with_feature + 0.5));
}

// All features of the statistics, and the new ones of x, in ascending order.
static void standardise(const RowView& x, const FeatureStatistics& before, Example& out) {
    const double rows = before.rows() + 1;
    const auto add = [&](std::int32_t feature, const FeatureValues& values, double value) {
        const double deviation = std::sqrt(values.variance_over(rows));
        if (!(deviation > 0)) return;
        const double standardised = (value - values.mean_over(rows)) / deviation;
        out.add(feature, std::clamp(standardised, -kMostDeviations, kMostDeviations));
    };
    std::size_t i = 0;
    const auto add_new_before = [&](std::int32_t feature) {
        for (; i < x.size() && x.feature[i] < feature; ++i)
            if (x.feature[i] != kConstantFeature)
                add(x.feature[i], FeatureValues{}.with(x.value[i]), x.value[i]);
    };
    for (const std::int32_t place : before.ascending()) {
        const std::int32_t feature = before.features()[static_cast<std::size_t>(place)];
        const FeatureValues& values = before.at(static_cast<std::size_t>(place));
        add_new_before(feature);
        if (i < x.size() && x.feature[i] == feature) {
            add(feature, values.with(x.value[i]), x.value[i]);
            ++i;
        } else {
            add(feature, values, 0);
        }
    }
    add_new_before(std::numeric_limits<std::int32_t>::max());
    for (; i < x.size(); ++i) add(x.feature[i], FeatureValues{}.with(x.value[i]), x.value[i]);
}

void scale(const RowView& x, std::span<const std::int32_t> places, const FeatureStatistics& before,
           Scaling scaling, Example& out) {
    out.clear();
    if (scaling == Scaling::standard) return standardise(x, before, out);
    const double rows = before.rows() + 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x.feature[i] == kConstantFeature) continue;
        double value = x.value[i];
        if (scaling == Scaling::largest) value /= before.with(places[i], value).largest;
        else if (scaling == Scaling::idf) value *= idf(rows, before.with(places[i], value).rows);
        out.add(x.feature[i], value);
    }
}

ScaledValue scaled_value(const FeatureStatistics& statistics, std::size_t place, Scaling scaling) {
    const FeatureValues& values = statistics.at(place);
    switch (scaling) {
        case Scaling::largest:
            return {1 / values.largest, 0};
        case Scaling::idf:
            return {idf(statistics.rows(), values.rows), 0};
        case Scaling::standard: {
            const double deviation = std::sqrt(values.variance_over(statistics.rows()));
            if (!(deviation > 0)) return {0, 0};
            return {1 / deviation, -values.mean_over(statistics.rows()) / deviation};
        }
        default:
            return {1, 0};
    }
}

}  // namespace tagalong
