// The Euclidean geometry with a single label: theta is the weights, one number a feature.
// F(w) = 1/2 |w|^2. `LinearGeometry` does the same for many labels and needs 20 times the memory here.
//
// Weights of small ids, the usual ones, lie where their id says, so that nothing has to be looked up;
// the others are found by a hash table. As in `FeatureIndex`, the array covers ids up to a few times
// the number of features that have entered, so memory follows their number, whatever their ids; where
// it is declared how many features there are, it covers no more than those.
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
    // 0: it is not declared how many features there are.
    explicit LinearVector(std::int64_t declared = 0)
        : declared_(static_cast<std::size_t>(declared)) {}

    // Features enter with their first step; their rows are numbered in that order.
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
        if (features_.size() == near_.size()) {  // all have entered
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

    // G(theta) - G(theta at the restart). Summed when it is asked for, which is seldom: a running value
    // would cost as much as learning does.
    double complexity() const { return half_square() - base_; }
    // From now on the dual problem is centred on the present weights.
    void restart() { base_ = half_square(); }

    // The same weights, of some of the features.
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
    // Features ascend.
    bool all_near(const RowView& x) const {
        return x.size() == 0 || (x.feature.front() >= 0 && near(x.feature.back()));
    }
    T at(std::int32_t feature) const {
        if (near(feature)) return near_[static_cast<std::size_t>(feature)];
        const std::int32_t row = far_index_.find(feature);
        return row == FeatureIndex::kAbsent ? T(0) : far_[static_cast<std::size_t>(row)];
    }

    // Entry i goes to sum i modulo 4: an addition need not wait for the one before it.
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
        // The last ones by name: a place in an array that is not known beforehand would keep it in memory.
        for (std::size_t way = 0; way < 3; ++way)
            if (const std::size_t i = whole + way; i < x.size()) {
                sum[way] += static_cast<T>(values[i]) * weight(feature[i]);
                squared[way] += values[i] * values[i];
            }
        return {static_cast<double>((sum[0] + sum[1]) + (sum[2] + sum[3])),
                (squared[0] + squared[1]) + (squared[2] + squared[3])};
    }

    // The weight of a feature, which enters if it has not yet.
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
    // Widen the array to four ids a feature; what it covers leaves the hash table.
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

    // Ids that are covered from the start if they are declared: so few take hardly any memory.
    static constexpr std::size_t kAtOnce = 16'384;

    std::size_t declared_;
    std::vector<std::int32_t> features_;  // in the order in which they entered
    std::size_t covered_ = 0;             // features at which the arrays are widened next
    std::vector<T> near_;                 // by id; 0 for those that have not entered
    std::vector<char> strange_;           // by id, 1 for those that have not entered
    FeatureIndex far_index_;
    std::vector<T> far_;
    double base_ = 0;  // 1/2 |w|^2 at the restart
};

}  // namespace tagalong
