// The entropic geometry (P1): the weights of each label y are a distribution over the n features.
//
//     F(w) = sum_j w_j log(n w_j) on the simplex,  G(theta) = log sum_j exp(theta_j) - log n,
//     w = softmax(theta).
// Plane 0 holds theta and plane 1 holds exp(theta - shift_y). A score is the weighted sum of the
// rows of plane 1, divided by the normaliser Z_y = sum_j exp(theta_yj - shift_y). A feature without
// a row has theta = 0 for every label. An update adds to Z_y the changes of plane 1 in the rows of
// x. To limit rounding errors and overflow, Z_y and shift_y are recomputed when theta - shift_y is
// large, when Z_y is small, and after kRefreshAfter updates.
//
// n is the number of features declared up front plus the number of other features seen so far. Each
// of these enters the simplex with theta = 0 in the first round that contains it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels.hpp"
#include "core/selection.hpp"
#include "core/vector_math.hpp"
#include "geometry/entropic_curves.hpp"
#include "geometry/row_lookup.hpp"
#include "rules/curves.hpp"
#include "rules/step.hpp"

namespace tagalong {

template <class T>
class EntropicGeometry {
  public:
    // The constant feature, if any, counts as declared.
    EntropicGeometry(std::int64_t declared, bool constant)
        : store_(2), declared_(declared), dimension_(declared + (constant ? 1 : 0)) {}

    using Label = EntropicLabel;

    const WeightStore<T>& store() const { return store_; }
    const std::vector<Label>& label_state() const { return label_; }
    std::int64_t dimension() const { return dimension_; }
    std::int64_t declared() const { return declared_; }

    void add_labels(std::size_t count) {
        const std::size_t before = store_.labels();
        store_.add_labels(count);
        label_.resize(store_.labels(), Label{static_cast<double>(dimension_), 0, 0});
        for (std::size_t r = 0; r < store_.rows(); ++r) {
            T* e = store_.row(static_cast<std::int32_t>(r), 1);
            std::fill(e + before, e + store_.labels(), T(1));
        }
    }

    // The sum of G(theta_y) over the labels, minus its value at the last restart. Without features
    // it is 0.
    double complexity() const {
        if (dimension_ == 0) return 0;
        double sum = 0;
        for (const Label& label : label_)
            sum += std::log(label.Z / static_cast<double>(dimension_)) + label.shift;
        return sum - base_complexity();
    }

    // The state at the last restart of the certificate. After a restart the dual problem is centred
    // on the weights at that time: its F is the relative entropy to them.
    struct Base {
        std::int64_t dimension = 0;
        std::vector<double> Z, shift;  // per label
    };
    const Base& base() const { return base_; }
    void restart() {
        base_.dimension = dimension_;
        base_.Z.clear();
        base_.shift.clear();
        for (const Label& label : label_) {
            base_.Z.push_back(label.Z);
            base_.shift.push_back(label.shift);
        }
    }

    // Adds the features of x that are neither declared nor seen before to the simplex. Returns
    // whether there were any.
    bool enter(const RowView& x) {
        bool any = false;
        for (const std::int32_t feature : x.feature) {
            if (feature < declared_ || store_.find(feature) != FeatureIndex::kAbsent) continue;
            any = true;
            add_row(feature);
            ++dimension_;
            for (std::size_t y = 0; y < label_.size(); ++y) {
                // theta = 0 may be far above the theta of all other features.
                if (-label_[y].shift > kTopLimit) refresh(static_cast<int>(y));
                else label_[y].Z += std::exp(-label_[y].shift);
            }
        }
        return any;
    }

    void score(const RowView& x, RowLookup<T>& lookup) const {
        lookup.find(store_, x);
        lookup.multiplier.clear();
        lookup.rows.clear();
        double absent = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (lookup.row[i] == FeatureIndex::kAbsent) {
                // Features outside the simplex have no weight.
                if (x.feature[i] < declared_) absent += x.value[i];
                continue;
            }
            lookup.multiplier.push_back(static_cast<T>(x.value[i]));
            lookup.rows.push_back(store_.row(lookup.row[i], 1));
        }
        lookup.sums.resize(store_.stride());
        kernels::score_rows(lookup.sums.data(), lookup.rows.data(), lookup.multiplier.data(),
                            lookup.rows.size(), store_.stride());
        for (std::size_t y = 0; y < label_.size(); ++y) {
            const double unseen = absent == 0 ? 0 : absent * std::exp(-label_[y].shift);
            lookup.sums[y] =
                static_cast<T>((static_cast<double>(lookup.sums[y]) + unseen) / label_[y].Z);
        }
    }

    // An upper bound of <x, Hessian of G x>. This is the variance of the values of x under w, so it
    // is at most a quarter of their squared range. Features absent from x have the value 0.
    double curvature(const RowView& x) const {
        double least = 0, most = 0;
        if (static_cast<std::int64_t>(x.size()) == dimension_ && x.size() > 0)
            least = most = x.value[0];
        for (const double value : x.value) {
            least = std::min(least, value);
            most = std::max(most, value);
        }
        return (most - least) * (most - least) / 4;
    }

    // Groups the features of x by value. Call before curve().
    void prepare(const RowView& x) { curves_.prepare(x, label_.size()); }
    // The curve of one label. Its masses are valid until the next prepare(). Call at most once per
    // label and prepare().
    SimplexCurve curve(const RowView& x, const RowLookup<T>& lookup, int label, bool relevant) {
        return curves_.curve(store_, label_[label], dimension_, x, lookup, label, relevant);
    }

    // theta += alpha (x) x; updates plane 1 and Z accordingly.
    void apply(const RowView& x, const Step& step, RowLookup<T>& lookup) {
        prepare_step(step);
        const bool whole_rows = step.touched.size() * 8 > label_.size();
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (lookup.row[i] == FeatureIndex::kAbsent) lookup.row[i] = add_row(x.feature[i]);
            T* theta = store_.row(lookup.row[i]);
            T* e = store_.row(lookup.row[i], 1);
            const T value = static_cast<T>(x.value[i]);
            if (whole_rows)
                kernels::add_exponential(theta, e, alpha_.data(), value, shift_.data(),
                                         gain_.data(), top_.data(), store_.stride());
            else
                for (const int label : step.touched)
                    add_to_weight(theta[label], e[label], value, label);
        }
        update_normalisers(step);
    }

    // The weight softmax(theta) of a row, or of a declared feature without a row.
    double weight(std::int32_t row, int label) const {
        const Label& state = label_[label];
        if (row != FeatureIndex::kAbsent)
            return static_cast<double>(store_.row(row, 1)[label]) / state.Z;
        const bool any = dimension_ > static_cast<std::int64_t>(store_.rows());
        return any ? std::exp(-state.shift) / state.Z : 0;
    }

    // complexity() computed from the stored theta, to check the running normalisers.
    double recompute_complexity() const {
        if (dimension_ == 0) return 0;
        const auto rows = static_cast<std::int32_t>(store_.rows());
        double total = 0;
        for (std::size_t y = 0; y < label_.size(); ++y) {
            const double top = highest_theta(static_cast<int>(y));
            double sum = unseen_mass(top);
            for (std::int32_t r = 0; r < rows; ++r)
                sum += std::exp(static_cast<double>(store_.row(r)[y]) - top);
            total += std::log(sum / static_cast<double>(dimension_)) + top;
        }
        return total - base_complexity();
    }

    // A copy with merged or fewer labels and recomputed normalisers. Every feature has a positive
    // weight, so features cannot be pruned.
    EntropicGeometry rebuilt(const Selection& selection) const {
        if (!selection.keeps_all_rows())
            throw InputError(
                "geometry='entropic' gives every feature a positive weight: none can be pruned");
        EntropicGeometry out(declared_, false);
        out.dimension_ = dimension_;
        out.add_labels(selection.labels());
        std::vector<T> theta(selection.labels());
        for (std::size_t r = 0; r < store_.rows(); ++r) {
            selection.sum(store_.row(static_cast<std::int32_t>(r)), theta.data());
            out.restore_row(store_.features()[r], theta.data());
        }
        for (std::size_t y = 0; y < selection.labels(); ++y) out.refresh(static_cast<int>(y));
        return out;
    }

    // For loading a saved model: restore the labels first, then the rows of theta.
    void restore_row(std::int32_t feature, const T* theta) {
        const std::int32_t row = store_.insert(feature);
        std::copy(theta, theta + store_.labels(), store_.row(row));
        T* e = store_.row(row, 1);
        for (std::size_t y = 0; y < label_.size(); ++y) e[y] = power(theta[y], label_[y].shift);
    }
    void restore_labels(std::int64_t dimension, std::vector<Label> labels) {
        dimension_ = dimension;
        label_ = std::move(labels);
    }
    void restore_base(Base base) { base_ = std::move(base); }
    // Whether the restored normalisers are those of the restored rows, up to rounding.
    bool normalisers_agree() const {
        if (unseen() < 0) return false;
        for (std::size_t y = 0; y < label_.size(); ++y) {
            double sum = unseen_mass(label_[y].shift);
            for (std::size_t r = 0; r < store_.rows(); ++r)
                sum += static_cast<double>(store_.row(static_cast<std::int32_t>(r), 1)[y]);
            if (!(std::abs(sum - label_[y].Z) <= 1e-6 * label_[y].Z)) return false;
            if (!(sum > 0) && dimension_ > 0) return false;
        }
        return true;
    }

  private:
    // With theta - shift <= 8 and Z >= 0.1, the rounding error of a change of Z is near 1e-12 Z.
    static constexpr double kTopLimit = 8;
    static constexpr double kLeastZ = 0.1;
    static constexpr std::int64_t kRefreshAfter = 10000;

    // The sum of G at the last restart, over the present features: features added since then had
    // theta = 0.
    double base_complexity() const {
        const auto entered = static_cast<double>(dimension_ - base_.dimension);
        double sum = 0;
        for (std::size_t y = 0; y < base_.Z.size(); ++y) {
            const double Z = base_.Z[y] + entered * std::exp(-base_.shift[y]);
            sum += std::log(Z / static_cast<double>(dimension_)) + base_.shift[y];
        }
        return sum;
    }

    std::int32_t add_row(std::int32_t feature) {
        const std::int32_t row = store_.insert(feature);
        T* e = store_.row(row, 1);
        for (std::size_t y = 0; y < label_.size(); ++y) e[y] = power(T(0), label_[y].shift);
        return row;
    }

    // The entry of plane 1 for a theta. Always computed by the same arithmetic, so that plane 1 can
    // be reproduced bit by bit from plane 0.
    static T power(T theta, double shift) {
        const double above = static_cast<double>(theta) - shift;
        return static_cast<T>(vector_exp(above > 60.0 ? 60.0 : above));
    }

    // Converts the step to the storage type, and resets the running change of Z and the running
    // maximum of theta - shift of each label.
    void prepare_step(const Step& step) {
        const std::size_t n = store_.stride();
        alpha_.assign(n, T(0));
        for (const int label : step.touched) alpha_[label] = static_cast<T>(step.alpha[label]);
        gain_.assign(n, 0.0);
        top_.assign(n, -std::numeric_limits<double>::infinity());
        shift_.assign(n, 0.0);
        for (std::size_t y = 0; y < label_.size(); ++y) shift_[y] = label_[y].shift;
    }
    void add_to_weight(T& theta, T& e, T value, int label) {
        theta += alpha_[label] * value;
        const T now = power(theta, shift_[label]);
        gain_[label] += static_cast<double>(now) - static_cast<double>(e);
        top_[label] = std::max(top_[label], static_cast<double>(theta) - shift_[label]);
        e = now;
    }

    // Adds the changes of the step to Z, and recomputes normalisers that may have lost precision.
    void update_normalisers(const Step& step) {
        for (const int label : step.touched) {
            Label& state = label_[label];
            state.Z += gain_[label];
            if (top_[label] > kTopLimit || state.Z < kLeastZ || ++state.updates >= kRefreshAfter)
                refresh(label);
        }
    }

    // The largest theta over all features; features without a row have 0.
    double highest_theta(int label) const {
        double top = unseen() > 0 ? 0 : -std::numeric_limits<double>::infinity();
        for (std::size_t r = 0; r < store_.rows(); ++r)
            top =
                std::max(top, static_cast<double>(store_.row(static_cast<std::int32_t>(r))[label]));
        return top;
    }
    // The number of features without a row, and the sum of exp(theta - shift) over them.
    std::int64_t unseen() const { return dimension_ - static_cast<std::int64_t>(store_.rows()); }
    double unseen_mass(double shift) const {
        return unseen() > 0 ? static_cast<double>(unseen()) * std::exp(-shift) : 0;
    }

    // Sets the shift to the highest theta and recomputes Z and plane 1.
    void refresh(int label) {
        const double top = highest_theta(label);
        double Z = unseen_mass(top);
        for (std::size_t r = 0; r < store_.rows(); ++r) {
            const auto row = static_cast<std::int32_t>(r);
            T& e = store_.row(row, 1)[label];
            e = power(store_.row(row)[label], top);
            Z += static_cast<double>(e);
        }
        label_[label] = {Z, top, 0};
    }

    WeightStore<T> store_;
    std::int64_t declared_;
    std::int64_t dimension_;
    std::vector<Label> label_;
    Base base_;
    EntropicCurves curves_;
    // Per label, scratch of apply().
    AlignedVector<T> alpha_;
    AlignedVector<double> gain_, top_, shift_;
};

}  // namespace tagalong
