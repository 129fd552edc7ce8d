// The linear geometries, whose weights are rescaled dual vectors: Euclidean (P1) and adaptive.
//
//     F(w) = 1/2 sum_j sqrt(S_j) |w_j|^2,   G(theta) = 1/2 sum_j |theta_j|^2 / sqrt(S_j),
//     w_j = theta_j / sqrt(S_j),            S_j = 1 + rate * (sum of x_j^2 over the updates of j),
// where j is a feature and w_j, theta_j are its vectors over the labels. Rate 0 gives the Euclidean
// geometry. The scores and |x|^2 of a round use S before the round; S grows after the step. If
// relevances are learnt, exp(2 beta_j) / sqrt(S_j) takes the place of 1 / sqrt(S_j) everywhere.
//
// Weak duality holds for any positive scales: the dual value with the current scales is a lower
// bound of the problem with the current scales. Growth of S decreases G and so increases the dual
// value. But an increase of beta_j increases G, and so does growth of S_j after a restart if theta_j
// has become shorter than it was then. penalty() is the sum of all increases of G by changes of the
// scales, each with theta as it is after the step. The increases of the dual value by the steps sum
// to at most the dual value plus the penalty.
//
// With `averaged`, a second plane u gives the mean of theta over the rounds: after T rounds the
// mean is theta - u/T, where u is the sum of (rounds before the update) * alpha x.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/entries.hpp"
#include "core/score_kernels.hpp"
#include "core/selection.hpp"
#include "geometry/column_step.hpp"
#include "geometry/relevances.hpp"
#include "geometry/row_lookup.hpp"
#include "geometry/row_scales.hpp"
#include "geometry/row_scorer.hpp"
#include "geometry/row_update.hpp"
#include "rules/step.hpp"

namespace tagalong {

template <class T>
class LinearGeometry {
  public:
    // Relevances are learnt only if the rate is positive.
    LinearGeometry(double rate, bool averaged, StepPattern steps = StepPattern::any,
                   RelevanceOf relevance = RelevanceOf::none)
        : store_(averaged ? 2 : 1, steps),
          scales_(rate > 0),
          relevances_(rate > 0 ? relevance : RelevanceOf::none),
          rate_(rate) {}

    // The state of a feature row, apart from its weights.
    struct Row {
        double S = 1;
        double norm2 = 0;  // |theta_j|^2, maintained only in the adaptive geometry
        double base2 = 0;  // |theta_j|^2 when the certificate was last restarted
    };

    const WeightStore<T>& store() const { return store_; }
    Row row_state(std::size_t row) const {
        Row found = rows_[row];
        if (rate_ == 0) found.norm2 = sum_of_squares(row);
        return found;
    }
    double scale(std::int32_t row) const { return scales_.of(row); }
    double complexity() const { return complexity_; }  // G(theta) - G(theta at the restart)
    double largest_complexity() const { return largest_complexity_; }
    double penalty() const { return penalty_; }  // since the restart
    const Relevances& relevances() const { return relevances_; }
    void add_labels(std::size_t count) { store_.add_labels(count); }

    // Adds missing columns to the rows of x, because rows without them are slower to score. Only
    // the writer may call it.
    void add_missing_columns(const RowView& x) {
        if (!store_.sharing()) return;
        for (const std::int32_t feature : x.feature)
            if (const std::int32_t row = store_.find(feature); row != FeatureIndex::kAbsent)
                store_.add_missing_columns(row);
    }

    // Looks up the rows and scores the example with theta, and with u if `means`.
    void score(const RowView& x, bool means, RowLookup<T>& lookup) const {
        RowScorer<T>(store_, scales_).score(x, means, lookup);
    }

    double squared_norm(const RowView& x, const RowLookup<T>& lookup) const {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double factor =
                lookup.row[i] == FeatureIndex::kAbsent ? 1.0 : scale(lookup.row[i]);
            sum += x.value[i] * x.value[i] * factor;
        }
        return sum;
    }

    // Adds the change of G that the step will cause, computed from the scores in `lookup` without
    // reading the rows. Valid only in the Euclidean geometry; in the adaptive one apply() does it.
    void add_step_complexity(const Step& step, double q, const RowLookup<T>& lookup) {
        if (rate_ > 0) return;
        double along = 0, squares = 0;
        for (const int label : step.touched) {
            const double alpha = step.alpha[label];
            along +=
                alpha * kernels::to_finite_double(lookup.sums[static_cast<std::size_t>(label)]);
            squares += alpha * alpha;
        }
        complexity_ += along + 0.5 * q * squares;
    }

    // theta += alpha (x) x; then updates the plane of means, the relevances and S.
    void apply(const RowView& x, const Step& label_step, double rounds_before,
               RowLookup<T>& lookup) {
        const Step& step = store_.sharing() ? column_step_.of(label_step, store_) : label_step;
        update_.load(store_, step, rounds_before);
        make_rows(x, lookup);
        const bool whole_rows = update_.whole_rows();
        const auto move = [&](auto&& one) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (whole_rows && i + 1 < x.size())
                    RowUpdate<T>::prefetch(store_, lookup.row[i + 1]);
                one(lookup.row[i], x.value[i]);
            }
        };
        if (relevances_.learnt()) {
            const double length = step_length(label_step);
            relevances_.begin();
            move([&](std::int32_t row, double value) { move_and_share(row, value, length); });
            change_scales(x, lookup);
        } else if (rate_ > 0)
            move([&](std::int32_t row, double value) { move_and_grow(row, value); });
        else if (whole_rows)
            move([&](std::int32_t row, double value) {
                update_.template add_to_row<false>(store_, row, static_cast<T>(value));
            });
        else if (update_.in_parts()) {
            double along = 0;
            move([&](std::int32_t row, double value) {
                update_.add_to_parts(store_, row, static_cast<T>(value), &along);
            });
        } else
            move([&](std::int32_t row, double value) {
                update_.template add_to_numbers<false>(store_, row, static_cast<T>(value));
            });
        keep_precision();
    }

    // The weight, (theta - mean_factor u) times the factor of the row; zero for a feature without a row.
    double weight(std::int32_t row, int label, double mean_factor) const {
        if (row == FeatureIndex::kAbsent) return 0;
        const double means =
            mean_factor != 0 ? mean_factor * static_cast<double>(store_.value(row, 1, label)) : 0;
        return (static_cast<double>(store_.value(row, 0, label)) - means) * scale(row);
    }

    // complexity() computed from the stored theta, to check the running value.
    double recompute_complexity() const {
        double sum = 0;
        for (std::size_t r = 0; r < rows_.size(); ++r)
            sum += 0.5 * (sum_of_squares(r) - rows_[r].base2) /
                   (std::sqrt(rows_[r].S) / relevances_.factor(r));
        return sum;
    }

    // Centres the dual problem on the present weights: from now on its F is
    // 1/2 sum_j sqrt(S_j) |w_j - theta0_j / sqrt(S_j)|^2, where theta0 is the present theta.
    // Relevances divide sqrt(S_j).
    void restart() {
        for (std::size_t r = 0; r < rows_.size(); ++r) rows_[r].base2 = row_state(r).norm2;
        complexity_ = largest_complexity_ = penalty_ = 0;
    }

    // A copy with merged or fewer labels, or with fewer features.
    LinearGeometry rebuilt(const Selection& selection) const {
        LinearGeometry out(rate_, store_.planes() > 1, store_.steps(), relevances_.of());
        out.add_labels(selection.labels());
        out.restore_columns({});  // the weights of the labels differ
        std::vector<T> before(store_.labels()), theta(selection.labels()),
            means(selection.labels());
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            if (!selection.keeps(r)) continue;
            const auto row = static_cast<std::int32_t>(r);
            store_.read(row, 0, before.data());
            selection.sum(before.data(), theta.data());
            const bool averaged = store_.planes() > 1;
            if (averaged) {
                store_.read(row, 1, before.data());
                selection.sum(before.data(), means.data());
            }
            out.restore_row(store_.features()[r], {rows_[r].S, squares(theta), 0}, theta.data(),
                            averaged ? means.data() : nullptr, relevance_row(r));
        }
        out.restore_relevances(relevances_.updates(), relevances_.mean());
        return out;
    }

    // For loading a saved model: restore the columns first, then the rows. The second form of
    // restore_row returns the array that the caller fills with theta.
    bool restore_columns(std::span<const std::int32_t> columns) {
        return store_.restore_columns(columns);
    }
    void restore_row(std::int32_t feature, const Row& row, const T* theta, const T* means,
                     const Relevances::Row& relevance = {}) {
        const std::int32_t number = store_.insert(feature);
        keep_row(row, relevance);
        store_.write_columns(number, 0, theta);
        if (means) store_.write_columns(number, 1, means);
    }
    T* restore_row(std::int32_t feature, const Row& row) {
        const std::int32_t number = store_.insert(feature);
        keep_row(row);
        return store_.row(number);
    }
    void restore_complexity(double value, double largest) {
        complexity_ = value;
        largest_complexity_ = largest;
    }
    void restore_relevances(std::int64_t updates, const Relevances::Mean& mean) {
        relevances_.restore(updates, mean);
    }
    void restore_penalty(double penalty) { penalty_ = penalty; }

  private:
    // The share of its largest value at which complexity() is computed anew.
    static constexpr double kLeastShare = 1e-3;

    // The rounding errors of complexity() are relative to the largest value that it has had since
    // it was computed from theta. Computes it again when it has become much smaller, as it does
    // after rows of very different lengths.
    void keep_precision() {
        const double size = std::abs(complexity_);
        largest_complexity_ = std::max(largest_complexity_, size);
        if (size >= kLeastShare * largest_complexity_) return;
        for (std::size_t r = 0; r < rows_.size(); ++r) rows_[r].norm2 = sum_of_squares(r);
        complexity_ = recompute_complexity();
        largest_complexity_ = std::abs(complexity_);
    }

    void keep_row(const Row& row, const Relevances::Row& relevance = {}) {
        rows_.push_back(row);
        relevances_.add(relevance);
        scales_.add(row.S, relevances_.factor(rows_.size() - 1));
    }
    Relevances::Row relevance_row(std::size_t row) const {
        return relevances_.learnt() ? relevances_.row(row) : Relevances::Row{};
    }

    // Creates missing rows, and missing columns of existing rows, for the features of x.
    void make_rows(const RowView& x, RowLookup<T>& lookup) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (lookup.row[i] == FeatureIndex::kAbsent) {
                lookup.row[i] = store_.insert(x.feature[i]);
                keep_row({});
            }
            if (store_.sharing()) store_.add_missing_columns(lookup.row[i]);
        }
    }

    double sum_of_squares(std::size_t row) const {
        std::vector<T> theta(store_.labels());
        store_.read(static_cast<std::int32_t>(row), 0, theta.data());
        return squares(theta);
    }
    static double squares(const std::vector<T>& theta) {
        double sum = 0;
        for (const T number : theta)
            sum += static_cast<double>(number) * static_cast<double>(number);
        return sum;
    }

    // Updates a row, then its S, and adds the resulting change of G.
    void move_and_grow(std::int32_t number, double value) {
        Row& row = rows_[static_cast<std::size_t>(number)];
        const double before = (row.norm2 - row.base2) * scales_.of(number);
        if (update_.whole_rows())
            row.norm2 = update_.template add_to_row<true>(store_, number, static_cast<T>(value));
        else if (update_.in_parts()) {
            double along = 0;
            row.norm2 += update_.add_to_parts(store_, number, static_cast<T>(value), &along);
        } else
            row.norm2 +=
                update_.template add_to_numbers<true>(store_, number, static_cast<T>(value));
        row.norm2 = std::max(0.0, row.norm2);
        row.S += rate_ * value * value;
        const double old_scale = scales_.of(number), scale = scales_.update(number, row.S);
        const double growth = row.norm2 - row.base2;
        complexity_ += 0.5 * (growth * scale - before);
        if (growth < 0) penalty_ += 0.5 * growth * (scale - old_scale);
    }

    // The sum of |alpha_y| over the labels.
    static double step_length(const Step& step) {
        double sum = 0;
        for (const int label : step.touched) sum += std::abs(step.alpha[label]);
        return sum;
    }

    // With relevances: updates a row, adds the resulting change of G, and computes the share of the
    // feature in the correction.
    void move_and_share(std::int32_t number, double value, double length) {
        const auto r = static_cast<std::size_t>(number);
        Row& row = rows_[r];
        const double before = row.norm2, scale = scales_.of(number);
        double along = 0;
        const auto by = static_cast<T>(value);
        if (update_.whole_rows())
            row.norm2 = update_.template add_to_row<true, true>(store_, number, by, &along);
        else if (update_.in_parts()) row.norm2 += update_.add_to_parts(store_, number, by, &along);
        else row.norm2 += update_.template add_to_numbers<true, true>(store_, number, by, &along);
        row.norm2 = std::max(0.0, row.norm2);
        complexity_ += 0.5 * (row.norm2 - before) * scale;
        relevances_.add_share(number, store_.features()[r] < 0, value * scale * along / length);
    }

    // Updates the relevances of the features of x, then their S. Adds the changes of G, and its
    // increases to the penalty.
    void change_scales(const RowView& x, const RowLookup<T>& lookup) {
        relevances_.finish();
        const std::size_t n = x.size();
        changes_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t number = lookup.row[i];
            const Row& row = rows_[static_cast<std::size_t>(number)];
            changes_.S[i] = row.S;
            changes_.length[i] = row.norm2 - row.base2;
            changes_.scale[i] = scales_.of(number);
            changes_.relevance[i] = relevances_.update(number, i);
        }
        kernels::change_scales(changes_.relevance.data(), changes_.length.data(), x.value.data(),
                               rate_, changes_.S.data(), changes_.scale.data(),
                               changes_.by_relevance.data(), changes_.by_growth.data(), n);
        double complexity = complexity_, penalty = penalty_;
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t number = lookup.row[i];
            rows_[static_cast<std::size_t>(number)].S = changes_.S[i];
            scales_.set(number, changes_.scale[i]);
            for (const double change : {changes_.by_relevance[i], changes_.by_growth[i]}) {
                complexity += change;
                penalty += std::max(0.0, change);
            }
        }
        complexity_ = complexity;
        penalty_ = penalty;
    }

    WeightStore<T> store_;
    std::vector<Row> rows_;
    RowScales scales_;
    Relevances relevances_;
    double rate_;
    double complexity_ = 0;
    double penalty_ = 0;
    double largest_complexity_ = 0;  // since complexity_ was last computed from theta
    // Scratch of apply().
    ColumnStep column_step_;
    RowUpdate<T> update_;
    struct ScaleChanges {
        std::vector<double> S, length, scale, relevance, by_relevance, by_growth;
        void resize(std::size_t n) {
            for (auto* numbers : {&S, &length, &scale, &relevance, &by_relevance, &by_growth})
                numbers->resize(n);
        }
    } changes_;
};

}  // namespace tagalong
