// One example in the form that every learner reads: sorted distinct feature ids with non-zero
// values in double precision, normalised, with the constant feature. Every input format (a CSR row
// in any order, a dense row, a list of pairs) is converted to this form first. Therefore the same
// example gives bit-identical results in all formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagalong {

// The id of the constant feature. Input ids are non-negative, so it is unique and sorts first.
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

    // Sorts by feature, sums duplicates, drops zeros.
    void merge();
    // Merges, scales to unit norm, adds the constant feature.
    void finish(Norm norm, double constant);

  private:
    std::vector<std::uint32_t> order_;
    std::vector<std::int32_t> feature_scratch_;
    std::vector<double> value_scratch_;
};

// A non-owning view of one sparse row.
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

// The Euclidean length. Avoids the overflow and underflow of the plain sum of squares.
double euclidean_length(std::span<const double> values);

}  // namespace tagalong
