// The Euclidean geometry with a single label: theta is the weights, one number a feature.
// F(w) = 1/2 |w|^2. `LinearGeometry` does the same for many labels and needs 20 times the memory here.
#pragma once

#include <cstdint>
#include <vector>

#include "example.hpp"
#include "feature_index.hpp"

namespace tagalong {

template <class T>
class LinearVector {
  public:
    std::size_t rows() const { return index_.size(); }
    const std::vector<std::int32_t>& features() const { return index_.ids(); }
    std::int32_t find(std::int32_t feature) const { return index_.find(feature); }
    double weight(std::int32_t row) const { return static_cast<double>(at(row)); }
    std::size_t bytes() const { return rows() * sizeof(T); }

    struct Score {
        double value;    // w.x
        double squared;  // |x|^2
        bool known;      // whether all features have rows
    };
    // Notes the row of each feature on the way. Entry i goes to sum i modulo 4: an addition need not wait
    // for the one before it.
    Score score(const RowView& x, std::int32_t* place) const {
        const T* weights = weights_.data() + 1;
        const std::int32_t* feature = x.feature.data();
        const double* values = x.value.data();
        const std::size_t whole = x.size() - x.size() % 4;
        T sum[4] = {};
        double squared[4] = {};
        std::int32_t rows = 0;  // negative as soon as one is absent
        const auto product = [&](std::size_t i) {
            const std::int32_t row = index_.find(feature[i]);
            place[i] = row;
            rows |= row;
            return static_cast<T>(values[i]) * weights[row];
        };
        for (std::size_t i = 0; i < whole; i += 4)
            for (std::size_t way = 0; way < 4; ++way) sum[way] += product(i + way);
        for (std::size_t i = 0; i < whole; i += 4)
            for (std::size_t way = 0; way < 4; ++way) squared[way] += values[i + way] * values[i + way];
        // The last ones by name: a place in an array that is not known beforehand would keep it in memory.
        for (std::size_t way = 0; way < 3; ++way)
            if (const std::size_t i = whole + way; i < x.size()) {
                sum[way] += product(i);
                squared[way] += values[i] * values[i];
            }
        return {static_cast<double>((sum[0] + sum[1]) + (sum[2] + sum[3])),
                (squared[0] + squared[1]) + (squared[2] + squared[3]), rows >= 0};
    }

    // Gives rows to features without one. Some may have got theirs since they were looked for.
    void enter(const RowView& x, std::int32_t* place) {
        for (std::size_t i = 0; i < x.size(); ++i)
            if (place[i] == FeatureIndex::kAbsent) place[i] = find_or_insert(x.feature[i]);
    }
    // w += amount x, for features that all have rows.
    void add(const RowView& x, double amount, const std::int32_t* place) {
        const T factor = static_cast<T>(amount);
        T* weights = weights_.data() + 1;
        const double* values = x.value.data();
        const std::size_t size = x.size();
#pragma GCC unroll 4
        for (std::size_t i = 0; i < size; ++i) weights[place[i]] += factor * static_cast<T>(values[i]);
    }

    // G(theta) - G(theta at the restart). Summed when it is asked for, which is seldom: a running value
    // would cost as much as learning does.
    double complexity() const { return half_square() - base_; }
    // From now on the dual problem is centred on the present weights.
    void restart() { base_ = half_square(); }

    // For loading a saved model.
    void restore_row(std::int32_t feature, T weight) {
        index_.insert(feature);
        weights_.push_back(weight);
    }
    double base() const { return base_; }
    void restore_base(double base) { base_ = base; }

  private:
    T at(std::int32_t row) const { return weights_[static_cast<std::size_t>(row + 1)]; }
    [[gnu::noinline]] std::int32_t find_or_insert(std::int32_t feature) {
        const std::int32_t row = index_.find(feature);
        if (row != FeatureIndex::kAbsent) return row;
        weights_.push_back(0);
        return index_.insert(feature);
    }
    double half_square() const {
        double sum = 0;
        for (const T weight : weights_) sum += static_cast<double>(weight) * static_cast<double>(weight);
        return sum / 2;
    }

    static_assert(FeatureIndex::kAbsent == -1);
    FeatureIndex index_;
    std::vector<T> weights_ = {0};  // the first one belongs to features without a row
    double base_ = 0;  // 1/2 |w|^2 at the restart
};

}  // namespace tagalong
