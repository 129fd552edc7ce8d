#include "race/scaled_examples.hpp"

#include <algorithm>
#include <cmath>

namespace tagalong {

// The share of known features in the length of an example, which has the features at these places.
static double known_share(const Example& x, std::span<const std::int32_t> places) {
    double known = 0, all = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double square = x.value[i] * x.value[i];
        all += square;
        if (places[i] != FeatureIndex::kAbsent) known += square;
    }
    return all > 0 && std::isfinite(all) ? std::sqrt(known / all) : 1;
}

void ScaledExamples::start(const Example& x, const FeatureStatistics& before) {
    raw_ = &x;
    ready_.fill(false);
    before.find(x, places_);
}

std::int32_t ScaledExamples::known() const {
    return static_cast<std::int32_t>(
        std::count_if(places_.begin(), places_.end(),
                      [](std::int32_t place) { return place != FeatureIndex::kAbsent; }));
}

const Example& ScaledExamples::get(Scaling scaling, const FeatureStatistics& before,
                                   const RankerConfig& config) {
    const auto at = static_cast<std::size_t>(scaling);
    Example& out = scaled_[at];
    if (ready_[at]) return out;
    ready_[at] = true;
    scale(*raw_, places_, before, scaling, out);
    const double length = euclidean_length(out.value);
    // The first entry of the raw example is the constant feature.
    const std::span<const double> raw = std::span<const double>(raw_->value).subspan(1);
    ratio_[at] = 1;
    if (config.normalize) ratio_[at] = length > 0 ? euclidean_length(raw) / length : 0;
    const double known = scaling == Scaling::idf ? known_share(out, places().subspan(1)) : 1;
    out.finish(config.normalize ? Norm::euclidean : Norm::none, config.constant * known);
    return out;
}

}  // namespace tagalong
