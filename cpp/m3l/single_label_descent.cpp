#include "m3l/single_label_descent.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>
#include <variant>

namespace tagalong::m3l {
namespace {

constexpr std::size_t kFew = 2;  // active labels a row, on average, from which blocks are less work

// The active variables of a label, with the limits that the block has for them.
template <class T>
void gather(const BlockView<T>& block, std::size_t label, std::vector<ActiveVariable<T>>& out) {
    const auto is_active = [&](std::uint32_t i) { return (block.active[i] >> label & 1) != 0; };
    out.clear();
    out.reserve(
        static_cast<std::size_t>(std::count_if(block.order, block.order + block.count, is_active)));
    for (std::size_t at = 0; at < block.count; ++at) {
        const std::uint32_t i = block.order[at];
        if (!is_active(i)) continue;
        const bool yes = block.yes[i] >> label & 1;
        const T weight = block.row_weight ? block.row_weight[i] : T{1};
        const T target = block.target ? block.target[i * kLanes + label]
                                      : (yes ? block.target_yes[label] : block.target_no[label]);
        out.push_back({i, block.dual[i * kLanes + label],
                       yes ? T{0} : -block.bound_no[label] * weight,
                       yes ? block.bound_yes[label] * weight : T{0}, target,
                       block.inverse[label] * block.row_inverse[i]});
    }
}

// A step on every variable, as a visit of the block makes it. Those that rest are put behind the others.
template <class T, class Rows>
T pass(const Rows& rows, std::vector<ActiveVariable<T>>& variables, std::size_t& count, T scale,
       T threshold, T* weights) {
    T violation = 0;
    for (std::size_t at = 0; at < count;) {
        if (at + 2 < count) rows.expect(variables[at + 2].row);
        ActiveVariable<T>& each = variables[at];
        const T s = rows.product(each.row, weights);
        const T h = each.target - (s + s);
        const bool up = each.dual < each.high, down = each.low < each.dual;
        if ((threshold < h && !up) || (threshold < -h && !down)) {
            std::swap(each, variables[--count]);
            continue;
        }
        violation = std::max({violation, up ? h : T{0}, down ? -h : T{0}});
        const T moved = std::min(std::max(each.dual + h * each.inverse, each.low), each.high);
        if (moved != each.dual) rows.add_to(each.row, (moved - each.dual) * scale, weights);
        each.dual = moved;
        ++at;
    }
    return violation;
}

template <class T, class Rows>
int improve(const Rows& rows, BlockView<T>& block, SingleLabelState<T>& alone, std::size_t features,
            T enough, int most, Shuffle& shuffle, SolverProgress& watch) {
    alone.weights.resize(features * kLanes);
    const Mask begun = block.live;
    for (std::size_t j = 0; j < features; ++j)
        for (std::size_t k = 0; k < kLanes; ++k)
            alone.weights[k * features + j] = block.weights[j * kLanes + k];
    int longest = 0;
    for (unsigned rest = begun; rest != 0; rest &= rest - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(rest));
        const Mask bit = static_cast<Mask>(1u << k);
        gather(block, k, alone.variables);
        std::size_t count = alone.variables.size();
        int passes = 0;
        while (passes < most && (block.live & bit) && !watch.stop.load(std::memory_order_relaxed)) {
            shuffle(alone.variables.data(), count);
            T* const weights = alone.weights.data() + k * features;
            block.violation[k] =
                pass(rows, alone.variables, count, block.scale[k], block.threshold[k], weights);
            block.threshold[k] = block.violation[k];
            if (block.violation[k] < enough) block.live &= static_cast<Mask>(~bit);
            ++passes;
        }
        longest = std::max(longest, passes);
        for (std::size_t at = 0; at < alone.variables.size(); ++at) {
            const ActiveVariable<T>& each = alone.variables[at];
            block.dual[each.row * kLanes + k] = each.dual;
            if (at >= count) block.active[each.row] &= static_cast<Mask>(~bit);
        }
    }
    for (std::size_t j = 0; j < features; ++j)
        for (std::size_t k = 0; k < kLanes; ++k)
            block.weights[j * kLanes + k] = alone.weights[k * features + j];
    watch.passes.fetch_add(longest, std::memory_order_relaxed);
    return longest;
}

}  // namespace

template <class T>
bool pays_alone(const Rows<T>& rows, const BlockView<T>& block) {
    if (block.coupled || rows.dense()) return false;
    std::size_t visits = 0, active = 0;
    for (std::size_t at = 0; at < block.count; ++at) {
        const auto labels = static_cast<unsigned>(block.active[block.order[at]] & block.live);
        visits += labels != 0;
        active += static_cast<std::size_t>(std::popcount(labels));
    }
    return active < kFew * visits;
}

template <class T>
int improve_single_labels(const Rows<T>& rows, BlockView<T>& block, SingleLabelState<T>& alone,
                          T enough, int most, Shuffle& shuffle, SolverProgress& watch) {
    return std::visit(
        [&](const auto& each) {
            if constexpr (std::is_same_v<std::decay_t<decltype(each)>, DenseRows<T>>) return 0;
            else return improve(each, block, alone, rows.features(), enough, most, shuffle, watch);
        },
        rows.any());
}

template bool pays_alone(const Rows<float>&, const BlockView<float>&);
template bool pays_alone(const Rows<double>&, const BlockView<double>&);
template int improve_single_labels(const Rows<float>&, BlockView<float>&, SingleLabelState<float>&,
                                   float, int, Shuffle&, SolverProgress&);
template int improve_single_labels(const Rows<double>&, BlockView<double>&,
                                   SingleLabelState<double>&, double, int, Shuffle&,
                                   SolverProgress&);

}  // namespace tagalong::m3l
