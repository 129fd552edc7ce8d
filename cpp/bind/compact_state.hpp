// Weights and state of a CompactRanker.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind/label_ranker_state.hpp"
#include "bind/rules.hpp"
#include "compact/compact_ranker.hpp"

namespace tagalong::bind {

inline constexpr std::array kScalingNames = {"unit", "largest", "standard", "idf"};

inline FeatureWeights weights_of(const CompactRanker& self) {
    const std::size_t K = self.labels(), rows = self.rows();
    Owned<float> weights({rows, K});
    std::vector<double> row;
    for (std::size_t r = 0; r < rows; ++r) {
        self.weights(r, row);
        for (std::size_t k = 0; k < K; ++k) weights.data[r * K + k] = static_cast<float>(row[k]);
    }
    const auto& features = self.statistics().features();
    const auto ids = vector_array<std::int32_t>(
        rows, [&](std::size_t r) { return r < features.size() ? features[r] : kConstantFeature; });
    return {ids, NumPy<>(weights.array), {}};
}

inline std::size_t bytes_of(const CompactRanker& self) { return self.bytes(); }

inline std::string part_prefix(std::size_t part) { return "part" + std::to_string(part) + "/"; }

// Which statistics of the features the scalings of some parts need.
struct NeededStatistics {
    bool occurrences = false, largest = false, moments = false;

    explicit NeededStatistics(const std::vector<CompactPart>& parts) {
        for (const CompactPart& part : parts) {
            occurrences |= part.scaling == Scaling::idf || part.scaling == Scaling::standard;
            largest |= part.scaling == Scaling::largest;
            moments |= part.scaling == Scaling::standard;
        }
    }
};

template <class V>
NumPy<V> array_of(std::span<const V> values) {
    return vector_array<V>(values.size(), [&](std::size_t i) { return values[i]; });
}

inline void write_parts(const std::vector<CompactPart>& parts, const FeatureStatistics& statistics,
                        nb::dict& arrays, nb::dict& numbers) {
    const auto values = [&]<class V>(V, auto&& number) {
        return vector_array<V>(statistics.features().size(), [&](std::size_t place) {
            return static_cast<V>(number(statistics.at(place)));
        });
    };
    const NeededStatistics needed(parts);
    arrays["features"] = feature_array(statistics.features());
    if (needed.occurrences)
        arrays["occurrences"] =
            values(std::uint32_t{}, [](const FeatureValues& v) { return v.rows; });
    if (needed.largest)
        arrays["largest"] = values(double{}, [](const FeatureValues& v) { return v.largest; });
    if (needed.moments) {
        arrays["mean"] = values(double{}, [](const FeatureValues& v) { return v.mean; });
        arrays["spread"] = values(double{}, [](const FeatureValues& v) { return v.spread; });
    }
    numbers["rows"] = statistics.rows();
    numbers["parts"] = parts.size();
    for (std::size_t e = 0; e < parts.size(); ++e) {
        const CompactPart& part = parts[e];
        const auto name = [&](const char* field) { return part_prefix(e) + field; };
        numbers[name("scaling").c_str()] = kScalingNames[static_cast<std::size_t>(part.scaling)];
        numbers[name("factor").c_str()] = part.factor;
        numbers[name("ratio").c_str()] = part.ratio;
        arrays[name("offsets").c_str()] = array_of(part.offsets);
        arrays[name("labels").c_str()] = array_of(part.labels);
        arrays[name("values").c_str()] = array_of(part.values);
        arrays[name("scales").c_str()] = array_of(part.scales);
        arrays[name("constant").c_str()] = array_of(part.constant);
        if (!part.bias.empty()) arrays[name("bias").c_str()] = array_of(part.bias);
    }
}

inline void write_state(const CompactRanker& self, nb::dict& arrays, nb::dict& numbers) {
    numbers["labels"] = self.labels();
    numbers["cutoff"] = self.cutoff();
    if (self.config().probability) write_part(self.confidence(), "confidence", arrays);
    write_parts(self.parts(), self.statistics(), arrays, numbers);
}

// The statistics that the parts need. The others have arbitrary numbers.
inline FeatureStatistics read_statistics(const std::vector<CompactPart>& parts,
                                         const VectorOf<std::int32_t>& features,
                                         const SavedState& saved) {
    const std::size_t count = features.shape(0);
    for (std::size_t i = 0; i < count; ++i)
        if (features.data()[i] < 0 || (i > 0 && features.data()[i] <= features.data()[i - 1]))
            SavedState::refuse("features", "is not ascending");
    const NeededStatistics needed(parts);
    std::vector<FeatureValues> values(count, FeatureValues{1, 1, 0, 0});
    if (needed.occurrences) {
        const auto rows = saved.vector<std::uint32_t>("occurrences", count);
        for (std::size_t i = 0; i < count; ++i) values[i].rows = rows.data()[i];
    }
    if (needed.largest || needed.moments) {
        // With moments alone, any bound of the means will do.
        for (std::size_t i = 0; i < count; ++i) values[i].largest = FeatureValues::kLargest;
    }
    if (needed.largest) {
        const auto largest = saved.vector<double>("largest", count, kNotNegative);
        for (std::size_t i = 0; i < count; ++i) values[i].largest = largest.data()[i];
    }
    if (needed.moments) {
        const auto mean = saved.vector<double>("mean", count);
        const auto spread = saved.vector<double>("spread", count, kNotNegative);
        for (std::size_t i = 0; i < count; ++i) {
            values[i].mean = mean.data()[i];
            values[i].spread = spread.data()[i];
        }
    }
    FeatureStatistics::Totals totals;
    totals.rows = saved.number("rows", kCount);
    for (const FeatureValues& each : values) totals.entries += each.rows;
    totals.first_value = totals.entries > 0 ? 1 : 0;
    FeatureStatistics out;
    if (!out.restore(totals, {features.data(), features.data() + count}, std::move(values)))
        SavedState::refuse("features", "have statistics that contradict each other");
    return out;
}

// The arrays stay where they are, and are kept alive.
inline void read_state(CompactRanker& self, const SavedState& saved) {
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    const Range few{.least = 0, .most = static_cast<double>(CompactRanker::kMostLabels)};
    const auto labels = static_cast<std::size_t>(saved.count("labels", few));
    auto kept = std::make_shared<std::vector<nb::object>>();
    const auto view = [&]<class V>(V, const SavedState& from, const char* name) {
        const auto array = from.vector<V>(name);
        kept->push_back(nb::cast(array));
        return std::span<const V>(array.data(), array.shape(0));
    };
    const auto features = saved.vector<std::int32_t>("features");
    std::vector<CompactPart> parts;
    const auto count = static_cast<std::size_t>(saved.count("parts", Range{1, 64}));
    for (std::size_t e = 0; e < count; ++e) {
        const SavedState own = saved.under(part_prefix(e));
        CompactPart part;
        const auto name = own.get<std::string>("scaling", "the name of a scaling");
        const auto* const found = std::find(kScalingNames.begin(), kScalingNames.end(), name);
        if (found == kScalingNames.end())
            SavedState::refuse(own.name_of("scaling"), "is not a scaling");
        part.scaling = static_cast<Scaling>(found - kScalingNames.begin());
        part.factor = own.number("factor");
        part.ratio = own.number("ratio");
        part.offsets = view(std::uint32_t{}, own, "offsets");
        part.labels = view(std::uint16_t{}, own, "labels");
        part.values = view(std::int8_t{}, own, "values");
        part.scales = view(float{}, own, "scales");
        part.constant = view(float{}, own, "constant");
        if (own.has_array("bias")) part.bias = view(float{}, own, "bias");
        if (!part.sound(features.shape(0), labels))
            SavedState::refuse(own.name_of("offsets"),
                               "and the other arrays contradict each other");
        parts.push_back(part);
    }
    FeatureStatistics statistics = read_statistics(parts, features, saved);
    const Range cutoffs{.least = -CompactRanker::kLargest, .most = CompactRanker::kLargest};
    self.restore(labels, saved.number("cutoff", cutoffs), std::move(statistics), std::move(parts),
                 kept);
    if (self.config().probability) read_confidence(self, saved);
}

}  // namespace tagalong::bind
