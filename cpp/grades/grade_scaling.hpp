// The features of examples on a common scale, for a learner with one step size for all of them. The
// numbers follow from the rows so far and the row itself, never from grades.
//
// A feature that at least a quarter of the rows have, such as a column of a table, is standardised:
// its mean over all rows is subtracted, the difference divided by its deviation and clipped to +-4.
// Rarer features, such as words, are used as they are. A row therefore has its own features and the
// frequent ones that it lacks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/example.hpp"
#include "race/feature_statistics.hpp"

namespace tagalong {

class GradeScaling {
  public:
    // Writes the scaled row, without the constant feature. Its features are ascending, its values
    // not zero.
    void scale(const RowView& x, Example& out) const;
    // Takes a row into the statistics.
    void observe(const RowView& x);

    const FeatureStatistics& statistics() const { return statistics_; }
    // For files: returns false, and changes nothing, if the numbers contradict each other.
    bool restore(const FeatureStatistics::Totals& totals, std::vector<std::int32_t> features,
                 std::vector<FeatureValues> values);

  private:
    static constexpr double kFrequent = 0.25;
    static constexpr double kMostDeviations = 4;

    static double scaled(const FeatureValues& values, double value, double rows);
    bool is_frequent(std::int32_t place) const {
        return statistics_.at(static_cast<std::size_t>(place)).rows >=
               kFrequent * statistics_.rows();
    }
    std::int32_t feature(std::int32_t place) const {
        return statistics_.features()[static_cast<std::size_t>(place)];
    }

    FeatureStatistics statistics_;
    // The places in the statistics of the features that are frequent, by ascending feature.
    std::vector<std::int32_t> frequent_;
    std::vector<std::int32_t> places_;  // scratch memory of observe()
};

}  // namespace tagalong
