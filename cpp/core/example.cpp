#include "core/example.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tagalong {

double euclidean_length(std::span<const double> values) {
    double sum = sum_of_squares(values);
    if (sum > 1e-280 && sum < 1e280) return std::sqrt(sum);
    double largest = 0;
    for (const double v : values) largest = std::max(largest, std::abs(v));
    if (largest == 0) return 0;
    sum = 0;
    for (const double v : values) sum += (v / largest) * (v / largest);
    return largest * std::sqrt(sum);
}

void Example::merge() {
    const std::size_t n = feature.size();
    bool ready = true;
    for (std::size_t i = 0; i < n && ready; ++i)
        ready = value[i] != 0 && (i == 0 || feature[i - 1] < feature[i]);
    if (ready) return;

    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0u);
    // A stable sort keeps duplicates in input order, so their sum does not depend on the sort.
    std::stable_sort(order_.begin(), order_.end(),
                     [&](auto a, auto b) { return feature[a] < feature[b]; });
    feature_scratch_.assign(feature.begin(), feature.end());
    value_scratch_.assign(value.begin(), value.end());
    clear();
    for (std::size_t i = 0; i < n;) {
        const std::int32_t id = feature_scratch_[order_[i]];
        double sum = 0;
        for (; i < n && feature_scratch_[order_[i]] == id; ++i) sum += value_scratch_[order_[i]];
        if (sum != 0) add(id, sum);
    }
}

void Example::finish(Norm norm, double constant) {
    merge();
    if (norm != Norm::none) {
        double length = 0;
        if (norm == Norm::euclidean) length = euclidean_length(value);
        else
            for (const double v : value) length = std::max(length, std::abs(v));
        bool vanished = false;
        if (length > 0)
            for (double& v : value) vanished |= (v /= length) == 0;
        if (vanished) merge();  // a tiny value divided by a huge length underflows to 0
    }
    if (constant != 0) {
        feature.insert(feature.begin(), kConstantFeature);
        value.insert(value.begin(), constant);
    }
}

}  // namespace tagalong
