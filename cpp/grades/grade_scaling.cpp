#include "grades/grade_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tagalong {

// The value of a feature whose statistics include the row.
double GradeScaling::scaled(const FeatureValues& values, double value, double rows) {
    if (values.rows < kFrequent * rows) return value;
    const double deviation = std::sqrt(values.variance_over(rows));
    if (!(deviation > 0)) return 0;
    return std::clamp((value - values.mean_over(rows)) / deviation, -kMostDeviations,
                      kMostDeviations);
}

void GradeScaling::scale(const RowView& x, Example& out) const {
    thread_local std::vector<std::int32_t> places;
    statistics_.find(x, places);
    out.clear();
    const double rows = statistics_.rows() + 1;
    const auto add = [&](std::int32_t id, double value) {
        if (value != 0) out.add(id, value);
    };
    auto absent = frequent_.begin();
    const auto add_absent_below = [&](std::int64_t id) {
        for (; absent != frequent_.end() && feature(*absent) < id; ++absent)
            add(feature(*absent),
                scaled(statistics_.at(static_cast<std::size_t>(*absent)), 0, rows));
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x.feature[i] == kConstantFeature) continue;
        add_absent_below(x.feature[i]);
        if (absent != frequent_.end() && feature(*absent) == x.feature[i]) ++absent;
        add(x.feature[i], scaled(statistics_.with(places[i], x.value[i]), x.value[i], rows));
    }
    add_absent_below(std::int64_t{1} << 32);
}

void GradeScaling::observe(const RowView& x) {
    statistics_.find(x, places_);
    statistics_.observe(x, places_);
    std::erase_if(frequent_, [&](std::int32_t place) { return !is_frequent(place); });
    const auto before = static_cast<std::ptrdiff_t>(frequent_.size());
    const auto precedes = [&](std::int32_t a, std::int32_t b) { return feature(a) < feature(b); };
    statistics_.find(x, places_);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t place = places_[i];
        if (x.feature[i] == kConstantFeature || !is_frequent(place)) continue;
        const auto end = frequent_.begin() + before;
        if (!std::binary_search(frequent_.begin(), end, place, precedes))
            frequent_.push_back(place);
    }
    std::inplace_merge(frequent_.begin(), frequent_.begin() + before, frequent_.end(), precedes);
}

bool GradeScaling::restore(const FeatureStatistics::Totals& totals,
                           std::vector<std::int32_t> features, std::vector<FeatureValues> values) {
    if (!statistics_.restore(totals, std::move(features), std::move(values))) return false;
    frequent_.clear();
    for (std::size_t place = 0; place < statistics_.features().size(); ++place)
        if (is_frequent(static_cast<std::int32_t>(place)))
            frequent_.push_back(static_cast<std::int32_t>(place));
    std::sort(frequent_.begin(), frequent_.end(),
              [&](std::int32_t a, std::int32_t b) { return feature(a) < feature(b); });
    return true;
}

}  // namespace tagalong
