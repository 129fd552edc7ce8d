// One label solved by itself, on dense rows. The label's weights are in the nearest cache, and the
// loops run over features: where few of sixteen labels have an active variable at a row, that is less
// work than to serve all sixteen. A variable drops out once its derivative points out of its limits,
// however little. With many more rows than features few are left: passes over those cost next to
// nothing, and all come back as often as the violation has halved.
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

// The sets of labels of rows, turned round: which rows have a label.
class RowsOfLabels {
  public:
    RowsOfLabels(const LabelSets& sets, std::size_t rows, std::size_t labels)
        : start_(labels + 1, 0) {
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
class Label {
  public:
    // The label is taken to be relevant and unknown for the rows given. The dual variables, `apart`
    // numbers from each other, are a start; put() writes them back.
    Label(const DenseRows<T>& rows, const RowNumbers<T>& numbers, const Problem& problem,
          std::size_t label, std::span<const std::uint32_t> relevant,
          std::span<const std::uint32_t> unknown, const T* dual, std::size_t apart)
        : rows_(rows),
          scale_(2 * problem.r(label, label)),
          variables_(problem.rows),
          order_(problem.rows),
          weights_(rows.stride, T{0}),
          sums_(rows.stride, 0.0) {
        const auto none = static_cast<T>(-problem.bound_no[label]);
        const auto bound = static_cast<T>(problem.bound_yes[label]);
        for (Variable<T>& each : variables_)
            each = {T{0}, none, T{0}, static_cast<T>(-problem.margin_no[label])};
        for (const std::uint32_t i : relevant)
            variables_[i] = {T{0}, T{0}, bound, static_cast<T>(problem.margin_yes[label])};
        for (const std::uint32_t i : unknown) variables_[i].low = variables_[i].high = 0;
        if (problem.tied) {
            const std::vector<double> targets = problem.tied_targets(label);
            for (std::size_t i = 0; i < targets.size(); ++i)
                variables_[i].target = static_cast<T>(targets[i]);
        }
        for (std::size_t i = 0; i < variables_.size(); ++i) {
            Variable<T>& each = variables_[i];
            if (!numbers.weight.empty()) {
                each.low *= numbers.weight[i];
                each.high *= numbers.weight[i];
            }
            each.dual = std::min(std::max(dual[i * apart], each.low), each.high);
        }
        std::iota(order_.begin(), order_.end(), 0u);
        view_.variables = variables_.data();
        view_.row_inverse = numbers.inverse.data();
        view_.weights = weights_.data();
        view_.scale = static_cast<T>(scale_);
        view_.inverse = static_cast<T>(inverse_of(4 * problem.r(label, label)));
        view_.order = order_.data();
        view_.count = view_.rows = variables_.size();
    }

    // Until no projected derivative, over all variables, reaches the tolerance; at most so many
    // passes: visits to rows, checks included, over the number of rows. Returns the passes made.
    int solve(double tolerance, int most, Shuffle& shuffle, SolverProgress& watch,
              Standing& standing) {
        const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(view_.rows));
        std::int64_t visits = 0;
        weigh();
        const auto ended = [&] {
            return visits >= most * rows || watch.stop.load(std::memory_order_relaxed);
        };
        // The last steps move what the ones before have measured: aim a little lower.
        const double aim = 0.8 * tolerance;
        double enough = std::numeric_limits<double>::infinity();  // a first pass, and a look
        for (;;) {
            while (view_.count > 0 && !ended()) {
                shuffle(view_.order, view_.count);
                visits += static_cast<std::int64_t>(view_.count);
                visit(rows_, view_);
                if (static_cast<double>(view_.violation) < enough) break;
            }
            const bool last = enough <= aim || ended();
            if (last) weigh();
            check(rows_, view_);
            visits += rows;
            watch.passes.fetch_add(1, std::memory_order_relaxed);
            standing = {view_.value, view_.gap, static_cast<double>(view_.violation)};
            if (last && (standing.violation < tolerance || ended()))
                return static_cast<int>(std::min<std::int64_t>(most, (visits + rows - 1) / rows));
            enough = std::max(aim, kShare * standing.violation);
        }
    }

    // The same in turns with labels that move this one. First z, from the v of all of them; then where
    // all variables stand, or steps on the active ones: passes over them until their violation is
    // below `enough`, at most so many. A turn returns the violation that its first pass has met.
    void weigh(std::span<const double> z) {
        for (std::size_t j = 0; j < z.size(); ++j) weights_[j] = static_cast<T>(z[j]);
    }
    Standing stand() {
        check(rows_, view_);
        return {view_.value, view_.gap, static_cast<double>(view_.violation)};
    }
    double take_turn(double enough, int most, Shuffle& shuffle, std::int64_t& visits) {
        if (view_.count == 0) return 0;
        before_.assign(weights_.begin(), weights_.end());
        double met = 0;
        for (int pass = 0; pass < most && view_.count > 0; ++pass) {
            shuffle(view_.order, view_.count);
            visits += static_cast<std::int64_t>(view_.count);
            visit(rows_, view_);
            if (pass == 0) met = static_cast<double>(view_.violation);
            if (static_cast<double>(view_.violation) < enough) break;
        }
        if (scale_ > 0)
            for (std::size_t j = 0; j < sums_.size(); ++j)
                sums_[j] += static_cast<double>(weights_[j] - before_[j]) / scale_;
        return met;
    }
    // v, from the dual variables; and as it is, with the changes of turns.
    void collect_sums() {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        collect(rows_, view_, sums_.data());
    }
    std::span<const double> sums() const { return sums_; }

    void put(T* dual, std::size_t apart) const {
        for (std::size_t i = 0; i < variables_.size(); ++i) dual[i * apart] = variables_[i].dual;
    }
    const T* weights() const { return weights_.data(); }

  private:
    // Of the violation that is left when the variables that have dropped out are looked at again.
    static constexpr double kShare = 0.5;

    // Weights from the dual variables, which forgets rounding errors.
    void weigh() {
        collect_sums();
        for (std::size_t j = 0; j < sums_.size(); ++j)
            weights_[j] = static_cast<T>(scale_ * sums_[j]);
    }

    const DenseRows<T>& rows_;
    double scale_;
    AlignedVector<Variable<T>> variables_;
    std::vector<std::uint32_t> order_;
    AlignedVector<T> weights_, before_;
    AlignedVector<double> sums_;
    LabelView<T> view_;
};

}  // namespace tagalong::m3l
