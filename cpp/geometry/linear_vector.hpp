// The Euclidean geometry with a single weight vector: w = theta, one number per feature, F(w) = 1/2
// |w|^2. `LinearGeometry` does the same for many labels, but needs 20 times the memory for one
// label.
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
        if (all_near(x))
            return sum_up(
                x, [weights = near_.data()](std::int32_t feature) { return weights[feature]; });
        return sum_up(x, [this](std::int32_t feature) { return at(feature); });
    }

    // w += amount x
    void add(const RowView& x, double amount) {
        const T factor = static_cast<T>(amount);
        const std::int32_t* feature = x.feature.data();
        const double* values = x.value.data();
        const std::size_t size = x.size();
        if (!all_near(x)) {
            for (std::size_t i = 0; i < size; ++i)
                entered(feature[i]) += factor * static_cast<T>(values[i]);
            return;
        }
        T* weights = near_.data();
        if (features_.size() == near_.size()) {  // all features are stored
#pragma GCC unroll 4
            for (std::size_t i = 0; i < size; ++i)
                weights[feature[i]] += factor * static_cast<T>(values[i]);
            return;
        }
        const char* strange = strange_.data();
        char any = 0;
#pragma GCC unroll 4
        for (std::size_t i = 0; i < size; ++i) {
            any |= strange[feature[i]];
            weights[feature[i]] += factor * static_cast<T>(values[i]);
        }
        if (any)
            for (std::size_t i = 0; i < size; ++i)
                if (strange_[static_cast<std::size_t>(feature[i])]) entered(feature[i]);
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
    void restore_row(std::int32_t feature, T weight) { entered(feature) = weight; }
    double base() const { return base_; }
    void restore_base(double base) { base_ = base; }

  private:
    bool near(std::int32_t feature) const {
        return static_cast<std::uint32_t>(feature) < near_.size();
    }
    // The features of x are in ascending order, so testing the first and the last is enough.
    bool all_near(const RowView& x) const {
        return x.size() == 0 || (x.feature.front() >= 0 && near(x.feature.back()));
    }
    T at(std::int32_t feature) const {
        if (near(feature)) return near_[static_cast<std::size_t>(feature)];
        const std::int32_t row = far_index_.find(feature);
        return row == FeatureIndex::kAbsent ? T(0) : far_[static_cast<std::size_t>(row)];
    }

    // Four independent partial sums, entry i in sum i modulo 4: an addition does not wait for the
    // previous one.
    template <class Weight>
    static Score sum_up(const RowView& x, Weight&& weight) {
        const std::int32_t* feature = x.feature.data();
        const double* values = x.value.data();
        const std::size_t whole = x.size() - x.size() % 4;
        T sum[4] = {};
        double squared[4] = {};
        for (std::size_t i = 0; i < whole; i += 4)
            for (std::size_t way = 0; way < 4; ++way)
                sum[way] += static_cast<T>(values[i + way]) * weight(feature[i + way]);
        for (std::size_t i = 0; i < whole; i += 4)
            for (std::size_t way = 0; way < 4; ++way)
                squared[way] += values[i + way] * values[i + way];
        // The remaining entries use constant indices of the partial sums: a variable index would
        // keep the sums in memory instead of registers.
        for (std::size_t way = 0; way < 3; ++way)
            if (const std::size_t i = whole + way; i < x.size()) {
                sum[way] += static_cast<T>(values[i]) * weight(feature[i]);
                squared[way] += values[i] * values[i];
            }
        return {static_cast<double>((sum[0] + sum[1]) + (sum[2] + sum[3])),
                (squared[0] + squared[1]) + (squared[2] + squared[3])};
    }

    // The weight of a feature; stores the feature if it is new.
    [[gnu::noinline]] T& entered(std::int32_t feature) {
        const bool strange = near(feature) ? strange_[static_cast<std::size_t>(feature)]
                                           : far_index_.find(feature) == FeatureIndex::kAbsent;
        if (strange) {
            features_.emplace_back(feature);
            if (features_.size() > covered_) cover();
            if (near(feature)) {
                strange_[static_cast<std::size_t>(feature)] = 0;
            } else {
                far_index_.insert(feature);
                far_.push_back(0);
            }
        }
        return near(feature) ? near_[static_cast<std::size_t>(feature)]
                             : far_[static_cast<std::size_t>(far_index_.find(feature))];
    }
    // Widens the array to twice the present number of features at four ids per feature. Features
    // that it covers move from the hash table to the array.
    void cover() {
        covered_ = std::max(2 * features_.size(), declared_ > 0 ? kAtOnce / 4 : 0);
        std::size_t ids = 4 * covered_;
        if (declared_ > 0 && ids >= declared_) {
            ids = declared_;
            covered_ = std::numeric_limits<std::size_t>::max();
        }
        near_.resize(ids, T(0));
        strange_.resize(ids, 1);
        const FeatureIndex before = std::exchange(far_index_, {});
        const std::vector<T> weights = std::exchange(far_, {});
        for (std::size_t row = 0; row < weights.size(); ++row) {
            const std::int32_t feature = before.ids()[row];
            if (near(feature)) {
                near_[static_cast<std::size_t>(feature)] = weights[row];
                strange_[static_cast<std::size_t>(feature)] = 0;
            } else {
                far_index_.insert(feature);
                far_.push_back(weights[row]);
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
    static constexpr std::size_t kAtOnce = 16'384;

    std::size_t declared_;
    std::vector<std::int32_t> features_;  // stored features in the order of their first update
    std::size_t covered_ = 0;             // number of features beyond which the arrays are widened
    std::vector<T> near_;                 // weights by id; 0 for features that are not stored
    std::vector<char> strange_;           // by id: 1 for features that are not stored
    FeatureIndex far_index_;
    std::vector<T> far_;
    double base_ = 0;  // 1/2 |w|^2 at the restart
};

}  // namespace tagalong
