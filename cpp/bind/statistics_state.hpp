// The state of feature statistics, which may be part of a learner.
#pragma once

#include <utility>
#include <vector>

#include "bind/geometry_state.hpp"
#include "bind/saved_state.hpp"
#include "bind/state_parts.hpp"
#include "race/feature_statistics.hpp"

namespace tagalong::bind {

// `features` is the name of the array of features.
inline void write_statistics(const FeatureStatistics& statistics, const char* features,
                             nb::dict& arrays, nb::dict& numbers) {
    const auto values = [&](auto&& number) {
        return vector_array<double>(statistics.features().size(), [&](std::size_t place) {
            return number(statistics.at(place));
        });
    };
    const FeatureStatistics::Totals totals = statistics.totals();
    numbers["rows"] = totals.rows;
    numbers["entries"] = totals.entries;
    numbers["first_value"] = totals.first_value;
    numbers["any_negative"] = totals.any_negative;
    numbers["several_values"] = totals.several_values;
    arrays[features] = feature_array(statistics.features());
    arrays["occurrences"] = values([](const FeatureValues& v) { return v.rows; });
    arrays["largest"] = values([](const FeatureValues& v) { return v.largest; });
    arrays["mean"] = values([](const FeatureValues& v) { return v.mean; });
    arrays["spread"] = values([](const FeatureValues& v) { return v.spread; });
}

// Restores statistics, or an object that contains them, with its method restore().
template <class Statistics>
void read_statistics(Statistics& statistics, const char* name, const SavedState& saved) {
    const auto features = saved.features(name);
    const std::size_t count = features.shape(0);
    const auto occurrences = saved.vector<double>("occurrences", count, kNotNegative);
    const auto largest = saved.vector<double>("largest", count, kNotNegative);
    const auto mean = saved.vector<double>("mean", count);
    const auto spread = saved.vector<double>("spread", count, kNotNegative);
    std::vector<FeatureValues> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(
            {occurrences.data()[i], largest.data()[i], mean.data()[i], spread.data()[i]});
    const FeatureStatistics::Totals totals{
        saved.number("rows", kCount), saved.number("entries", kCount),
        saved.number("first_value", kNotNegative), saved.get<bool>("any_negative", "true or false"),
        saved.get<bool>("several_values", "true or false")};
    if (!statistics.restore(totals, {features.data(), features.data() + count}, std::move(values)))
        SavedState::refuse(name, "have statistics that contradict each other");
}

}  // namespace tagalong::bind
