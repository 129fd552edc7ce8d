#include "m3l/single_label_descent.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>
#include <variant>

namespace tagalong::m3l {
namespace {

// From this average number of active labels per row on, passes over the whole block are less work.
constexpr std::size_t kMinActivePerRow = 2;

// Collects the active variables of a label with their bounds.
template <class T>
void gather(const BlockView<T>& block, std::size_t label, std::vector<ActiveVariable<T>>& out) {
    const auto is_active = [&](std::uint32_t i) { return (block.active[i] >> label & 1) != 0; };
    out.clear();
    out.reserve(
        static_cast<std::size_t>(std::count_if(block.order, block.order + block.count, is_active)));
    for (std::size_t at = 0; at < block.count; ++at) {
        const std::uint32_t i = block.order[at];
        if (!is_active(i)) continue;
        const bool relevant = block.relevant[i] >> label & 1;
        const T weight = block.row_weight ? block.row_weight[i] : T{1};
        const T target = block.target ? block.target[i * kLanes + label]
                                      : (relevant ? block.target_relevant[label]
                                                  : block.target_irrelevant[label]);
        out.push_back({i, block.dual[i * kLanes + label],
                       relevant ? T{0} : -block.bound_irrelevant[label] * weight,
                       relevant ? block.bound_relevant[label] * weight : T{0}, target,
                       block.inverse_curvature[label] * block.inverse_squared_norm[i]});
    }
}

// One step on each of the first `count` variables, the same as visit() makes. Shrunk variables are
// moved behind the others, and `count` decreases. Returns the largest projected derivative.
template <class T, class Rows>
T pass(const Rows& rows, std::vector<ActiveVariable<T>>& variables, std::size_t& count, T scale,
       T threshold, T* weights) {
    T violation = 0;
    for (std::size_t at = 0; at < count;) {
        if (at + 2 < count) rows.prefetch(variables[at + 2].row);
        ActiveVariable<T>& each = variables[at];
        const T s = rows.product(each.row, weights);
        const T h = each.target - (s + s);
        const bool up = each.dual < each.high, down = each.low < each.dual;
        if ((threshold < h && !up) || (threshold < -h && !down)) {
            std::swap(each, variables[--count]);
            continue;
        }
        violation = std::max({violation, up ? h : T{0}, down ? -h : T{0}});
        const T moved =
            std::min(std::max(each.dual + h * each.inverse_curvature, each.low), each.high);
        if (moved != each.dual) rows.add_to(each.row, (moved - each.dual) * scale, weights);
        each.dual = moved;
        ++at;
    }
    return violation;
}

template <class T, class Rows>
int improve(const Rows& rows, BlockView<T>& block, SingleLabelState<T>& state, std::size_t features,
            T target_violation, int max_passes, Shuffle& shuffle, SolverProgress& progress) {
    state.weights.resize(features * kLanes);
    const Mask labels = block.unconverged;
    for (std::size_t j = 0; j < features; ++j)
        for (std::size_t k = 0; k < kLanes; ++k)
            state.weights[k * features + j] = block.weights[j * kLanes + k];
    int most_passes = 0;
    for (unsigned remaining = labels; remaining != 0; remaining &= remaining - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(remaining));
        const Mask bit = static_cast<Mask>(1u << k);
        gather(block, k, state.variables);
        std::size_t count = state.variables.size();
        int passes = 0;
        while (passes < max_passes && (block.unconverged & bit) &&
               !progress.stop.load(std::memory_order_relaxed)) {
            shuffle(state.variables.data(), count);
            T* const weights = state.weights.data() + k * features;
            block.violation[k] =
                pass(rows, state.variables, count, block.scale[k], block.threshold[k], weights);
            block.threshold[k] = block.violation[k];
            if (block.violation[k] < target_violation) block.unconverged &= static_cast<Mask>(~bit);
            ++passes;
        }
        most_passes = std::max(most_passes, passes);
        for (std::size_t at = 0; at < state.variables.size(); ++at) {
            const ActiveVariable<T>& each = state.variables[at];
            block.dual[each.row * kLanes + k] = each.dual;
            if (at >= count) block.active[each.row] &= static_cast<Mask>(~bit);
        }
    }
    for (std::size_t j = 0; j < features; ++j)
        for (std::size_t k = 0; k < kLanes; ++k)
            block.weights[j * kLanes + k] = state.weights[k * features + j];
    progress.passes.fetch_add(most_passes, std::memory_order_relaxed);
    return most_passes;
}

}  // namespace

template <class T>
bool single_label_descent_pays(const Rows<T>& rows, const BlockView<T>& block) {
    if (block.coupled || rows.dense()) return false;
    std::size_t visits = 0, active = 0;
    for (std::size_t at = 0; at < block.count; ++at) {
        const auto labels =
            static_cast<unsigned>(block.active[block.order[at]] & block.unconverged);
        visits += labels != 0;
        active += static_cast<std::size_t>(std::popcount(labels));
    }
    return active < kMinActivePerRow * visits;
}

template <class T>
int improve_single_labels(const Rows<T>& rows, BlockView<T>& block, SingleLabelState<T>& state,
                          T target_violation, int max_passes, Shuffle& shuffle,
                          SolverProgress& progress) {
    return std::visit(
        [&](const auto& each) {
            if constexpr (std::is_same_v<std::decay_t<decltype(each)>, DenseRows<T>>) return 0;
            else
                return improve(each, block, state, rows.features(), target_violation, max_passes,
                               shuffle, progress);
        },
        rows.storage());
}

template bool single_label_descent_pays(const Rows<float>&, const BlockView<float>&);
template bool single_label_descent_pays(const Rows<double>&, const BlockView<double>&);
template int improve_single_labels(const Rows<float>&, BlockView<float>&, SingleLabelState<float>&,
                                   float, int, Shuffle&, SolverProgress&);
template int improve_single_labels(const Rows<double>&, BlockView<double>&,
                                   SingleLabelState<double>&, double, int, Shuffle&,
                                   SolverProgress&);

}  // namespace tagalong::m3l
