#include "m3l/block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tagalong::m3l {
namespace {

constexpr int kPasses = 75;  // of coordinate steps, where those are as quick
constexpr int kStepsOnFace = 40;
constexpr int kPassesAfter = 2;  // of coordinate steps, after those on the face
constexpr double kAimOnFace =
    0.5;  // of the tolerance: the passes after it disturb what was reached

}  // namespace

template <class T>
RowNumbers<T>::RowNumbers(const Rows<T>& rows, const Problem& problem) {
    squared.reserve(rows.size());
    inverse.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double square = rows.squared(i);
        squared.push_back(static_cast<T>(square));
        inverse.push_back(static_cast<T>(inverse_of(square)));
    }
    for (const double each : problem.row_weight) weight.push_back(static_cast<T>(each));
}

template <class T>
Block<T>::Block(const Rows<T>& rows, const RowNumbers<T>& numbers, const Problem& problem,
                std::span<const std::int32_t> labels, T* dual, BlockSpace<T>& space)
    : rows_(rows),
      labels_(labels.begin(), labels.end()),
      view_{},
      space_(space),
      stretch_(kPasses) {
    view_.rows = rows.size();
    for (std::size_t k = 0; k < labels_.size(); ++k) {
        const auto l = static_cast<std::size_t>(labels_[k]);
        view_.target_yes[k] = static_cast<T>(problem.margin_yes[l]);
        view_.target_no[k] = static_cast<T>(-problem.margin_no[l]);
        view_.bound_yes[k] = static_cast<T>(problem.bound_yes[l]);
        view_.bound_no[k] = static_cast<T>(problem.bound_no[l]);
        const double r = problem.r(l, l);
        view_.scale[k] = static_cast<T>(2 * r);
        view_.inverse[k] = static_cast<T>(inverse_of(4 * r));
        for (std::size_t j = 0; j < labels_.size(); ++j) {
            const double other = problem.r(static_cast<std::size_t>(labels_[j]), l);
            view_.inside[k][j] = static_cast<T>(2 * other);
            view_.coupled |= j != k && other != 0;
        }
    }
    view_.row_weight = numbers.weight.empty() ? nullptr : numbers.weight.data();
    view_.squared = numbers.squared.data();
    view_.row_inverse = numbers.inverse.data();
    view_.weights = space.weights.data();
    view_.dual = dual;
    mark(problem);
    if (problem.tied) tie(problem);
    open_all();
}

// Which labels of the block are relevant and which are known, a row.
template <class T>
void Block<T>::mark(const Problem& problem) {
    const std::size_t n = rows_.size();
    const Mask used = static_cast<Mask>((1u << labels_.size()) - 1);
    yes_.assign(n, 0);
    known_.assign(n, used);
    active_.resize(n);
    order_.resize(n);
    std::vector<Mask> bit(problem.labels, 0);
    for (std::size_t k = 0; k < labels_.size(); ++k) bit[labels_[k]] = static_cast<Mask>(1u << k);
    for (std::size_t i = 0; i < n; ++i) {
        for (const std::int32_t label : problem.relevant.row(i)) yes_[i] |= bit[label];
        for (const std::int32_t label : problem.unknown.row(i))
            known_[i] &= static_cast<Mask>(~bit[label]);
        all_ |= known_[i];
    }
    // A start for another problem need not fit this one.
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < kLanes; ++k) {
            const double weight = problem.weight(i);
            const bool yes = yes_[i] >> k & 1, known = known_[i] >> k & 1;
            const T high = yes && known
                               ? static_cast<T>(static_cast<double>(view_.bound_yes[k]) * weight)
                               : T{0};
            const T low = !yes && known
                              ? static_cast<T>(static_cast<double>(-view_.bound_no[k]) * weight)
                              : T{0};
            T& b = view_.dual[i * kLanes + k];
            b = std::min(std::max(b, low), high);
        }
    view_.yes = yes_.data();
    view_.known = known_.data();
    view_.active = active_.data();
    view_.order = order_.data();
}

template <class T>
void Block<T>::tie(const Problem& problem) {
    target_.assign(rows_.size() * kLanes, T{0});
    for (std::size_t k = 0; k < labels_.size(); ++k) {
        const std::vector<double> targets =
            problem.tied_targets(static_cast<std::size_t>(labels_[k]));
        for (std::size_t i = 0; i < rows_.size(); ++i)
            target_[i * kLanes + k] = static_cast<T>(targets[i]);
    }
    view_.target = target_.data();
}

template <class T>
void Block<T>::open_all() {
    std::copy(known_.begin(), known_.end(), active_.begin());
    std::iota(order_.begin(), order_.end(), 0u);
    view_.count = rows_.size();
    view_.live = all_;
    std::fill_n(view_.threshold, kLanes, std::numeric_limits<T>::infinity());
    std::fill_n(view_.violation, kLanes, std::numeric_limits<T>::infinity());
}

template <class T>
void Block<T>::forget_relevant() {
    std::fill(yes_.begin(), yes_.end(), Mask{0});
}

template <class T>
void Block<T>::pass(T enough, Shuffle& shuffle) {
    shuffle(view_.order, view_.count);
    std::visit([&](const auto& rows) { visit(rows, view_); }, rows_.any());
    for (std::size_t k = 0; k < labels_.size(); ++k) {
        if (!(view_.live >> k & 1)) continue;
        if (view_.violation[k] < enough) view_.live &= static_cast<Mask>(~(1u << k));
        view_.threshold[k] = view_.violation[k];
    }
}

template <class T>
double Block<T>::level(T enough) const {
    double sum = 0;
    for (std::size_t k = 0; k < labels_.size(); ++k)
        sum += std::log(static_cast<double>(std::max(view_.violation[k] / enough, T{1})));
    return sum;
}

template <class T>
int Block<T>::improve(double tolerance, int most, Shuffle& shuffle, SolverProgress& watch) {
    const auto enough = static_cast<T>(tolerance);
    int passes = 0;
    const auto goes_on = [&] {
        return view_.live != 0 && view_.count > 0 && passes < most &&
               !watch.stop.load(std::memory_order_relaxed);
    };
    const auto step = [&](int count) {
        for (; count > 0 && goes_on(); --count, ++passes) {
            if (pays_alone(rows_, view_)) {
                count = std::min(count, most - passes);
                passes += improve_single_labels(rows_, view_, space_.alone, enough, count, shuffle,
                                                watch);
                return;
            }
            pass(enough, shuffle);
            watch.passes.fetch_add(1, std::memory_order_relaxed);
        }
    };
    // By how much a pass lowers the logarithms of violations, one way or the other.
    const auto rate_of = [&](auto&& work) {
        const double from = level(enough);
        const int begun = passes;
        work();
        return (from - level(enough)) / std::max(1, passes - begun);
    };
    while (goes_on()) {
        const double rate = rate_of([&] { step(stretch_); });
        if (stretch_ > kPassesAfter) step_rate_ = rate;
        if (!goes_on()) break;
        const double on_face = rate_of([&] {
            passes += improve_free_variables(rows_, view_, space_.face, kAimOnFace * tolerance,
                                             std::min(kStepsOnFace, most - passes), watch);
            step(kPassesAfter);  // on the face no variable comes and none returns
        });
        stretch_ = on_face > step_rate_ ? kPassesAfter : kPasses;
    }
    return passes;
}

template <class T>
double Block<T>::take_turn(double tolerance, int most, Shuffle& shuffle, SolverProgress& watch,
                           T* v) {
    if (view_.count == 0) return 0;
    space_.rows.assign(view_.order, view_.order + view_.count);
    space_.before.resize(view_.count * kLanes);
    for (std::size_t at = 0; at < view_.count; ++at)
        std::copy_n(view_.dual + space_.rows[at] * kLanes, kLanes,
                    space_.before.data() + at * kLanes);
    view_.live = all_;
    double met = 0;
    for (int pass = 0;
         pass < most && view_.count > 0 && !watch.stop.load(std::memory_order_relaxed); ++pass) {
        shuffle(view_.order, view_.count);
        std::visit([&](const auto& rows) { visit(rows, view_); }, rows_.any());
        const T most_of_all = *std::max_element(view_.violation, view_.violation + labels_.size());
        std::copy_n(view_.violation, kLanes, view_.threshold);
        if (pass == 0) met = static_cast<double>(most_of_all);
        watch.passes.fetch_add(1, std::memory_order_relaxed);
        if (static_cast<double>(most_of_all) < tolerance) break;
    }
    std::visit(
        [&](const auto& rows) {
            add_changes(rows, space_.rows.data(), space_.rows.size(), space_.before.data(),
                        view_.dual, v);
        },
        rows_.any());
    return met;
}

template <class T>
void Block<T>::collect_sums() {
    std::fill(space_.sums.begin(), space_.sums.end(), 0.0);
    std::visit(
        [&](const auto& rows) { collect(rows, rows_.size(), view_.dual, space_.sums.data()); },
        rows_.any());
}

template <class T>
void Block<T>::weigh() {
    collect_sums();
    double scale[kLanes];
    for (std::size_t k = 0; k < kLanes; ++k) scale[k] = static_cast<double>(view_.scale[k]);
    for (std::size_t j = 0; j < space_.sums.size(); j += kLanes)
        for (std::size_t k = 0; k < kLanes; ++k)
            space_.weights[j + k] = static_cast<T>(scale[k] * space_.sums[j + k]);
}

template <class T>
Standing Block<T>::check(double tolerance) {
    // Variables within reach of the violations there may be; those are not known yet.
    for (std::size_t k = 0; k < kLanes; ++k)
        view_.threshold[k] = std::max(view_.threshold[k], static_cast<T>(tolerance));
    view_.live = all_;
    std::visit([&](const auto& rows) { m3l::check(rows, view_); }, rows_.any());
    Standing out;
    for (std::size_t k = 0; k < labels_.size(); ++k) {
        out.gap += view_.gap[k];
        out.dual += view_.value[k];
        const auto violation = static_cast<double>(view_.violation[k]);
        out.violation = std::max(out.violation, violation);
        if (violation < tolerance) view_.live &= static_cast<Mask>(~(1u << k));
        view_.threshold[k] = view_.violation[k];
    }
    return out;
}

template <class T>
int Block<T>::solve(double tolerance, int most, Shuffle& shuffle, SolverProgress& watch,
                    Standing& standing) {
    int passes = 0;
    for (;;) {
        // The last steps move what the ones before have measured: aim a little lower.
        passes += improve(0.8 * tolerance, most - passes, shuffle, watch);
        weigh();
        standing = check(tolerance);
        if (standing.violation < tolerance || passes >= most ||
            watch.stop.load(std::memory_order_relaxed))
            return passes;
    }
}

template struct RowNumbers<float>;
template struct RowNumbers<double>;
template class Block<float>;
template class Block<double>;

}  // namespace tagalong::m3l
