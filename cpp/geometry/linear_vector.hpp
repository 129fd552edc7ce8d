// The Euclidean geometry with a single weight vector: F(w) = 1/2 |w|^2, w = theta, one number per
// feature. `LinearGeometry` supports many labels, but needs 20 times the memory for one label.
//
// An array indexed by feature id holds the weights of small ids, the usual case; a hash table holds
// the others. As in `FeatureIndex`, the array covers ids up to a small multiple of the number of
// stored features, so memory is proportional to that number, whatever the ids. If the number of
// features is declared, the array covers at most the declared ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/example.hpp"
#include "core/feature_index.hpp"
#include "core/selection.hpp"

namespace tagalong {

template <class T>
class LinearVector {
  public:
    // `declared` is the number of features; 0 if unknown.
    explicit LinearVector(std::int64_t declared = 0)
        : declared_(static_cast<std::size_t>(declared)) {}

    // A feature is stored from its first update on; rows are numbered in that order.
    std::size_t rows() const { return features_.size(); }
    const std::vector<std::int32_t>& features() const { return features_; }
    double weight(std::int32_t row) const {
        return row == FeatureIndex::kAbsent
                   ? 0
                   : feature_weight(features_[static_cast<std::size_t>(row)]);
    }
    double feature_weight(std::int32_t feature) const { return static_cast<double>(at(feature)); }
    std::size_t bytes() const { return rows() * sizeof(T); }

    struct Score {
        double value;    // w.x
        double squared;  // |x|^2
    };
    Score score(const RowView& x) const {
        if (all_in_array(x))
            return sum_products(
                x, [weights = array_.data()](std::int32_t feature) { return weights[feature]; });
        return sum_products(x, [this](std::int32_t feature) { return at(feature); });
    }

    // w += amount x
    void add(const RowView& x, double amount) {
        const T factor = static_cast<T>(amount);
        const std::int32_t* feature = x.feature.data();
        const double* values = x.value.data();
        const std::size_t size = x.size();
        if (!all_in_array(x)) {
            for (std::size_t i = 0; i < size; ++i)
                find_or_insert(feature[i]) += factor * static_cast<T>(values[i]);
            return;
        }
        T* weights = array_.data();
        if (features_.size() == array_.size()) {  // all features are stored
#pragma GCC unroll 4
            for (std::size_t i = 0; i < size; ++i)
                weights[feature[i]] += factor * static_cast<T>(values[i]);
            return;
        }
        const char* absent = absent_.data();
        char any = 0;
#pragma GCC unroll 4
        for (std::size_t i = 0; i < size; ++i) {
            any |= absent[feature[i]];
            weights[feature[i]] += factor * static_cast<T>(values[i]);
        }
        if (any)
            for (std::size_t i = 0; i < size; ++i)
                if (absent_[static_cast<std::size_t>(feature[i])]) find_or_insert(feature[i]);
    }

    // G(theta) - G(theta at the last restart). Computed on demand, which is rare: a running value
    // would cost as much as learning.
    double complexity() const { return half_square() - base_; }
    // Centres the dual problem on the present weights.
    void restart() { base_ = half_square(); }

    // A copy with fewer features.
    LinearVector rebuilt(const Selection& selection) const {
        LinearVector out(static_cast<std::int64_t>(declared_));
        for (std::size_t r = 0; r < rows(); ++r)
            if (selection.keeps(r)) out.restore_row(features_[r], at(features_[r]));
        return out;
    }

    // For loading a saved model.
    void restore_row(std::int32_t feature, T weight) { find_or_insert(feature) = weight; }
    double base() const { return base_; }
    void restore_base(double base) { base_ = base; }

  private:
    bool in_array(std::int32_t feature) const {
        return static_cast<std::uint32_t>(feature) < array_.size();
    }
    // The features of x are in ascending order, so testing the first and the last is enough.
    bool all_in_array(const RowView& x) const {
        return x.size() == 0 || (x.feature.front() >= 0 && in_array(x.feature.back()));
    }
    T at(std::int32_t feature) const {
        if (in_array(feature)) return array_[static_cast<std::size_t>(feature)];
        const std::int32_t row = hashed_index_.find(feature);
        return row == FeatureIndex::kAbsent ? T(0) : hashed_[static_cast<std::size_t>(row)];
    }

    // Four independent partial sums, entry i in sum i modulo 4: an addition does not wait for the
    // previous one.
    template <class Weight>
    static Score sum_products(const RowView& x, Weight&& weight) {
        const std::int32_t* feature = x.feature.data();
        const double* values = x.value.data();
        const std::size_t whole = x.size() - x.size() % 4;
        T sum[4] = {};
        double squared[4] = {};
        for (std::size_t i = 0; i < whole; i += 4)
            for (std::size_t lane = 0; lane < 4; ++lane)
                sum[lane] += static_cast<T>(values[i + lane]) * weight(feature[i + lane]);
        for (std::size_t i = 0; i < whole; i += 4)
            for (std::size_t lane = 0; lane < 4; ++lane)
                squared[lane] += values[i + lane] * values[i + lane];
        // The remaining entries use constant indices of the partial sums: a variable index would
        // keep the sums in memory instead of registers.
        for (std::size_t lane = 0; lane < 3; ++lane)
            if (const std::size_t i = whole + lane; i < x.size()) {
                sum[lane] += static_cast<T>(values[i]) * weight(feature[i]);
                squared[lane] += values[i] * values[i];
            }
        return {static_cast<double>((sum[0] + sum[1]) + (sum[2] + sum[3])),
                (squared[0] + squared[1]) + (squared[2] + squared[3])};
    }

    // The weight of a feature; stores the feature if it is new.
    [[gnu::noinline]] T& find_or_insert(std::int32_t feature) {
        const bool absent = in_array(feature)
                                ? absent_[static_cast<std::size_t>(feature)]
                                : hashed_index_.find(feature) == FeatureIndex::kAbsent;
        if (absent) {
            features_.emplace_back(feature);
            if (features_.size() > widen_above_) widen();
            if (in_array(feature)) {
                absent_[static_cast<std::size_t>(feature)] = 0;
            } else {
                hashed_index_.insert(feature);
                hashed_.push_back(0);
            }
        }
        return in_array(feature) ? array_[static_cast<std::size_t>(feature)]
                                 : hashed_[static_cast<std::size_t>(hashed_index_.find(feature))];
    }
    // Widens the array to eight ids per present feature, which is enough for twice as many features
    // at four ids per feature. Features that it covers move from the hash table to the array.
    void widen() {
        widen_above_ = std::max(2 * features_.size(), declared_ > 0 ? kInitialIds / 4 : 0);
        std::size_t ids = 4 * widen_above_;
        if (declared_ > 0 && ids >= declared_) {
            ids = declared_;
            widen_above_ = std::numeric_limits<std::size_t>::max();
        }
        array_.resize(ids, T(0));
        absent_.resize(ids, 1);
        const FeatureIndex before = std::exchange(hashed_index_, {});
        const std::vector<T> weights = std::exchange(hashed_, {});
        for (std::size_t row = 0; row < weights.size(); ++row) {
            const std::int32_t feature = before.ids()[row];
            if (in_array(feature)) {
                array_[static_cast<std::size_t>(feature)] = weights[row];
                absent_[static_cast<std::size_t>(feature)] = 0;
            } else {
                hashed_index_.insert(feature);
                hashed_.push_back(weights[row]);
            }
        }
    }
    double half_square() const {
        double sum = 0;
        for (const std::int32_t feature : features_)
            sum += feature_weight(feature) * feature_weight(feature);
        return sum / 2;
    }

    // The number of ids that the array covers from the start if the features are declared.
    static constexpr std::size_t kInitialIds = 16'384;

    std::size_t declared_;
    std::vector<std::int32_t> features_;  // stored features in the order of their first update
    std::size_t widen_above_ = 0;         // number of features beyond which the arrays are widened
    std::vector<T> array_;                // weights by id; 0 for features that are not stored
    std::vector<char> absent_;            // by id: 1 for features that are not stored
    FeatureIndex hashed_index_;
    std::vector<T> hashed_;
    double base_ = 0;  // 1/2 |w|^2 at the restart
};

}  // namespace tagalong
