// One example as every learner sees it: sorted distinct feature ids with non-zero values in
// double precision, normalised and with its constant feature. Whatever way an example comes in
// (a CSR row in any order, a dense row, a list of pairs), it becomes the same numbers here,
// which is why every way in gives the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tagalong {

// The id of the constant feature: no input may carry it, and it sorts first.
inline constexpr std::int32_t kConstantFeature = -1;

enum class Norm { none, euclidean, largest };

struct Example {
    std::vector<std::int32_t> feature;
    std::vector<double> value;

    std::size_t size() const { return feature.size(); }
    void clear() {
        feature.clear();
        value.clear();
    }
    void add(std::int32_t id, double amount) {
        feature.push_back(id);
        value.push_back(amount);
    }

    // Sort by feature, sum duplicates, drop zeros.
    void merge();
    // Merge, scale to unit length, add the constant.
    void finish(Norm norm, double constant);

  private:
    std::vector<std::uint32_t> order_;
    std::vector<std::int32_t> feature_scratch_;
    std::vector<double> value_scratch_;
};

// One row of numbers, wherever it is kept.
struct RowView {
    std::span<const std::int32_t> feature;
    std::span<const double> value;

    RowView(std::span<const std::int32_t> features, std::span<const double> values)
        : feature(features), value(values) {}
    RowView(const Example& x) : feature(x.feature), value(x.value) {}
    std::size_t size() const { return feature.size(); }
};

inline double sum_of_squares(std::span<const double> values) {
    double sum = 0;
    for (const double v : values) sum += v * v;
    return sum;
}

// The Euclidean length, without the overflow and underflow of the plain sum of squares.
inline double euclidean_length(std::span<const double> values) {
    double sum = sum_of_squares(values);
    if (sum > 1e-280 && sum < 1e280) return std::sqrt(sum);
    double largest = 0;
    for (const double v : values) largest = std::max(largest, std::abs(v));
    if (largest == 0) return 0;
    sum = 0;
    for (const double v : values) sum += (v / largest) * (v / largest);
    return largest * std::sqrt(sum);
}

inline void Example::merge() {
    const std::size_t n = feature.size();
    bool ready = true;
    for (std::size_t i = 0; i < n && ready; ++i)
        ready = value[i] != 0 && (i == 0 || feature[i - 1] < feature[i]);
    if (ready) return;

    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0u);
    // Duplicates keep their order of arrival, so their sum does not depend on the sorting.
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

inline void Example::finish(Norm norm, double constant) {
    merge();
    if (norm != Norm::none) {
        double length = 0;
        if (norm == Norm::euclidean) length = euclidean_length(value);
        else
            for (const double v : value) length = std::max(length, std::abs(v));
        bool vanished = false;
        if (length > 0)
            for (double& v : value) vanished |= (v /= length) == 0;
        if (vanished) merge();  // a tiny value beside a huge one is none
    }
    if (constant != 0) {
        feature.insert(feature.begin(), kConstantFeature);
        value.insert(value.begin(), constant);
    }
}

}  // namespace tagalong
