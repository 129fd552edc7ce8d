#include "m3l/block_kernels.hpp"

#include <algorithm>
#include <bit>

#include "m3l/box_bounds.hpp"

namespace tagalong::m3l {
namespace {

// Where the derivative h points out of the limits by more than the threshold.
template <class T>
TAGALONG_INLINE typename Lanes<T>::Which resting(const Lanes<T>& dual, const Lanes<T>& h,
                                                 const BoxBounds<T>& limits,
                                                 const Lanes<T>& threshold) {
    const Lanes<T> none = Lanes<T>::all(0);
    const auto above = (threshold < h).without(dual < limits.high);
    const auto below = (threshold < none - h).without(limits.low < dual);
    return above | below;
}

// The length of the derivative's part that does not point out of the limits.
template <class T>
TAGALONG_INLINE Lanes<T> projected(const Lanes<T>& dual, const Lanes<T>& h,
                                   const BoxBounds<T>& limits) {
    const Lanes<T> none = Lanes<T>::all(0);
    const Lanes<T> up = choose<T>(dual < limits.high, larger(h, none), none);
    const Lanes<T> down = choose<T>(limits.low < dual, larger(none - h, none), none);
    return larger(up, down);
}

// Labels that move each other: those that want to move take turns, and each step changes the scores of
// the others. Returns what the steps add to the weights, per unit of the row.
template <class T>
TAGALONG_INLINE Lanes<T> step_in_turn(BlockView<T>& block, std::size_t i,
                                      const BoxBounds<T>& limits, const Lanes<T>& before,
                                      const Lanes<T>& curved, unsigned moves) {
    using L = Lanes<T>;
    L score = before;
    T* const b = block.dual + i * kLanes;
    alignas(64) T s[kLanes], target[kLanes], low[kLanes], high[kLanes], inverse[kLanes];
    limits.target.store(target);
    limits.low.store(low);
    limits.high.store(high);
    curved.store(inverse);
    score.store(s);
    L change = L::all(0);
    for (; moves != 0; moves &= moves - 1) {
        const int k = std::countr_zero(moves);
        const T wanted = b[k] + (target[k] - 2 * s[k]) * inverse[k];
        const T moved = std::min(std::max(wanted, low[k]), high[k]);
        const L column = L::load(block.inside[k]) * (moved - b[k]);
        b[k] = moved;
        score = score + column * block.squared[i];
        score.store(s);
        change = change + column;
    }
    return change;
}

// One step on all active variables of a row. Returns those that stay active. Scores and weights are
// reached in one place each: their loops are inlined, and a second copy of them is slow to compile.
template <class T, class Rows>
TAGALONG_INLINE Mask step(const Rows& rows, BlockView<T>& block, std::size_t i, Mask mask,
                          const Lanes<T>& threshold, Lanes<T>& violation) {
    using L = Lanes<T>;
    const BoxBounds<T> limits(block, i);
    const L b = L::load(block.dual + i * kLanes);
    const L s = rows.score(i, block.weights);
    const L h = limits.target - (s + s);
    const auto active = L::from_bits(mask);
    const auto rests = resting(b, h, limits, threshold) & active;
    violation =
        larger(violation, choose<T>(active.without(rests), projected(b, h, limits), L::all(0)));
    const L curved = L::load(block.inverse) * block.row_inverse[i];
    const L moved = choose<T>(active, smaller(larger(b + h * curved, limits.low), limits.high), b);
    const auto moves = moved != b;
    if (moves.any()) {
        L change;
        if (block.coupled) {
            change = step_in_turn(block, i, limits, s, curved, moves.bits());
        } else {
            moved.store(block.dual + i * kLanes);
            change = (moved - b) * L::load(block.scale);
        }
        rows.add(i, change, block.weights);
    }
    return rests.any() ? static_cast<Mask>(mask & ~rests.bits()) : mask;
}

template <class T, class Rows>
TAGALONG_INLINE void visit_body(const Rows& rows, BlockView<T>& block) {
    using L = Lanes<T>;
    const L threshold = L::load(block.threshold);
    L violation = L::all(0);
    std::size_t kept = 0;
    for (std::size_t at = 0; at < block.count; ++at) {
        const std::uint32_t i = block.order[at];
        const Mask mask = block.active[i] & block.live;
        if (mask == 0) continue;
        // Rows come in random order: what the next two need is fetched meanwhile. The list is
        // overwritten behind this row only.
        if (at + 2 < block.count) rows.expect(block.order[at + 2]);
        if (at + 1 < block.count) {
            rows.expect(block.order[at + 1], block.weights);
            __builtin_prefetch(block.dual + block.order[at + 1] * kLanes);
        }
        const Mask left = step(rows, block, i, mask, threshold, violation);
        block.active[i] = left;
        block.order[kept] = i;
        kept += left != 0;
    }
    block.count = kept;
    violation.store(block.violation);
}

template <class T, class Rows>
TAGALONG_INLINE void check_body(const Rows& rows, BlockView<T>& block) {
    using L = Lanes<T>;
    constexpr std::size_t kChunk = 256;  // sums over more rows are kept in double
    const L threshold = L::load(block.threshold), none = L::all(0);
    L violation = none;
    std::fill_n(block.gap, kLanes, 0.0);
    std::fill_n(block.value, kLanes, 0.0);
    block.count = 0;
    for (std::size_t from = 0; from < block.rows; from += kChunk) {
        L gap = none, value = none;
        for (std::size_t i = from; i < std::min(block.rows, from + kChunk); ++i) {
            if (i + 1 < block.rows) rows.expect(i + 1, block.weights);
            const BoxBounds<T> limits(block, i);
            const L b = L::load(block.dual + i * kLanes);
            const L s = rows.score(i, block.weights);
            const L h = limits.target - (s + s);
            const auto known = L::from_bits(block.known[i]);
            violation = larger(violation, choose<T>(known, projected(b, h, limits), none));
            const L slack = limits.high * larger(h, none) + limits.low * smaller(h, none) - b * h;
            gap = gap + choose<T>(known, slack, none);
            value = value + b * (limits.target - s);
            const Mask mask = known.without(resting(b, h, limits, threshold)).bits() & block.live;
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
        if (!(Lanes<T>::load(b) != Lanes<T>::all(0)).any()) continue;
        alignas(64) double wide[kLanes];
        for (std::size_t k = 0; k < kLanes; ++k) wide[k] = static_cast<double>(b[k]);
        rows.add(i, Lanes<double>::load(wide), sums);
    }
}

template <class T>
TAGALONG_INLINE void take_body(AlignedVector<T>& sums, Changes<T>& out) {
    out.clear();
    for (std::size_t j = 0; j < sums.size() / kLanes; ++j) {
        if (j % Changes<T>::kPart == 0) out.start.push_back(out.feature.size());
        T* const line = sums.data() + j * kLanes;
        const auto changed = Lanes<T>::load(line) != Lanes<T>::all(0);
        if (!changed.any()) continue;
        out.feature.push_back(static_cast<std::uint32_t>(j));
        out.lanes.push_back(changed.bits());
        out.by.insert(out.by.end(), line, line + kLanes);
        std::fill_n(line, kLanes, T{0});
    }
    out.start.push_back(out.feature.size());
}

// For so many features at a time: r is loaded once for all of them, and their sums stay in registers.
template <std::size_t kCount, class T>
TAGALONG_INLINE void pull_some(const Changes<T>& changes, std::size_t at, const T* r, Mask bound,
                               T* weights) {
    using L = Lanes<T>;
    const std::uint32_t* const feature = changes.feature.data() + at;
    const T* const by = changes.by.data() + at * kLanes;
    unsigned lanes = 0;
    L sum[kCount];
    for (std::size_t j = 0; j < kCount; ++j) {
        lanes |= changes.lanes[at + j];
        sum[j] = L::load(weights + feature[j] * kLanes);
    }
    for (lanes &= bound; lanes != 0; lanes &= lanes - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(lanes));
        const L row = L::load(r + k * kLanes);
        for (std::size_t j = 0; j < kCount; ++j) sum[j] = sum[j] + row * by[j * kLanes + k];
    }
    for (std::size_t j = 0; j < kCount; ++j) sum[j].store(weights + feature[j] * kLanes);
}

template <class T>
TAGALONG_INLINE void pull_body(const Changes<T>& changes, std::size_t part, const T* r, Mask bound,
                               T* weights) {
    constexpr std::size_t kAtOnce = sizeof(T) == 4 ? 4 : 2;
    std::size_t at = changes.start[part];
    const std::size_t end = changes.start[part + 1];
    for (; at + kAtOnce <= end; at += kAtOnce) pull_some<kAtOnce>(changes, at, r, bound, weights);
    for (; at < end; ++at) pull_some<1>(changes, at, r, bound, weights);
}

// The changes of the dual variables since `before`, times their rows.
template <class T, class Rows>
TAGALONG_INLINE void add_changes_body(const Rows& rows, const std::uint32_t* which,
                                      std::size_t count, const T* before, const T* dual, T* sums) {
    using L = Lanes<T>;
    for (std::size_t at = 0; at < count; ++at) {
        const L change = L::load(dual + which[at] * kLanes) - L::load(before + at * kLanes);
        if ((change != L::all(0)).any()) rows.add(which[at], change, sums);
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

TAGALONG_LANE_CLONES void visit(const DenseRows<float>& rows, LabelView<float>& label) {
    label_loops::visit_body(rows, label);
}
TAGALONG_LANE_CLONES void visit(const DenseRows<double>& rows, LabelView<double>& label) {
    label_loops::visit_body(rows, label);
}
TAGALONG_LANE_CLONES void check(const DenseRows<float>& rows, LabelView<float>& label) {
    label_loops::check_body(rows, label);
}
TAGALONG_LANE_CLONES void check(const DenseRows<double>& rows, LabelView<double>& label) {
    label_loops::check_body(rows, label);
}
TAGALONG_LANE_CLONES void collect(const DenseRows<float>& rows, const LabelView<float>& label,
                                  double* sums) {
    label_loops::collect_body(rows, label, sums);
}
TAGALONG_LANE_CLONES void collect(const DenseRows<double>& rows, const LabelView<double>& label,
                                  double* sums) {
    label_loops::collect_body(rows, label, sums);
}

TAGALONG_LANE_CLONES void take_changes(AlignedVector<float>& sums, Changes<float>& out) {
    take_body(sums, out);
}
TAGALONG_LANE_CLONES void take_changes(AlignedVector<double>& sums, Changes<double>& out) {
    take_body(sums, out);
}

TAGALONG_LANE_CLONES void pull(const Changes<float>& changes, std::size_t part, const float* r,
                               Mask bound, float* weights) {
    pull_body(changes, part, r, bound, weights);
}
TAGALONG_LANE_CLONES void pull(const Changes<double>& changes, std::size_t part, const double* r,
                               Mask bound, double* weights) {
    pull_body(changes, part, r, bound, weights);
}

TAGALONG_LANE_CLONES void add_changes(const NarrowRows<float>& rows, const std::uint32_t* which,
                                      std::size_t count, const float* before, const float* dual,
                                      float* sums) {
    add_changes_body(rows, which, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_changes(const WideRows<float>& rows, const std::uint32_t* which,
                                      std::size_t count, const float* before, const float* dual,
                                      float* sums) {
    add_changes_body(rows, which, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_changes(const DenseRows<float>& rows, const std::uint32_t* which,
                                      std::size_t count, const float* before, const float* dual,
                                      float* sums) {
    add_changes_body(rows, which, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_changes(const NarrowRows<double>& rows, const std::uint32_t* which,
                                      std::size_t count, const double* before, const double* dual,
                                      double* sums) {
    add_changes_body(rows, which, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_changes(const WideRows<double>& rows, const std::uint32_t* which,
                                      std::size_t count, const double* before, const double* dual,
                                      double* sums) {
    add_changes_body(rows, which, count, before, dual, sums);
}
TAGALONG_LANE_CLONES void add_changes(const DenseRows<double>& rows, const std::uint32_t* which,
                                      std::size_t count, const double* before, const double* dual,
                                      double* sums) {
    add_changes_body(rows, which, count, before, dual, sums);
}

}  // namespace tagalong::m3l
