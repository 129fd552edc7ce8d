// Weights in the geometry of an r-norm, r = s/(s - 1), near 1 where the dimension p is large:
//
//     F(w) = |w|_r^2 / 2,   G(theta) = |theta|_s^2 / 2,   s = log p (at least 2),
//     w_j = theta_j (|theta_j| / |theta|_s)^(s - 2).
// Entry by entry ("l1"), or feature by feature with |theta_j| the length of a feature's K numbers
// ("group").
//
// Everything is kept relative to a power of two M, so that powers neither overflow nor vanish:
// |theta / M|_s stays between 1/4 and 4. A tree has the sum of |theta_j / M|^s, so a round costs
// no more than the rows it touches. Entry by entry, a second plane holds
// (theta / M) |theta / M|^(s - 2): scores are sums of it, times one factor for all.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/kernels.hpp"
#include "core/selection.hpp"
#include "geometry/row_lookup.hpp"
#include "predtron/sum_tree.hpp"
#include "rules/step.hpp"

namespace tagalong {

template <class T>
class LinkGeometry {
  public:
    explicit LinkGeometry(bool entries) : store_(entries ? 2 : 1), entries_(entries) {}

    struct Row {
        double norm2 = 0;   // |theta_j|^2; of groups only
        double factor = 0;  // |theta_j / M|^(s - 2); of groups only
    };

    const WeightStore<T>& store() const { return store_; }
    const std::vector<Row>& row_state() const { return rows_; }
    void add_labels(std::size_t count) { store_.add_labels(count); }
    // Before the first update: how many numbers there are.
    void set_dimension(double p) { s_ = std::max(2.0, std::log(p)); }
    double exponent() const { return s_; }
    double unit() const { return unit_; }

    void score(const Example& x, RowLookup<T>& at) const {
        at.find(store_, x);
        at.multiplier.clear();
        at.rows.clear();
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (at.row[i] == FeatureIndex::kAbsent) continue;
            const double factor = entries_ ? 1.0 : rows_[at.row[i]].factor;
            at.multiplier.push_back(static_cast<T>(x.value[i] * factor));
            at.rows.push_back(store_.row(at.row[i], entries_ ? 1 : 0));
        }
        const std::size_t n = store_.stride();
        at.sums.resize(n);
        kernels::score_rows(at.sums.data(), at.rows.data(), at.multiplier.data(), at.rows.size(),
                            n);
        const auto factor = static_cast<T>(common_factor());
        for (T& sum : at.sums) sum *= factor;
    }

    void apply(const Example& x, const Step& step, RowLookup<T>& at) {
        make_room(x, step);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (at.row[i] == FeatureIndex::kAbsent) {
                at.row[i] = store_.insert(x.feature[i]);
                rows_.emplace_back();
            }
            T* theta = store_.row(at.row[i]);
            const T value = static_cast<T>(x.value[i]);
            for (const int label : step.touched)
                theta[label] += static_cast<T>(step.alpha[label]) * value;
            if (entries_)
                for (const int label : step.touched) raise(at.row[i], label);
            else measure(at.row[i]);
            note(at.row[i]);
        }
        const double size = std::pow(tree_.total(), 1 / s_);
        if (size > 4 || (size > 0 && size < 0.25)) set_unit(unit_ * size);
    }

    double weight(std::int32_t row, int label) const {
        if (row == FeatureIndex::kAbsent) return 0;
        const double kept = static_cast<double>(store_.row(row, entries_ ? 1 : 0)[label]);
        return kept * common_factor() * (entries_ ? 1.0 : rows_[row].factor);
    }

    // The same dual vectors for other labels, or for fewer features.
    LinkGeometry rebuilt(const Selection& selection) const {
        LinkGeometry out(entries_);
        out.s_ = s_;
        out.unit_ = unit_;
        out.add_labels(selection.labels());
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            if (!selection.keeps(r)) continue;
            selection.sum(store_.row(static_cast<std::int32_t>(r)),
                          out.restore_row(store_.features()[r], 0));
            const auto row = static_cast<std::int32_t>(out.rows_.size() - 1);
            out.measure(row);
            out.settle(row);
        }
        return out;
    }

    // For loading a saved model: the unit first, then the rows as they were, each finished by
    // settle() once theta is there.
    void restore_unit(double unit) { unit_ = unit; }
    T* restore_row(std::int32_t feature, double norm2) {
        const std::int32_t number = store_.insert(feature);
        rows_.push_back({norm2, 0});
        return store_.row(number);
    }
    void settle(std::int32_t number) {
        if (entries_)
            for (int label = 0; label < static_cast<int>(store_.labels()); ++label)
                raise(number, label);
        note(number);
    }

  private:
    double common_factor() const {
        const double total = tree_.total();
        if (!(total > 0)) return 0;
        return std::pow(total, (2 - s_) / s_) * (entries_ ? unit_ : 1.0);
    }
    void raise(std::int32_t number, int label) {
        const double u = static_cast<double>(store_.row(number)[label]) / unit_;
        store_.row(number, 1)[label] =
            static_cast<T>(std::copysign(std::pow(std::abs(u), s_ - 1), u));
    }
    void measure(std::int32_t number) {
        const T* theta = store_.row(number);
        double sum = 0;
        for (std::size_t k = 0; k < store_.labels(); ++k)
            sum += static_cast<double>(theta[k]) * static_cast<double>(theta[k]);
        rows_[number].norm2 = sum;
    }
    // What the row adds to the sum of powers.
    void note(std::int32_t number) {
        double sum = 0;
        if (entries_) {
            const T *theta = store_.row(number), *power = store_.row(number, 1);
            for (std::size_t k = 0; k < store_.labels(); ++k)
                sum += std::abs(static_cast<double>(power[k])) *
                       std::abs(static_cast<double>(theta[k]));
            sum /= unit_;
        } else {
            Row& row = rows_[number];
            const double u = std::sqrt(row.norm2) / unit_;
            row.factor = u > 0 ? std::pow(u, s_ - 2) : 0;
            sum = u * u * row.factor;
        }
        tree_.set(static_cast<std::size_t>(number), sum);
    }
    // One step must not leave the range of the unit by far.
    void make_room(const Example& x, const Step& step) {
        double most = 0, size = 0;
        for (const int label : step.touched) size += step.alpha[label] * step.alpha[label];
        for (const double value : x.value) most = std::max(most, std::abs(value));
        most *= std::sqrt(size);
        if (unit_ == 0 || most > 4 * unit_) set_unit(most);
    }
    void set_unit(double size) {
        if (!(size > 0)) return;
        int exponent = 0;
        std::frexp(size, &exponent);
        unit_ = std::ldexp(1.0, exponent);
        for (std::size_t row = 0; row < store_.rows(); ++row)
            settle(static_cast<std::int32_t>(row));
    }

    WeightStore<T> store_;
    bool entries_;
    double s_ = 2;
    double unit_ = 0;
    std::vector<Row> rows_;
    SumTree tree_;
};

}  // namespace tagalong
