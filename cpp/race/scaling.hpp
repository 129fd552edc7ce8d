// Scalings of examples: each feature is multiplied by a number, or standardised, before a
// contestant sees it. The numbers follow from the rows so far and the row itself, never from labels.
#pragma once

#include <string_view>

#include "core/example.hpp"
#include "race/feature_statistics.hpp"

namespace tagalong {

enum class Scaling {
    unit,      // x
    largest,   // x_j / largest |x_j| so far
    standard,  // (x_j - mean_j) / deviation_j, clipped to +-4; for all features, present or not
    idf,       // x_j log((n + 2) / (n_j + 1/2)), with n rows of which n_j have the feature
};
inline constexpr std::size_t kScalings = 4;

// Writes the scaled example to `out`, without the constant feature. The statistics are those of the
// rows before this one; `places` are those of the features of x in them.
void scale(const RowView& x, std::span<const std::int32_t> places, const FeatureStatistics& before,
           Scaling scaling, Example& out);
inline void scale(const RowView& x, const FeatureStatistics& before, Scaling scaling,
                  Example& out) {
    std::vector<std::int32_t> places;
    before.find(x, places);
    scale(x, places, before, scaling, out);
}

// A scaled value is slope * x + offset, unless it was clipped. For showing weights.
struct ScaledValue {
    double slope, offset;
};
ScaledValue scaled_value(const FeatureStatistics& statistics, std::size_t place, Scaling scaling);

}  // namespace tagalong
