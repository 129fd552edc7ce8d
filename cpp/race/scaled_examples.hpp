// The examples of a round, one per scaling, each made when it is first needed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/example.hpp"
#include "race/feature_statistics.hpp"
#include "race/scaling.hpp"
#include "ranker/label_ranker.hpp"

namespace tagalong {

class ScaledExamples {
  public:
    // The example has the constant feature first; the statistics are those of the rows before it.
    void start(const Example& x, const FeatureStatistics& before);
    // The places of the features of the example in the statistics, and the number of those that
    // are known.
    std::span<const std::int32_t> places() const { return places_; }
    std::int32_t known() const;
    const Example& get(Scaling scaling, const FeatureStatistics& before,
                       const RankerConfig& config);
    // The Euclidean length of the raw example divided by that of the scaled one; 0 if that is 0, or
    // if nobody needed it.
    double length_ratio(Scaling scaling) const {
        const auto at = static_cast<std::size_t>(scaling);
        return ready_[at] ? ratio_[at] : 0;
    }

  private:
    const Example* raw_ = nullptr;
    std::vector<std::int32_t> places_;
    std::array<bool, kScalings> ready_{};
    std::array<double, kScalings> ratio_{};
    std::array<Example, kScalings> scaled_;
};

}  // namespace tagalong
