#include "m3l/block_kernels.hpp"

#include <algorithm>
#include <bit>

#include "m3l/box_bounds.hpp"

namespace tagalong::m3l {
namespace {

// The lanes whose variable is at a bound and whose derivative points out of it by more than the
// threshold.
template <class T>
TAGALONG_INLINE typename Lanes<T>::LaneMask shrinkable(const Lanes<T>& dual, const Lanes<T>& h,
                                                       const BoxBounds<T>& bounds,
                                                       const Lanes<T>& threshold) {
    const Lanes<T> zero = Lanes<T>::broadcast(0);
    const auto above = (threshold < h).without(dual < bounds.high);
    const auto below = (threshold < zero - h).without(bounds.low < dual);
    return above | below;
}

// The absolute value of the projected derivative: 0 where h points out of the bounds.
template <class T>
TAGALONG_INLINE Lanes<T> projected(const Lanes<T>& dual, const Lanes<T>& h,
                                   const BoxBounds<T>& bounds) {
    const Lanes<T> zero = Lanes<T>::broadcast(0);
    const Lanes<T> up = select<T>(dual < bounds.high, lane_max(h, zero), zero);
    const Lanes<T> down = select<T>(bounds.low < dual, lane_max(zero - h, zero), zero);
    return lane_max(up, down);
}

// Steps for coupled labels: those in `moves` are updated one by one, and each step updates the
// scores of the others. Returns the change of the weights per unit of x_i.
template <class T>
TAGALONG_INLINE Lanes<T> step_coupled_labels(BlockView<T>& block, std::size_t i,
                                             const BoxBounds<T>& bounds, const Lanes<T>& before,
                                             const Lanes<T>& inverse_curvature, unsigned moves) {
    using L = Lanes<T>;
    L score = before;
    T* const b = block.dual + i * kLanes;
    alignas(64) T s[kLanes], target[kLanes], low[kLanes], high[kLanes], inverse[kLanes];
    bounds.target.store(target);
    bounds.low.store(low);
    bounds.high.store(high);
    inverse_curvature.store(inverse);
    score.store(s);
    L change = L::broadcast(0);
    for (; moves != 0; moves &= moves - 1) {
        const int k = std::countr_zero(moves);
        const T wanted = b[k] + (target[k] - 2 * s[k]) * inverse[k];
        const T moved = std::min(std::max(wanted, low[k]), high[k]);
        const L column = L::load(block.prior_in_block[k]) * (moved - b[k]);
        b[k] = moved;
        score = score + column * block.squared_norm[i];
        score.store(s);
        change = change + column;
    }
    return change;
}

// One step on all active variables of a row. Returns the labels whose variables stay active.
// score() and add() are called in one place each: their loops are inlined, and a second copy
// compiles slowly.
template <class T, class Rows>
TAGALONG_INLINE Mask step(const Rows& rows, BlockView<T>& block, std::size_t i, Mask mask,
                          const Lanes<T>& threshold, Lanes<T>& violation) {
    using L = Lanes<T>;
    const BoxBounds<T> bounds(block, i);
    const L b = L::load(block.dual + i * kLanes);
    const L s = rows.score(i, block.weights);
    const L h = bounds.target - (s + s);
    const auto active = L::from_bits(mask);
    const auto shrunk = shrinkable(b, h, bounds, threshold) & active;
    violation = lane_max(
        violation, select<T>(active.without(shrunk), projected(b, h, bounds), L::broadcast(0)));
    const L inverse_curvature = L::load(block.inverse_curvature) * block.inverse_squared_norm[i];
    const L moved = select<T>(
        active, lane_min(lane_max(b + h * inverse_curvature, bounds.low), bounds.high), b);
    const auto moves = moved != b;
    if (moves.any()) {
        L change;
        if (block.coupled) {
            change = step_coupled_labels(block, i, bounds, s, inverse_curvature, moves.bits());
        } else {
            moved.store(block.dual + i * kLanes);
            change = (moved - b) * L::load(block.scale);
        }
        rows.add(i, change, block.weights);
    }
    return shrunk.any() ? static_cast<Mask>(mask & ~shrunk.bits()) : mask;
}

template <class T, class Rows>
TAGALONG_INLINE void visit_body(const Rows& rows, BlockView<T>& block) {
    using L = Lanes<T>;
    const L threshold = L::load(block.threshold);
    L violation = L::broadcast(0);
    std::size_t active_rows = 0;
    for (std::size_t at = 0; at < block.count; ++at) {
        const std::uint32_t i = block.order[at];
        const Mask mask = block.active[i] & block.unconverged;
        if (mask == 0) continue;
        // Rows come in random order, so prefetch the next two. Entries after `at` are not
        // overwritten yet.
        if (at + 2 < block.count) rows.prefetch(block.order[at + 2]);
        if (at + 1 < block.count) {
            rows.prefetch(block.order[at + 1], block.weights);
            __builtin_prefetch(block.dual + block.order[at + 1] * kLanes);
        }
        const Mask still_active = step(rows, block, i, mask, threshold, violation);
        block.active[i] = still_active;
        block.order[active_rows] = i;
        active_rows += still_active != 0;
    }
    block.count = active_rows;
    violation.store(block.violation);
}

template <class T, class Rows>
TAGALONG_INLINE void check_body(const Rows& rows, BlockView<T>& block) {
    using L = Lanes<T>;
    constexpr std::size_t kChunk = 256;  // sums over more rows are in double precision
    const L threshold = L::load(block.threshold), zero = L::broadcast(0);
    L violation = zero;
    std::fill_n(block.gap, kLanes, 0.0);
    std::fill_n(block.value, kLanes, 0.0);
    block.count = 0;
    for (std::size_t from = 0; from < block.rows; from += kChunk) {
        L gap = zero, value = zero;
        for (std::size_t i = from; i < std::min(block.rows, from + kChunk); ++i) {
            if (i + 1 < block.rows) rows.prefetch(i + 1, block.weights);
            const BoxBounds<T> bounds(block, i);
            const L b = L::load(block.dual + i * kLanes);
            const L s = rows.score(i, block.weights);
            const L h = bounds.target - (s + s);
            const auto known = L::from_bits(block.known[i]);
            violation = lane_max(violation, select<T>(known, projected(b, h, bounds), zero));
            const L slack =
                bounds.high * lane_max(h, zero) + bounds.low * lane_min(h, zero) - b * h;
            gap = gap + select<T>(known, slack, zero);
            value = value + b * (bounds.target - s);
            const Mask mask =
                known.without(shrinkable(b, h, bounds, threshold)).bits() & block.unconverged;
            block.active[i] = mask;
            block.order[block.count] = static_cast<std::uint32_t>(i);
            block.count += mask != 0;
        }
        alignas(64) T out[kLanes];
        gap.store(out);
        for (std::size_t k = 0; k < kLanes; ++k) block.gap[k] += static_cast<double>(out[k]);
        value.store(out);
        for (std::size_t k = 0; k < kLanes; ++k) block.value[k] += static_cast<double>(out[k]);
    }
    violation.store(block.violation);
}

template <class T, class Rows>
TAGALONG_INLINE void collect_body(const Rows& rows, std::size_t count, const T* dual,
                                  double* sums) {
    for (std::size_t i = 0; i < count; ++i) {
        const T* b = dual + i * kLanes;
        if (!(Lanes<T>::load(b) != Lanes<T>::broadcast(0)).any()) continue;
        alignas(64) double wide[kLanes];
        for (std::size_t k = 0; k < kLanes; ++k) wide[k] = static_cast<double>(b[k]);
        rows.add(i, Lanes<double>::load(wide), sums);
    }
}

template <class T, class Rows>
TAGALONG_INLINE void anchored_targets_body(const Rows& rows, const BlockView<T>& block, T* out) {
    for (std::size_t i = 0; i < block.rows; ++i) {
        if (i + 1 < block.rows) rows.prefetch(i + 1, block.weights);
        const Lanes<T> s = rows.score(i, block.weights);
        (BoxBounds<T>(block, i).target - (s + s)).store(out + i * kLanes);
    }
}

template <class T>
TAGALONG_INLINE void extract_body(AlignedVector<T>& sums, Changes<T>& out) {
    out.clear();
    for (std::size_t j = 0; j < sums.size() / kLanes; ++j) {
        if (j % Changes<T>::kPart == 0) out.start.push_back(out.feature.size());
        T* const line = sums.data() + j * kLanes;
        const auto changed = Lanes<T>::load(line) != Lanes<T>::broadcast(0);
        if (!changed.any()) continue;
        out.feature.push_back(static_cast<std::uint32_t>(j));
        out.lanes.push_back(changed.bits());
        out.delta.insert(out.delta.end(), line, line + kLanes);
        std::fill_n(line, kLanes, T{0});
    }
    out.start.push_back(out.feature.size());
}

// Handles kCount features at once: r is loaded once for all of them, and their sums stay in
// registers.
template <std::size_t kCount, class T>
TAGALONG_INLINE void propagate_features(const Changes<T>& changes, std::size_t at, const T* r,
                                        Mask coupled_labels, T* weights) {
    using L = Lanes<T>;
    const std::uint32_t* const feature = changes.feature.data() + at;
    const T* const delta = changes.delta.data() + at * kLanes;
    unsigned lanes = 0;
    L sum[kCount];
    for (std::size_t j = 0; j < kCount; ++j) {
        lanes |= changes.lanes[at + j];
        sum[j] = L::load(weights + feature[j] * kLanes);
    }
    for (lanes &= coupled_labels; lanes != 0; lanes &= lanes - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(lanes));
        const L row = L::load(r + k * kLanes);
        for (std::size_t j = 0; j < kCount; ++j) sum[j] = sum[j] + row * delta[j * kLanes + k];
    }
    for (std::size_t j = 0; j < kCount; ++j) sum[j].store(weights + feature[j] * kLanes);
}

template <class T>
TAGALONG_INLINE void propagate_body(const Changes<T>& changes, std::size_t part, const T* r,
                                    Mask coupled_labels, T* weights) {
    constexpr std::size_t kFeaturesPerStep = sizeof(T) == 4 ? 4 : 2;
    std::size_t at = changes.start[part];
    const std::size_t end = changes.start[part + 1];
    for (; at + kFeaturesPerStep <= end; at += kFeaturesPerStep)
        propagate_features<kFeaturesPerStep>(changes, at, r, coupled_labels, weights);
    for (; at < end; ++at) propagate_features<1>(changes, at, r, coupled_labels, weights);
}

template <class T, class Rows>
TAGALONG_INLINE void add_changes_body(const Rows& rows, const std::uint32_t* row_list,
                                      std::size_t count, const T* before, const T* dual, T* sums) {
    using L = Lanes<T>;
    for (std::size_t at = 0; at < count; ++at) {
        const L change = L::load(dual + row_list[at] * kLanes) - L::load(before + at * kLanes);
        if ((change != L::broadcast(0)).any()) rows.add(row_list[at], change, sums);
    }
}

}  // namespace

TAGALONG_LANE_CLONES void visit(const NarrowRows<float>& rows, BlockView<float>& block) {
    visit_body(rows, block);
}
TAGALONG_LANE_CLONES void visit(const WideRows<float>& rows, BlockView<float>& block) {
    visit_body(rows, block);
}
TAGALONG_LANE_CLONES void visit(const DenseRows<float>& rows, BlockView<float>& block) {
    visit_body(rows, block);
}
TAGALONG_LANE_CLONES void visit(const NarrowRows<double>& rows, BlockView<double>& block) {
    visit_body(rows, block);
}
TAGALONG_LANE_CLONES void visit(const WideRows<double>& rows, BlockView<double>& block) {
    visit_body(rows, block);
}
TAGALONG_LANE_CLONES void visit(const DenseRows<double>& rows, BlockView<double>& block) {
    visit_body(rows, block);
}

TAGALONG_LANE_CLONES void check(const NarrowRows<float>& rows, BlockView<float>& block) {
    check_body(rows, block);
}
TAGALONG_LANE_CLONES void check(const WideRows<float>& rows, BlockView<float>& block) {
    check_body(rows, block);
}
TAGALONG_LANE_CLONES void check(const DenseRows<float>& rows, BlockView<float>& block) {
    check_body(rows, block);
}
TAGALONG_LANE_CLONES void check(const NarrowRows<double>& rows, BlockView<double>& block) {
    check_body(rows, block);
}
TAGALONG_LANE_CLONES void check(const WideRows<double>& rows, BlockView<double>& block) {
    check_body(rows, block);
}
TAGALONG_LANE_CLONES void check(const DenseRows<double>& rows, BlockView<double>& block) {
    check_body(rows, block);
}

TAGALONG_LANE_CLONES void collect(const NarrowRows<float>& rows, std::size_t count,
                                  const float* dual, double* sums) {
    collect_body(rows, count, dual, sums);
}
TAGALONG_LANE_CLONES void collect(const WideRows<float>& rows, std::size_t count, const float* dual,
                                  double* sums) {
    collect_body(rows, count, dual, sums);
}
TAGALONG_LANE_CLONES void collect(const DenseRows<float>& rows, std::size_t count,
                                  const float* dual, double* sums) {
    collect_body(rows, count, dual, sums);
}
TAGALONG_LANE_CLONES void collect(const NarrowRows<double>& rows, std::size_t count,
                                  const double* dual, double* sums) {
    collect_body(rows, count, dual, sums);
}
TAGALONG_LANE_CLONES void collect(const WideRows<double>& rows, std::size_t count,
                                  const double* dual, double* sums) {
    collect_body(rows, count, dual, sums);
}
TAGALONG_LANE_CLONES void collect(const DenseRows<double>& rows, std::size_t count,
                                  const double* dual, double* sums) {
    collect_body(rows, count, dual, sums);
}

TAGALONG_LANE_CLONES void anchored_targets(const NarrowRows<float>& rows,
                                           const BlockView<float>& block, float* out) {
    anchored_targets_body(rows, block, out);
}
TAGALONG_LANE_CLONES void anchored_targets(const WideRows<float>& rows,
                                           const BlockView<float>& block, float* out) {
    anchored_targets_body(rows, block, out);
}
TAGALONG_LANE_CLONES void anchored_targets(const DenseRows<float>& rows,
                                           const BlockView<float>& block, float* out) {
    anchored_targets_body(rows, block, out);
}
TAGALONG_LANE_CLONES void anchored_targets(const NarrowRows<double>& rows,
                                           const BlockView<double>& block, double* out) {
    anchored_targets_body(rows, block, out);
}
TAGALONG_LANE_CLONES void anchored_targets(const WideRows<double>& rows,
                                           const BlockView<double>& block, double* out) {
    anchored_targets_body(rows, block, out);
}
TAGALONG_LANE_CLONES void anchored_targets(const DenseRows<double>& rows,
                                           const BlockView<double>& block, double* out) {
    anchored_targets_body(rows, block, out);
}

TAGALONG_LANE_CLONES void visit(const DenseRows<float>& rows, DenseLabelView<float>& label) {
    dense_label_loops::visit_body(rows, label);
}
TAGALONG_LANE_CLONES void visit(const DenseRows<double>& rows, DenseLabelView<double>& label) {
    dense_label_loops::visit_body(rows, label);
}
TAGALONG_LANE_CLONES void check(const DenseRows<float>& rows, DenseLabelView<float>& label) {
    dense_label_loops::check_body(rows, label);
}
TAGALONG_LANE_CLONES void check(const DenseRows<double>& rows, DenseLabelView<double>& label) {
    dense_label_loops::check_body(rows, label);
}
TAGALONG_LANE_CLONES void collect(const DenseRows<float>& rows, const DenseLabelView<float>& label,
                                  double* sums) {
    dense_label_loops::collect_body(rows, label, sums);
}
TAGALONG_LANE_CLONES void collect(const DenseRows<double>& rows,
                                  const DenseLabelView<double>& label, double* sums) {
    dense_label_loops::collect_body(rows, label, sums);
}

TAGALONG_LANE_CLONES void extract_changes(AlignedVector<float>& sums, Changes<float>& out) {
    extract_body(sums, out);
}
TAGALONG_LANE_CLONES void extract_changes(AlignedVector<double>& sums, Changes<double>& out) {
    extract_body(sums, out);
}

TAGALONG_LANE_CLONES void propagate(const Changes<float>& changes, std::size_t part, const float* r,
                                    Mask coupled_labels, float* weights) {
    propagate_body(changes, part, r, coupled_labels, weights);
}
TAGALONG_LANE_CLONES void propagate(const Changes<double>& changes, std::size_t part,
                                    const double* r, Mask coupled_labels, double* weights) {
    propagate_body(changes, part, r, coupled_labels, weights);
}

TAGALONG_LANE_CLONES void add_dual_changes(const NarrowRows<float>& rows,
                                           const std::uint32_t* row_list, std::size_t count,
                                           const float* before, const float* dual, float* sums) {
    add_changes_body(rows, row_list, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_dual_changes(const WideRows<float>& rows,
                                           const std::uint32_t* row_list, std::size_t count,
                                           const float* before, const float* dual, float* sums) {
    add_changes_body(rows, row_list, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_dual_changes(const DenseRows<float>& rows,
                                           const std::uint32_t* row_list, std::size_t count,
                                           const float* before, const float* dual, float* sums) {
    add_changes_body(rows, row_list, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_dual_changes(const NarrowRows<double>& rows,
                                           const std::uint32_t* row_list, std::size_t count,
                                           const double* before, const double* dual, double* sums) {
    add_changes_body(rows, row_list, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_dual_changes(const WideRows<double>& rows,
                                           const std::uint32_t* row_list, std::size_t count,
                                           const double* before, const double* dual, double* sums) {
    add_changes_body(rows, row_list, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_dual_changes(const DenseRows<double>& rows,
                                           const std::uint32_t* row_list, std::size_t count,
                                           const double* before, const double* dual, double* sums) {
    add_changes_body(rows, row_list, count, before, dual, sums);
}

}  // namespace tagalong::m3l
