#include "race/feature_statistics.hpp"

#include <numeric>
#include <utility>

namespace tagalong {

void FeatureStatistics::insert(std::int32_t feature, const FeatureValues& values) {
    const std::int32_t place = index_.insert(feature);
    values_.push_back(values);
    if (keeps_ascending_) ascending_.push_back(place);
}

void FeatureStatistics::keep_ascending(bool kept) {
    if (kept == keeps_ascending_) return;
    keeps_ascending_ = kept;
    ascending_.clear();
    if (!kept) return;
    ascending_.resize(values_.size());
    std::iota(ascending_.begin(), ascending_.end(), 0);
    std::sort(ascending_.begin(), ascending_.end(),
              [&](std::int32_t a, std::int32_t b) { return precedes(a, b); });
}

void FeatureStatistics::find(const RowView& x, std::vector<std::int32_t>& places) const {
    places.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        places[i] = index_.find(x.feature[i]);
        if (places[i] != FeatureIndex::kAbsent)
            __builtin_prefetch(&values_[static_cast<std::size_t>(places[i])]);
    }
}

void FeatureStatistics::observe(const RowView& x, std::span<const std::int32_t> places) {
    rows_ += 1;
    const std::size_t known = ascending_.size();
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x.feature[i] == kConstantFeature) continue;
        const double size = std::abs(x.value[i]);
        entries_ += 1;
        any_negative_ |= x.value[i] < 0;
        if (first_value_ == 0) first_value_ = size;
        several_values_ |= size != first_value_;
        if (places[i] == FeatureIndex::kAbsent) {
            insert(x.feature[i], FeatureValues{}.with(x.value[i]));
        } else {
            FeatureValues& values = values_[static_cast<std::size_t>(places[i])];
            values = values.with(x.value[i]);
        }
    }
    // New features are ascending, like the features of the row.
    if (ascending_.size() > known)
        std::inplace_merge(
            ascending_.begin(), ascending_.begin() + static_cast<std::ptrdiff_t>(known),
            ascending_.end(), [&](std::int32_t a, std::int32_t b) { return precedes(a, b); });
}

void FeatureStatistics::select(const std::vector<char>& kept) {
    FeatureStatistics out;
    out.rows_ = rows_;
    out.entries_ = entries_;
    out.first_value_ = first_value_;
    out.any_negative_ = any_negative_;
    out.several_values_ = several_values_;
    for (std::size_t place = 0; place < values_.size(); ++place) {
        if (kept[place]) out.insert(features()[place], values_[place]);
        else out.entries_ -= values_[place].rows;
    }
    out.keep_ascending(keeps_ascending_);
    *this = std::move(out);
}

bool FeatureStatistics::restore(const Totals& totals, std::vector<std::int32_t> features,
                                std::vector<FeatureValues> values) {
    FeatureStatistics out;
    double entries = 0;
    for (std::size_t place = 0; place < features.size(); ++place) {
        const FeatureValues& found = values[place];
        entries += found.rows;
        const bool sound =
            found.rows >= 1 && found.rows <= totals.rows && found.rows == std::floor(found.rows) &&
            found.largest > 0 && found.largest <= FeatureValues::kLargest && found.spread >= 0 &&
            std::isfinite(found.spread) && std::abs(found.mean) <= found.largest * (1 + 1e-9);
        if (!sound || features[place] < 0 || out.knows(features[place])) return false;
        out.insert(features[place], found);
    }
    if (entries != totals.entries || (entries > 0) != (totals.first_value > 0)) return false;
    out.rows_ = totals.rows;
    out.entries_ = totals.entries;
    out.first_value_ = totals.first_value;
    out.any_negative_ = totals.any_negative;
    out.several_values_ = totals.several_values;
    *this = std::move(out);
    return true;
}

}  // namespace tagalong
