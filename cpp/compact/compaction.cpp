#include "compact/compaction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tagalong {

namespace {

// Sums of positive numbers by their size, in steps of an eighth of a power of two.
class SizeHistogram {
  public:
    void add(double number) {
        sums_[place(number)] += number;
        total_ += number;
    }
    // A number below which the numbers have at most the given share of the sum.
    double threshold(double share) const {
        double below = 0;
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            below += sums_[i];
            if (below > share * total_) return std::exp2(static_cast<double>(i) / kSteps + kLeast);
        }
        return 0;
    }

  private:
    static constexpr double kSteps = 8, kLeast = -400;
    static std::size_t place(double number) {
        const double at = std::floor((std::log2(number) - kLeast) * kSteps);
        return static_cast<std::size_t>(std::clamp(at, 0.0, 6399.0));
    }
    std::array<double, 6400> sums_{};
    double total_ = 0;
};

float checked(double number) {
    if (!(std::abs(number) <= CompactRanker::kLargest))
        throw InputError("the weights are too large for a compact model");
    return static_cast<float>(number);
}

}  // namespace

CompactedPart compacted(const LinearWeights& weights, const std::vector<std::int32_t>& features,
                        const std::vector<double>& counts, double dropped_share) {
    if (weights.labels > CompactRanker::kMostLabels)
        throw InputError("a compact model has at most 65,536 labels");
    std::vector<double> row(weights.labels);
    SizeHistogram sizes;
    for (std::size_t j = 0; j < features.size(); ++j) {
        if (!weights.row(features[j], row.data())) continue;
        for (const double weight : row)
            if (weight != 0) sizes.add(counts[j] * weight * weight);
    }
    const double threshold = sizes.threshold(dropped_share);

    CompactedPart out;
    out.offsets.push_back(0);
    for (std::size_t j = 0; j < features.size(); ++j) {
        const bool known = weights.row(features[j], row.data());
        double largest = 0;
        if (known)
            for (double& weight : row) {
                if (counts[j] * weight * weight < threshold) weight = 0;
                largest = std::max(largest, std::abs(weight));
            }
        // A known row has a scale even if all of its weights were dropped.
        float scale = known ? checked(largest / 127) : 0.0F;
        if (known) scale = std::max(scale, std::numeric_limits<float>::min());
        out.scales.push_back(scale);
        for (std::size_t k = 0; known && k < weights.labels; ++k) {
            const double value = std::round(row[k] / static_cast<double>(scale));
            if (value == 0) continue;
            out.labels.push_back(static_cast<std::uint16_t>(k));
            out.values.push_back(static_cast<std::int8_t>(std::clamp(value, -127.0, 127.0)));
        }
        if (out.labels.size() > std::numeric_limits<std::uint32_t>::max())
            throw InputError("a compact model has at most 4,294,967,295 weights");
        out.offsets.push_back(static_cast<std::uint32_t>(out.labels.size()));
    }
    if (!weights.row(kConstantFeature, row.data())) std::fill(row.begin(), row.end(), 0.0);
    for (const double weight : row) out.constant.push_back(checked(weight));
    for (const double weight : weights.bias) out.bias.push_back(checked(weight));
    return out;
}

}  // namespace tagalong
