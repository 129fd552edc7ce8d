// Running statistics of the features of a stream: how often each occurs, and the values it has.
// Scalings are computed from them. They never depend on labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/example.hpp"
#include "core/feature_index.hpp"

namespace tagalong {

// The non-zero values of one feature.
struct FeatureValues {
    double rows = 0;     // rows in which the feature occurs
    double largest = 0;  // the largest absolute value
    double mean = 0;
    double spread = 0;  // the sum of the squared deviations from the mean

    // The values after one more row, in which the feature has the value `x`.
    FeatureValues with(double x) const {
        // Squares of clipped values are finite.
        const double value = std::clamp(x, -kLargest, kLargest);
        const double change = value - mean;
        FeatureValues out;
        out.rows = rows + 1;
        out.largest = std::max(largest, std::abs(value));
        out.mean = mean + change / out.rows;
        out.spread = spread + change * (value - out.mean);
        return out;
    }
    // Mean and variance over all rows of the stream, including those in which the value is 0.
    double mean_over(double all_rows) const { return mean * (rows / all_rows); }
    double variance_over(double all_rows) const {
        return (spread + mean * mean * rows * ((all_rows - rows) / all_rows)) / all_rows;
    }

    static constexpr double kLargest = 1e100;
};

class FeatureStatistics {
  public:
    double rows() const { return rows_; }
    double entries() const { return entries_; }
    bool any_negative() const { return any_negative_; }
    // Whether all non-zero values so far have the same absolute value.
    bool one_value() const { return !several_values_; }
    double first_value() const { return first_value_; }
    // The features in the order of their first occurrence.
    const std::vector<std::int32_t>& features() const { return index_.ids(); }
    // The places of the features in features(), by ascending feature; empty unless kept.
    const std::vector<std::int32_t>& ascending() const { return ascending_; }
    void keep_ascending(bool kept);
    const FeatureValues& at(std::size_t place) const { return values_[place]; }
    bool knows(std::int32_t feature) const { return index_.find(feature) != FeatureIndex::kAbsent; }
    // The share of non-zero values among the rows and features so far.
    double density() const {
        const double cells = rows_ * static_cast<double>(index_.size());
        return cells > 0 ? entries_ / cells : 0;
    }

    // Finds the place of each feature of a row in features(); kAbsent if it is new.
    void find(const RowView& x, std::vector<std::int32_t>& places) const;
    // The values of the feature at a place, or of a new one, as if the stream included a row with
    // the value `x`.
    FeatureValues with(std::int32_t place, double x) const {
        return (place == FeatureIndex::kAbsent ? FeatureValues{}
                                               : values_[static_cast<std::size_t>(place)])
            .with(x);
    }

    // Adds a row whose features are at these places. The constant feature is ignored.
    void observe(const RowView& x, std::span<const std::int32_t> places);
    void observe(const RowView& x) {
        std::vector<std::int32_t> places;
        find(x, places);
        observe(x, places);
    }

    // Keeps only some of the features, by their place in features().
    void select(const std::vector<char>& kept);

    // For files. restore() returns false, and changes nothing, if the numbers contradict each
    // other.
    struct Totals {
        double rows = 0, entries = 0, first_value = 0;
        bool any_negative = false, several_values = false;
    };
    Totals totals() const {
        return {rows_, entries_, first_value_, any_negative_, several_values_};
    }
    bool restore(const Totals& totals, std::vector<std::int32_t> features,
                 std::vector<FeatureValues> values);

  private:
    void insert(std::int32_t feature, const FeatureValues& values);
    bool precedes(std::int32_t place, std::int32_t other) const {
        return features()[static_cast<std::size_t>(place)] <
               features()[static_cast<std::size_t>(other)];
    }

    double rows_ = 0, entries_ = 0;
    double first_value_ = 0;  // the absolute value of the first non-zero value
    bool any_negative_ = false, several_values_ = false;
    FeatureIndex index_;
    std::vector<FeatureValues> values_;
    bool keeps_ascending_ = false;
    std::vector<std::int32_t> ascending_;
};

}  // namespace tagalong
