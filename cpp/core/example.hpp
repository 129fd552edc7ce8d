// One example as every learner sees it: sorted distinct feature ids with non-zero values in
// double precision, normalised and with its constant feature. Whatever way an example comes in
// (a CSR row in any order, a dense row, a list of pairs), it becomes the same numbers here,
// which is why every way in gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
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
double euclidean_length(std::span<const double> values);

}  // namespace tagalong
