// Weights in the geometry of an r-norm (P5's link version), where r = s/(s - 1) is close to 1 if
// the dimension p is large:
//
//     F(w) = |w|_r^2 / 2,   G(theta) = |theta|_s^2 / 2,   s = log p (at least 2),
//     w_j = theta_j (|theta_j| / |theta|_s)^(s - 2).
//
// Either entrywise ("l1"), or per feature, where |theta_j| is the Euclidean norm of the feature's K
// numbers ("group").
//
// All powers are taken relative to a unit M, a power of two, so that they neither overflow nor
// underflow: |theta / M|_s stays between 1/4 and 4. A tree holds the sum of |theta_j / M|^s, so the
// cost of a round is proportional to the rows it touches. In the entrywise form a second plane
// holds (theta / M) |theta / M|^(s - 2): scores are sums of it, times one common factor.
//
// The weights are w = f v: v changes only in the rows of an update, f is the common factor, which
// changes with every update. With `averaged`, the last plane u gives the mean of w over the rounds
// without a loop over all rows. If F_t is the sum of f over the first t rounds, the weights of
// these rounds sum to F_t v - u, where u is the sum of F_t (change of v) over the updates, each
// after t rounds. Scores subtract u_T / T from w as LinearGeometry does, for the vector
// u_T = u + v (T f - F_T), whose second factor is the same until the next update. A new unit
// changes all v, so it starts anew with F = 0 and moves the sum so far into u.
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
    explicit LinkGeometry(bool entrywise, bool averaged = false)
        : store_((entrywise ? 2 : 1) + (averaged ? 1 : 0)),
          entrywise_(entrywise),
          averaged_(averaged) {}

    struct Row {
        double norm2 = 0;   // |theta_j|^2; group form only
        double factor = 0;  // |theta_j / M|^(s - 2); group form only
    };

    const WeightStore<T>& store() const { return store_; }
    const std::vector<Row>& row_state() const { return rows_; }
    void add_labels(std::size_t count) { store_.add_labels(count); }
    // Sets the dimension p, before the first update.
    void set_dimension(double p) { s_ = std::max(2.0, std::log(p)); }
    double exponent() const { return s_; }
    double unit() const { return unit_; }
    bool averaged() const { return averaged_; }
    const T* means(std::int32_t row) const { return store_.row(row, mean_plane()); }
    double factor_sum() const { return factor_sum_; }
    double summed_rounds() const { return summed_rounds_; }

    // Looks up the rows and scores the example with w, and with u_T if `means`.
    void score(const Example& x, bool means, RowLookup<T>& at) const {
        at.find(store_, x);
        at.multiplier.clear();
        at.rows.clear();
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (at.row[i] == FeatureIndex::kAbsent) continue;
            const double factor = entrywise_ ? 1.0 : rows_[at.row[i]].factor;
            at.multiplier.push_back(static_cast<T>(x.value[i] * factor));
            at.rows.push_back(store_.row(at.row[i], entrywise_ ? 1 : 0));
        }
        const std::size_t n = store_.stride();
        at.sums.resize(n);
        kernels::score_rows(at.sums.data(), at.rows.data(), at.multiplier.data(), at.rows.size(),
                            n);
        if (means) score_means(x, at);
        const auto factor = static_cast<T>(common_factor());
        for (T& sum : at.sums) sum *= factor;
    }

    void apply(const Example& x, const Step& step, double rounds_before, RowLookup<T>& at) {
        if (averaged_) sum_factors(rounds_before);
        enlarge_unit(x, step);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (at.row[i] == FeatureIndex::kAbsent) {
                at.row[i] = store_.insert(x.feature[i]);
                rows_.emplace_back();
            }
            if (averaged_) subtract_from_means(at.row[i], factor_sum_, before_);
            T* theta = store_.row(at.row[i]);
            const T value = static_cast<T>(x.value[i]);
            for (const int label : step.touched)
                theta[label] += static_cast<T>(step.alpha[label]) * value;
            if (entrywise_)
                for (const int label : step.touched) update_power(at.row[i], label);
            else update_norm(at.row[i]);
            update_sum(at.row[i]);
            if (averaged_)
                for (std::size_t k = 0; k < before_.size(); ++k)
                    store_.row(at.row[i], mean_plane())[k] =
                        static_cast<T>(before_[k] + factor_sum_ * part(at.row[i], k));
        }
        fit_unit();
    }

    // The weight, w - mean_factor u_T; zero for a feature without a row.
    double weight(std::int32_t row, int label, double mean_factor) const {
        if (row == FeatureIndex::kAbsent) return 0;
        const auto k = static_cast<std::size_t>(label);
        double found = part(row, k) * common_factor();
        if (mean_factor != 0)
            found -= mean_factor * (static_cast<double>(means(row)[k]) + part(row, k) * lag());
        return found;
    }

    // A copy with the labels merged and the features selected, after so many rounds. The mean
    // weights of a merged label are the sum of the mean weights of its parts.
    LinkGeometry rebuilt(const Selection& selection, double rounds) const {
        LinkGeometry out(entrywise_, averaged_);
        out.s_ = s_;
        out.unit_ = unit_;
        out.summed_rounds_ = averaged_ ? rounds : 0;
        out.add_labels(selection.labels());
        std::vector<double> sums;
        std::vector<double> merged(selection.labels());
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            if (!selection.keeps(r)) continue;
            selection.sum(store_.row(static_cast<std::int32_t>(r)),
                          out.restore_row(store_.features()[r], 0));
            const auto row = static_cast<std::int32_t>(out.rows_.size() - 1);
            out.update_norm(row);
            out.finish_row(row);
            if (!averaged_) continue;
            subtract_from_means(static_cast<std::int32_t>(r), factor_sum_after(rounds), sums);
            selection.sum(sums.data(), merged.data());
            std::transform(merged.begin(), merged.end(), out.store_.row(row, mean_plane()),
                           [](double sum) { return static_cast<T>(sum); });
        }
        if (!out.unit_fits()) {
            out.set_unit(out.largest_entry());
            out.fit_unit();
        }
        return out;
    }

    // Restore a saved model: first the unit, then each row, completed by finish_row() once its
    // theta is set.
    void restore_unit(double unit) { unit_ = unit; }
    void restore_means(double factor_sum, double summed_rounds) {
        factor_sum_ = factor_sum;
        summed_rounds_ = summed_rounds;
    }
    T* restore_means(std::int32_t row) { return store_.row(row, mean_plane()); }
    T* restore_row(std::int32_t feature, double norm2) {
        const std::int32_t row_number = store_.insert(feature);
        rows_.push_back({norm2, 0});
        return store_.row(row_number);
    }
    void finish_row(std::int32_t row_number) {
        if (entrywise_)
            for (int label = 0; label < static_cast<int>(store_.labels()); ++label)
                update_power(row_number, label);
        update_sum(row_number);
    }
    // Whether the restored unit is of the size of the restored rows, as every update leaves it.
    bool unit_fits() const {
        const double total = tree_.total();
        if (total == 0) return largest_entry() == 0;
        if (unit_ == 0) return false;
        const double size = std::pow(total, 1 / s_);
        return size >= 0.1 && size <= 10;
    }

  private:
    std::size_t mean_plane() const { return entrywise_ ? 2 : 1; }
    // An entry of v.
    double part(std::int32_t row, std::size_t label) const {
        if (entrywise_) return static_cast<double>(store_.row(row, 1)[label]);
        return static_cast<double>(store_.row(row)[label]) * rows_[row].factor;
    }
    // T f - F_T.
    double lag() const { return summed_rounds_ * common_factor() - factor_sum_; }
    double factor_sum_after(double rounds) const {
        return factor_sum_ + (rounds - summed_rounds_) * common_factor();
    }
    void sum_factors(double rounds) {
        factor_sum_ = factor_sum_after(rounds);
        summed_rounds_ = rounds;
    }
    // out = u - factor_sum v in a row.
    void subtract_from_means(std::int32_t row, double factor_sum, std::vector<double>& out) const {
        out.resize(store_.labels());
        for (std::size_t k = 0; k < out.size(); ++k)
            out[k] = static_cast<double>(means(row)[k]) - factor_sum * part(row, k);
    }
    // The scores of u_T, from those of v in at.sums.
    void score_means(const Example& x, RowLookup<T>& at) const {
        const std::size_t n = store_.stride();
        at.multiplier.clear();
        at.rows.clear();
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (at.row[i] == FeatureIndex::kAbsent) continue;
            at.multiplier.push_back(static_cast<T>(x.value[i]));
            at.rows.push_back(means(at.row[i]));
        }
        at.mean_sums.resize(n);
        kernels::score_rows(at.mean_sums.data(), at.rows.data(), at.multiplier.data(),
                            at.rows.size(), n);
        const auto factor = static_cast<T>(lag());
        for (std::size_t k = 0; k < n; ++k) at.mean_sums[k] += factor * at.sums[k];
    }
    double common_factor() const {
        const double total = tree_.total();
        if (!(total > 0)) return 0;
        return std::pow(total, (2 - s_) / s_) * (entrywise_ ? unit_ : 1.0);
    }
    void update_power(std::int32_t row_number, int label) {
        const double u = static_cast<double>(store_.row(row_number)[label]) / unit_;
        store_.row(row_number, 1)[label] =
            static_cast<T>(std::copysign(std::pow(std::abs(u), s_ - 1), u));
    }
    void update_norm(std::int32_t row_number) {
        const T* theta = store_.row(row_number);
        double sum = 0;
        for (std::size_t k = 0; k < store_.labels(); ++k)
            sum += static_cast<double>(theta[k]) * static_cast<double>(theta[k]);
        rows_[row_number].norm2 = sum;
    }
    // Updates the row's term in the sum of powers.
    void update_sum(std::int32_t row_number) {
        double sum = 0;
        if (entrywise_) {
            const T *theta = store_.row(row_number), *power = store_.row(row_number, 1);
            for (std::size_t k = 0; k < store_.labels(); ++k)
                sum += std::abs(static_cast<double>(power[k])) *
                       std::abs(static_cast<double>(theta[k]));
            sum /= unit_;
        } else {
            Row& row = rows_[row_number];
            const double u = std::sqrt(row.norm2) / unit_;
            row.factor = u > 0 ? std::pow(u, s_ - 2) : 0;
            sum = u * u * row.factor;
        }
        tree_.set(static_cast<std::size_t>(row_number), sum);
    }
    // Raises the unit if the step is large compared with it.
    void enlarge_unit(const Example& x, const Step& step) {
        double largest = 0, size = 0;
        for (const int label : step.touched) size += step.alpha[label] * step.alpha[label];
        for (const double value : x.value) largest = std::max(largest, std::abs(value));
        if (size == 0)  // the squares underflow
            for (const int label : step.touched) size = std::max(size, std::abs(step.alpha[label]));
        else size = std::sqrt(size);
        largest *= size;
        if (unit_ == 0 || largest > 4 * unit_) set_unit(largest);
    }
    // Keeps |theta / M|_s near 1.
    void fit_unit() {
        const double size = std::pow(tree_.total(), 1 / s_);
        if (size > 4 || (size > 0 && size < 0.25)) set_unit(unit_ * size);
    }
    double largest_entry() const {
        double largest = 0;
        for (std::size_t row = 0; row < store_.rows(); ++row)
            for (std::size_t k = 0; k < store_.labels(); ++k)
                largest = std::max(
                    largest,
                    std::abs(static_cast<double>(store_.row(static_cast<std::int32_t>(row))[k])));
        return largest;
    }
    void set_unit(double size) {
        if (!(size > 0)) return;
        int exponent = 0;
        std::frexp(size, &exponent);
        const double unit = std::ldexp(1.0, exponent);
        if (averaged_) {
            for (std::size_t r = 0; r < store_.rows(); ++r) {
                const auto row = static_cast<std::int32_t>(r);
                subtract_from_means(row, factor_sum_, before_);
                std::transform(before_.begin(), before_.end(), store_.row(row, mean_plane()),
                               [](double sum) { return static_cast<T>(sum); });
            }
            factor_sum_ = 0;
        }
        unit_ = unit;
        for (std::size_t row = 0; row < store_.rows(); ++row)
            finish_row(static_cast<std::int32_t>(row));
    }

    WeightStore<T> store_;
    bool entrywise_;
    bool averaged_;
    double s_ = 2;
    double unit_ = 0;
    double factor_sum_ = 0;       // F_t for t = summed_rounds_, since the unit was set
    double summed_rounds_ = 0;    // the rounds before the last update
    std::vector<double> before_;  // working memory of the writer
    std::vector<Row> rows_;
    SumTree tree_;
};

}  // namespace tagalong
