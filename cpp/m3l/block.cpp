#include "m3l/block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tagalong::m3l {
namespace {

constexpr int kPassesAfterCg = 2;  // passes of coordinate steps after conjugate gradients
// Conjugate gradients aim at this share of the tolerance, because the coordinate passes after them
// increase the violation again.
constexpr double kCgAimShare = 0.5;

}  // namespace

template <class T>
RowConstants<T>::RowConstants(const Rows<T>& rows, const Problem& problem) {
    squared_norm.reserve(rows.size());
    inverse_squared_norm.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double square = rows.squared_norm(i);
        squared_norm.push_back(static_cast<T>(square));
        inverse_squared_norm.push_back(static_cast<T>(bounded_inverse(square)));
    }
    for (const double each : problem.row_weight) weight.push_back(static_cast<T>(each));
}

template <class T>
Block<T>::Block(const Rows<T>& rows, const RowConstants<T>& row_constants, const Problem& problem,
                std::span<const std::int32_t> labels, T* dual, BlockWorkspace<T>& workspace,
                std::span<const T> anchor, const CgSchedule& schedule)
    : schedule_(schedule),
      rows_(rows),
      labels_(labels.begin(), labels.end()),
      view_{},
      workspace_(workspace),
      passes_per_round_(schedule.coordinate_passes) {
    view_.rows = rows.size();
    for (std::size_t k = 0; k < labels_.size(); ++k) {
        const auto l = static_cast<std::size_t>(labels_[k]);
        view_.target_relevant[k] = static_cast<T>(problem.margin_relevant[l]);
        view_.target_irrelevant[k] = static_cast<T>(-problem.margin_irrelevant[l]);
        view_.bound_relevant[k] = static_cast<T>(problem.bound_relevant[l]);
        view_.bound_irrelevant[k] = static_cast<T>(problem.bound_irrelevant[l]);
        const double r = problem.r(l, l);
        view_.scale[k] = static_cast<T>(2 * r);
        view_.inverse_curvature[k] = static_cast<T>(bounded_inverse(4 * r));
        for (std::size_t j = 0; j < labels_.size(); ++j) {
            const double other = problem.r(static_cast<std::size_t>(labels_[j]), l);
            view_.prior_in_block[k][j] = static_cast<T>(2 * other);
            view_.coupled |= j != k && other != 0;
        }
    }
    view_.row_weight = row_constants.weight.empty() ? nullptr : row_constants.weight.data();
    view_.squared_norm = row_constants.squared_norm.data();
    view_.inverse_squared_norm = row_constants.inverse_squared_norm.data();
    view_.weights = workspace.weights.data();
    view_.dual = dual;
    mark_relevance(problem);
    if (problem.margins_vary_by_row()) set_targets(problem);
    if (!anchor.empty()) set_anchor(anchor, problem.labels);
    activate_all();
}

// Marks, per row, the labels of the block that are relevant and those of known relevance, and clips
// the dual variables to their bounds.
template <class T>
void Block<T>::mark_relevance(const Problem& problem) {
    const std::size_t n = rows_.size();
    const Mask used = static_cast<Mask>((1u << labels_.size()) - 1);
    relevant_.assign(n, 0);
    known_.assign(n, used);
    active_.resize(n);
    order_.resize(n);
    std::vector<Mask> bit(problem.labels, 0);
    for (std::size_t k = 0; k < labels_.size(); ++k) bit[labels_[k]] = static_cast<Mask>(1u << k);
    for (std::size_t i = 0; i < n; ++i) {
        for (const std::int32_t label : problem.relevant.row(i)) relevant_[i] |= bit[label];
        for (const std::int32_t label : problem.unknown.row(i))
            known_[i] &= static_cast<Mask>(~bit[label]);
        known_labels_ |= known_[i];
    }
    // A warm start from another problem may be infeasible for this one.
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < kLanes; ++k) {
            const double weight = problem.weight(i);
            const bool relevant = relevant_[i] >> k & 1, known = known_[i] >> k & 1;
            const T high =
                relevant && known
                    ? static_cast<T>(static_cast<double>(view_.bound_relevant[k]) * weight)
                    : T{0};
            const T low =
                !relevant && known
                    ? static_cast<T>(static_cast<double>(-view_.bound_irrelevant[k]) * weight)
                    : T{0};
            T& b = view_.dual[i * kLanes + k];
            b = std::min(std::max(b, low), high);
        }
    view_.relevant = relevant_.data();
    view_.known = known_.data();
    view_.active = active_.data();
    view_.order = order_.data();
}

template <class T>
void Block<T>::set_targets(const Problem& problem) {
    target_.assign(rows_.size() * kLanes, T{0});
    for (std::size_t k = 0; k < labels_.size(); ++k) {
        const std::vector<double> targets = problem.targets(static_cast<std::size_t>(labels_[k]));
        for (std::size_t i = 0; i < rows_.size(); ++i)
            target_[i * kLanes + k] = static_cast<T>(targets[i]);
    }
    view_.target = target_.data();
}

template <class T>
void Block<T>::set_weights(std::span<const T> by_column, std::size_t labels) {
    for (std::size_t j = 0; j < rows_.features(); ++j) {
        const T* const column =
            by_column.data() + static_cast<std::size_t>(rows_.feature()[j]) * labels;
        for (std::size_t k = 0; k < labels_.size(); ++k)
            workspace_.weights[j * kLanes + k] = column[labels_[k]];
    }
}

template <class T>
void Block<T>::set_anchor(std::span<const T> anchor, std::size_t labels) {
    set_weights(anchor, labels);
    AlignedVector<T> targets(rows_.size() * kLanes);
    std::visit([&](const auto& rows) { anchored_targets(rows, view_, targets.data()); },
               rows_.storage());
    target_ = std::move(targets);
    view_.target = target_.data();
    std::fill(workspace_.weights.begin(), workspace_.weights.end(), T{0});
}

template <class T>
void Block<T>::activate_all() {
    std::copy(known_.begin(), known_.end(), active_.begin());
    std::iota(order_.begin(), order_.end(), 0u);
    view_.count = rows_.size();
    view_.unconverged = known_labels_;
    std::fill_n(view_.threshold, kLanes, std::numeric_limits<T>::infinity());
    std::fill_n(view_.violation, kLanes, std::numeric_limits<T>::infinity());
}

template <class T>
void Block<T>::treat_as_irrelevant() {
    std::fill(relevant_.begin(), relevant_.end(), Mask{0});
}

template <class T>
void Block<T>::pass(T target_violation, Shuffle& shuffle) {
    shuffle(view_.order, view_.count);
    std::visit([&](const auto& rows) { visit(rows, view_); }, rows_.storage());
    for (std::size_t k = 0; k < labels_.size(); ++k) {
        if (!(view_.unconverged >> k & 1)) continue;
        if (view_.violation[k] < target_violation)
            view_.unconverged &= static_cast<Mask>(~(1u << k));
        view_.threshold[k] = view_.violation[k];
    }
}

template <class T>
double Block<T>::log_excess_violation(T target_violation) const {
    double sum = 0;
    for (std::size_t k = 0; k < labels_.size(); ++k)
        sum += std::log(static_cast<double>(std::max(view_.violation[k] / target_violation, T{1})));
    return sum;
}

template <class T>
int Block<T>::improve(double tolerance, int max_passes, Shuffle& shuffle,
                      SolverProgress& progress) {
    const auto target_violation = static_cast<T>(tolerance);
    int passes = 0;
    const auto must_continue = [&] {
        return view_.unconverged != 0 && view_.count > 0 && passes < max_passes &&
               !progress.stop.load(std::memory_order_relaxed);
    };
    const auto step = [&](int count) {
        for (; count > 0 && must_continue(); --count, ++passes) {
            if (single_label_descent_pays(rows_, view_)) {
                count = std::min(count, max_passes - passes);
                passes += improve_single_labels(rows_, view_, workspace_.single_label,
                                                target_violation, count, shuffle, progress);
                return;
            }
            pass(target_violation, shuffle);
            progress.passes.fetch_add(1, std::memory_order_relaxed);
        }
    };
    // Runs `work` and returns the decrease of log_excess_violation() per pass.
    const auto progress_per_pass = [&](auto&& work) {
        const double before = log_excess_violation(target_violation);
        const int passes_before = passes;
        work();
        return (before - log_excess_violation(target_violation)) /
               std::max(1, passes - passes_before);
    };
    while (must_continue()) {
        const double rate = progress_per_pass([&] { step(passes_per_round_); });
        if (passes_per_round_ > kPassesAfterCg) coordinate_rate_ = rate;
        if (!must_continue()) break;
        const double cg_rate = progress_per_pass([&] {
            passes +=
                improve_free_variables(rows_, view_, workspace_.cg, kCgAimShare * tolerance,
                                       std::min(schedule_.steps, max_passes - passes), progress);
            step(kPassesAfterCg);  // conjugate gradients cannot free a variable that is at a bound
        });
        passes_per_round_ =
            cg_rate > coordinate_rate_ ? kPassesAfterCg : schedule_.coordinate_passes;
    }
    return passes;
}

template <class T>
double Block<T>::improve_coupled(double tolerance, int max_passes, Shuffle& shuffle,
                                 SolverProgress& progress, T* v) {
    if (view_.count == 0) return 0;
    workspace_.rows.assign(view_.order, view_.order + view_.count);
    workspace_.before.resize(view_.count * kLanes);
    for (std::size_t at = 0; at < view_.count; ++at)
        std::copy_n(view_.dual + workspace_.rows[at] * kLanes, kLanes,
                    workspace_.before.data() + at * kLanes);
    view_.unconverged = known_labels_;
    double first_violation = 0;
    for (int pass = 0;
         pass < max_passes && view_.count > 0 && !progress.stop.load(std::memory_order_relaxed);
         ++pass) {
        shuffle(view_.order, view_.count);
        std::visit([&](const auto& rows) { visit(rows, view_); }, rows_.storage());
        const T largest = *std::max_element(view_.violation, view_.violation + labels_.size());
        std::copy_n(view_.violation, kLanes, view_.threshold);
        if (pass == 0) first_violation = static_cast<double>(largest);
        progress.passes.fetch_add(1, std::memory_order_relaxed);
        if (static_cast<double>(largest) < tolerance) break;
    }
    std::visit(
        [&](const auto& rows) {
            add_dual_changes(rows, workspace_.rows.data(), workspace_.rows.size(),
                             workspace_.before.data(), view_.dual, v);
        },
        rows_.storage());
    return first_violation;
}

template <class T>
void Block<T>::collect_sums() {
    std::fill(workspace_.sums.begin(), workspace_.sums.end(), 0.0);
    std::visit(
        [&](const auto& rows) { collect(rows, rows_.size(), view_.dual, workspace_.sums.data()); },
        rows_.storage());
}

template <class T>
void Block<T>::recompute_weights() {
    collect_sums();
    double scale[kLanes];
    for (std::size_t k = 0; k < kLanes; ++k) scale[k] = static_cast<double>(view_.scale[k]);
    for (std::size_t j = 0; j < workspace_.sums.size(); j += kLanes)
        for (std::size_t k = 0; k < kLanes; ++k)
            workspace_.weights[j + k] = static_cast<T>(scale[k] * workspace_.sums[j + k]);
}

template <class T>
SolutionStatus Block<T>::check(double tolerance) {
    // The new violations are not known yet. Use the larger of the tolerance and the last shrinking
    // threshold.
    for (std::size_t k = 0; k < kLanes; ++k)
        view_.threshold[k] = std::max(view_.threshold[k], static_cast<T>(tolerance));
    view_.unconverged = known_labels_;
    std::visit([&](const auto& rows) { m3l::check(rows, view_); }, rows_.storage());
    SolutionStatus out;
    for (std::size_t k = 0; k < labels_.size(); ++k) {
        out.gap += view_.gap[k];
        out.dual += view_.value[k];
        const auto violation = static_cast<double>(view_.violation[k]);
        out.violation = std::max(out.violation, violation);
        if (violation < tolerance) view_.unconverged &= static_cast<Mask>(~(1u << k));
        view_.threshold[k] = view_.violation[k];
    }
    return out;
}

template <class T>
int Block<T>::solve(double tolerance, int max_passes, Shuffle& shuffle, SolverProgress& progress,
                    SolutionStatus& status) {
    int passes = 0;
    for (;;) {
        const int passes_before = passes;
        // The violation is measured during a pass, and later steps of the pass can increase it: aim
        // below the tolerance.
        passes += improve(0.8 * tolerance, max_passes - passes, shuffle, progress);
        recompute_weights();
        status = check(tolerance);
        // Without a pass nothing has changed, and the next check would find the same.
        if (status.violation < tolerance || passes >= max_passes || passes == passes_before ||
            progress.stop.load(std::memory_order_relaxed))
            return passes;
    }
}

template struct RowConstants<float>;
template struct RowConstants<double>;
template class Block<float>;
template class Block<double>;

}  // namespace tagalong::m3l
