// Dual coordinate ascent for one label on dense rows: maximises the objective of m3l/problem.hpp
// over the variables b_il of label l. The steps are those of P4's linear solver (Eqs. 37 to 40),
//
//     b_il <- clip(b_il + h_il / (4 R_ll |x_i|^2)),  z_l += 2 R_ll (change of b_il) x_i.
//
// The weights of one label fit in the first-level cache, and the loops run over features. If few of
// sixteen labels have an active variable at a row, this is less work than a step on all sixteen. A
// variable is shrunk as soon as its derivative points out of its bounds, by any amount. With many
// more rows than features few variables stay active, and passes over those are cheap. All variables
// are checked again each time the violation has halved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block.hpp"
#include "m3l/problem.hpp"
#include "m3l/shuffle.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

// The transpose of LabelSets: the rows that have each label.
class LabelRows {
  public:
    LabelRows(const LabelSets& sets, std::size_t rows, std::size_t labels) : start_(labels + 1, 0) {
        for (const std::int32_t label : sets.label) ++start_[static_cast<std::size_t>(label) + 1];
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        row_.resize(sets.label.size());
        std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
        for (std::size_t i = 0; i < rows; ++i)
            for (const std::int32_t label : sets.row(i))
                row_[next[label]++] = static_cast<std::uint32_t>(i);
    }
    std::span<const std::uint32_t> of(std::size_t label) const {
        return std::span(row_).subspan(start_[label], start_[label + 1] - start_[label]);
    }

  private:
    std::vector<std::size_t> start_;
    std::vector<std::uint32_t> row_;
};

template <class T>
class DenseLabel {
  public:
    // The label is relevant and unknown for the rows given, and irrelevant for all others. The dual
    // variables, `stride` numbers apart, are the starting point; write_dual() writes them back.
    // `anchor` holds weights z0 that stay fixed, one number per label for each column; empty for
    // zeros. Then t - 2 z0.x replaces t, and the derivative h is that of the weights z0 + z.
    DenseLabel(const DenseRows<T>& rows, const RowConstants<T>& row_constants,
               const Problem& problem, std::size_t label, std::span<const std::uint32_t> relevant,
               std::span<const std::uint32_t> unknown, const T* dual, std::size_t stride,
               std::span<const T> anchor)
        : rows_(rows),
          label_(label),
          scale_(2 * problem.r(label, label)),
          variables_(problem.rows),
          order_(problem.rows),
          weights_(rows.stride, T{0}),
          sums_(rows.stride, 0.0) {
        const auto lower = static_cast<T>(-problem.bound_irrelevant[label]);
        const auto upper = static_cast<T>(problem.bound_relevant[label]);
        for (Variable<T>& each : variables_)
            each = {T{0}, lower, T{0}, static_cast<T>(-problem.margin_irrelevant[label])};
        for (const std::uint32_t i : relevant)
            variables_[i] = {T{0}, T{0}, upper, static_cast<T>(problem.margin_relevant[label])};
        for (const std::uint32_t i : unknown) variables_[i].low = variables_[i].high = 0;
        if (problem.margins_vary_by_row()) {
            const std::vector<double> targets = problem.targets(label);
            for (std::size_t i = 0; i < targets.size(); ++i)
                variables_[i].target = static_cast<T>(targets[i]);
        }
        for (std::size_t i = 0; i < variables_.size(); ++i) {
            Variable<T>& each = variables_[i];
            if (!row_constants.weight.empty()) {
                each.low *= row_constants.weight[i];
                each.high *= row_constants.weight[i];
            }
            each.dual = std::min(std::max(dual[i * stride], each.low), each.high);
        }
        std::iota(order_.begin(), order_.end(), 0u);
        view_.variables = variables_.data();
        view_.inverse_squared_norm = row_constants.inverse_squared_norm.data();
        view_.weights = weights_.data();
        view_.scale = static_cast<T>(scale_);
        view_.inverse_curvature = static_cast<T>(bounded_inverse(4 * problem.r(label, label)));
        view_.order = order_.data();
        view_.count = view_.rows = variables_.size();
        if (!anchor.empty()) set_anchor(anchor, problem.labels);
    }

    // Runs until every projected derivative is below the tolerance or `max_passes` is reached.
    // Returns the number of passes: the number of rows visited, checks included, divided by the
    // number of rows.
    int solve(double tolerance, int max_passes, Shuffle& shuffle, SolverProgress& progress,
              SolutionStatus& status) {
        const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(view_.rows));
        std::int64_t visits = 0;
        recompute_weights();
        const auto must_stop = [&] {
            return visits >= max_passes * rows || progress.stop.load(std::memory_order_relaxed);
        };
        // The violation is measured during a pass, and later steps of the pass can increase it: aim
        // below the tolerance.
        const double aim = 0.8 * tolerance;
        // The first round makes one pass, then a check.
        double target_violation = std::numeric_limits<double>::infinity();
        for (;;) {
            while (view_.count > 0 && !must_stop()) {
                shuffle(view_.order, view_.count);
                visits += static_cast<std::int64_t>(view_.count);
                visit(rows_, view_);
                if (static_cast<double>(view_.violation) < target_violation) break;
            }
            const bool final_check = target_violation <= aim || must_stop();
            if (final_check) recompute_weights();
            check(rows_, view_);
            visits += rows;
            progress.passes.fetch_add(1, std::memory_order_relaxed);
            status = {view_.value, view_.gap, static_cast<double>(view_.violation)};
            if (final_check && (status.violation < tolerance || must_stop()))
                return static_cast<int>(
                    std::min<std::int64_t>(max_passes, (visits + rows - 1) / rows));
            target_violation = std::max(aim, kRecheckShare * status.violation);
        }
    }

    // The functions below serve a solver that alternates between coupled labels. It sets z,
    // computed from the v of all labels, and then evaluates all variables or improves the active
    // ones. improve_coupled() runs until the violation of the active variables drops below
    // `target_violation` or `max_passes` is reached. It returns the violation that its first pass
    // found.
    void set_weights(std::span<const double> z) {
        for (std::size_t j = 0; j < z.size(); ++j) weights_[j] = static_cast<T>(z[j]);
    }
    // Sets z to the weights of the label among given ones: one number per label for each column.
    void set_weights(std::span<const T> by_column, std::size_t labels) {
        for (std::size_t j = 0; j < rows_.columns; ++j)
            weights_[j] = by_column[j * labels + label_];
    }
    SolutionStatus evaluate() {
        check(rows_, view_);
        return {view_.value, view_.gap, static_cast<double>(view_.violation)};
    }
    double improve_coupled(double target_violation, int max_passes, Shuffle& shuffle,
                           std::int64_t& visits) {
        if (view_.count == 0) return 0;
        weights_before_.assign(weights_.begin(), weights_.end());
        double first_violation = 0;
        for (int pass = 0; pass < max_passes && view_.count > 0; ++pass) {
            shuffle(view_.order, view_.count);
            visits += static_cast<std::int64_t>(view_.count);
            visit(rows_, view_);
            if (pass == 0) first_violation = static_cast<double>(view_.violation);
            if (static_cast<double>(view_.violation) < target_violation) break;
        }
        if (scale_ > 0)
            for (std::size_t j = 0; j < sums_.size(); ++j)
                sums_[j] += static_cast<double>(weights_[j] - weights_before_[j]) / scale_;
        return first_violation;
    }
    // Recomputes v from the dual variables; sums() returns v including the changes of
    // improve_coupled().
    void collect_sums() {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        collect(rows_, view_, sums_.data());
    }
    std::span<const double> sums() const { return sums_; }

    void write_dual(T* dual, std::size_t stride) const {
        for (std::size_t i = 0; i < variables_.size(); ++i) dual[i * stride] = variables_[i].dual;
    }
    const T* weights() const { return weights_.data(); }

  private:
    // Shrunk variables are checked again when the violation has dropped to this share.
    static constexpr double kRecheckShare = 0.5;

    void set_anchor(std::span<const T> anchor, std::size_t labels) {
        set_weights(anchor, labels);
        for (std::size_t i = 0; i < variables_.size(); ++i)
            variables_[i].target -=
                2 * dense_label_loops::product(rows_.row(i), weights_.data(), rows_.stride);
        std::fill(weights_.begin(), weights_.end(), T{0});
    }
    // Recomputes the weights from the dual variables, which removes accumulated rounding errors.
    void recompute_weights() {
        collect_sums();
        for (std::size_t j = 0; j < sums_.size(); ++j)
            weights_[j] = static_cast<T>(scale_ * sums_[j]);
    }

    const DenseRows<T>& rows_;
    std::size_t label_;
    double scale_;
    AlignedVector<Variable<T>> variables_;
    std::vector<std::uint32_t> order_;
    AlignedVector<T> weights_, weights_before_;
    AlignedVector<double> sums_;
    DenseLabelView<T> view_;
};

}  // namespace tagalong::m3l
