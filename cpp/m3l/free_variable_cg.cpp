#include "m3l/free_variable_cg.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "m3l/box_bounds.hpp"

namespace tagalong::m3l {
namespace {

// Distance to a bound, relative to the distance between both bounds, that rounding errors can
// cause. A variable that is closer is set to the bound.
template <class T>
constexpr T kSnapDistance = 8 * std::numeric_limits<T>::epsilon();

template <class T, class Rows>
TAGALONG_INLINE void begin_body(const Rows& rows, const BlockView<T>& block, FreeVariables<T>& cg) {
    using L = Lanes<T>;
    const L zero = L::broadcast(0);
    cg.rows.assign(block.order, block.order + block.count);
    std::sort(cg.rows.begin(), cg.rows.end());
    cg.free.clear();
    cg.derivative.resize(block.count * kLanes);
    cg.dual_before.resize(block.count * kLanes);
    L squared = zero;
    std::size_t rows_kept = 0;
    for (const std::uint32_t i : cg.rows) {
        const BoxBounds<T> bounds(block, i);
        const L b = L::load(block.dual + i * kLanes);
        const auto free =
            bounds.strictly_inside(b) & L::from_bits(block.active[i] & block.unconverged);
        if (!free.any()) continue;
        const L s = rows.score(i, block.weights);
        const L h = select<T>(free, bounds.target - (s + s), zero);
        h.store(cg.derivative.data() + rows_kept * kLanes);
        b.store(cg.dual_before.data() + rows_kept * kLanes);
        cg.free.push_back(free.bits());
        cg.rows[rows_kept++] = i;
        squared = squared + h * h;
    }
    cg.rows.resize(rows_kept);
    cg.derivative.resize(rows_kept * kLanes);
    cg.direction.assign(cg.derivative.begin(), cg.derivative.end());
    cg.hessian_direction.resize(rows_kept * kLanes);
    cg.unconverged = block.unconverged;
    squared.store(cg.squared_gradient);
}

// Computes, per label, the curvature along the direction and the longest feasible step; and, per
// variable, the decrease of h per unit step.
template <class T, class Rows>
TAGALONG_INLINE void measure_direction_body(const Rows& rows, const BlockView<T>& block,
                                            FreeVariables<T>& cg, T* curvature, T* max_length) {
    using L = Lanes<T>;
    const L zero = L::broadcast(0), scale = L::load(block.scale);
    const std::size_t count = cg.rows.size();
    T* const weights = cg.weights.data();
    std::fill(cg.weights.begin(), cg.weights.end(), T{0});
    for (std::size_t at = 0; at < count; ++at) {
        if (at + 1 < count) rows.prefetch(cg.rows[at + 1], weights);
        const L direction = L::load(cg.direction.data() + at * kLanes);
        if ((direction != zero).any()) rows.add(cg.rows[at], direction * scale, weights);
    }
    L curvature_sum = zero, shortest = L::broadcast(std::numeric_limits<T>::max());
    for (std::size_t at = 0; at < count; ++at) {
        const std::uint32_t i = cg.rows[at];
        const L direction = L::load(cg.direction.data() + at * kLanes);
        const auto moves = direction != zero;
        if (!moves.any()) continue;
        if (at + 1 < count) rows.prefetch(cg.rows[at + 1], weights);
        const L s = rows.score(i, weights);
        const L hessian_direction = select<T>(L::from_bits(cg.free[at]), s + s, zero);
        hessian_direction.store(cg.hessian_direction.data() + at * kLanes);
        curvature_sum = curvature_sum + direction * hessian_direction;
        const BoxBounds<T> bounds(block, i);
        const L b = L::load(block.dual + i * kLanes);
        const L distance = select<T>(zero < direction, bounds.high - b, bounds.low - b);
        shortest = lane_min(shortest, select<T>(moves, distance / direction, shortest));
    }
    curvature_sum.store(curvature);
    shortest.store(max_length);
}

// Moves each label by its step length. Writes the squared norm and the largest absolute value of
// the new gradient, per label.
template <class T>
TAGALONG_INLINE void step_body(const BlockView<T>& block, FreeVariables<T>& cg, const T* length,
                               T* squared, T* largest) {
    using L = Lanes<T>;
    const L zero = L::broadcast(0), step_length = L::load(length);
    L sum = zero, largest_h = zero;
    for (std::size_t at = 0; at < cg.rows.size(); ++at) {
        const std::uint32_t i = cg.rows[at];
        const L direction = L::load(cg.direction.data() + at * kLanes);
        L h = L::load(cg.derivative.data() + at * kLanes);
        if ((direction != zero).any()) {
            const BoxBounds<T> bounds(block, i);
            const auto moves = direction != zero;
            const L b_before = L::load(block.dual + i * kLanes),
                    snap = (bounds.high - bounds.low) * kSnapDistance<T>;
            L b = b_before + step_length * direction;
            b = select<T>(b < bounds.low + snap, bounds.low, b);
            b = select<T>(bounds.high - snap < b, bounds.high, b);
            b = select<T>(moves, b, b_before);
            b.store(block.dual + i * kLanes);
            const auto free = L::from_bits(cg.free[at]) & bounds.strictly_inside(b);
            h = select<T>(
                free, h - step_length * L::load(cg.hessian_direction.data() + at * kLanes), zero);
            h.store(cg.derivative.data() + at * kLanes);
            cg.free[at] = free.bits();
        }
        sum = sum + h * h;
        largest_h = lane_max(largest_h, lane_max(h, zero - h));
    }
    sum.store(squared);
    largest_h.store(largest);
}

// The next direction of unconverged labels: the gradient plus beta times the last direction.
template <class T>
TAGALONG_INLINE void change_direction_body(FreeVariables<T>& cg, const T* beta) {
    using L = Lanes<T>;
    const L factor = L::load(beta), zero = L::broadcast(0);
    for (std::size_t at = 0; at < cg.rows.size(); ++at) {
        T* const direction = cg.direction.data() + at * kLanes;
        const L next = L::load(cg.derivative.data() + at * kLanes) + factor * L::load(direction);
        select<T>(L::from_bits(cg.free[at] & cg.unconverged), next, zero).store(direction);
    }
}

// These do not depend on the storage of the rows: one copy per type is enough, and compiles faster.
TAGALONG_LANE_CLONES void step(const BlockView<float>& block, FreeVariables<float>& cg,
                               const float* length, float* squared, float* largest) {
    step_body(block, cg, length, squared, largest);
}
TAGALONG_LANE_CLONES void step(const BlockView<double>& block, FreeVariables<double>& cg,
                               const double* length, double* squared, double* largest) {
    step_body(block, cg, length, squared, largest);
}
TAGALONG_LANE_CLONES void change_direction(FreeVariables<float>& cg, const float* beta) {
    change_direction_body(cg, beta);
}
TAGALONG_LANE_CLONES void change_direction(FreeVariables<double>& cg, const double* beta) {
    change_direction_body(cg, beta);
}

// Adds the change of the dual variables to the block's weights.
template <class T, class Rows>
TAGALONG_INLINE void update_weights_body(const Rows& rows, BlockView<T>& block,
                                         const FreeVariables<T>& cg) {
    using L = Lanes<T>;
    const L scale = L::load(block.scale);
    for (std::size_t at = 0; at < cg.rows.size(); ++at) {
        const L change = L::load(block.dual + cg.rows[at] * kLanes) -
                         L::load(cg.dual_before.data() + at * kLanes);
        rows.add(cg.rows[at], change * scale, block.weights);
    }
}

template <class T, class Rows>
TAGALONG_INLINE int improve_body(const Rows& rows, BlockView<T>& block, FreeVariables<T>& cg,
                                 T target_violation, int max_steps, SolverProgress& progress) {
    begin_body(rows, block, cg);
    int steps = 0;
    while (cg.unconverged != 0 && steps < max_steps &&
           !progress.stop.load(std::memory_order_relaxed)) {
        alignas(64) T curvature[kLanes], max_length[kLanes], length[kLanes], squared[kLanes],
            largest[kLanes], beta[kLanes];
        measure_direction_body(rows, block, cg, curvature, max_length);
        for (std::size_t k = 0; k < kLanes; ++k) {
            const bool moves = cg.squared_gradient[k] > 0 && (cg.unconverged >> k & 1);
            length[k] = !moves ? T{0}
                        : curvature[k] > 0
                            ? std::min(cg.squared_gradient[k] / curvature[k], max_length[k])
                            : max_length[k];
        }
        step(block, cg, length, squared, largest);
        for (std::size_t k = 0; k < kLanes; ++k) {
            const bool keeps_direction = length[k] < max_length[k] && cg.squared_gradient[k] > 0;
            beta[k] = keeps_direction ? squared[k] / cg.squared_gradient[k] : T{0};
            if (largest[k] < target_violation) cg.unconverged &= static_cast<Mask>(~(1u << k));
        }
        std::copy_n(squared, kLanes, cg.squared_gradient);
        change_direction(cg, beta);
        ++steps;
        progress.passes.fetch_add(1, std::memory_order_relaxed);
    }
    update_weights_body(rows, block, cg);
    return steps;
}

TAGALONG_LANE_CLONES int improve(const NarrowRows<float>& rows, BlockView<float>& block,
                                 FreeVariables<float>& cg, float target_violation, int max_steps,
                                 SolverProgress& progress) {
    return improve_body(rows, block, cg, target_violation, max_steps, progress);
}
TAGALONG_LANE_CLONES int improve(const WideRows<float>& rows, BlockView<float>& block,
                                 FreeVariables<float>& cg, float target_violation, int max_steps,
                                 SolverProgress& progress) {
    return improve_body(rows, block, cg, target_violation, max_steps, progress);
}
TAGALONG_LANE_CLONES int improve(const NarrowRows<double>& rows, BlockView<double>& block,
                                 FreeVariables<double>& cg, double target_violation, int max_steps,
                                 SolverProgress& progress) {
    return improve_body(rows, block, cg, target_violation, max_steps, progress);
}
TAGALONG_LANE_CLONES int improve(const WideRows<double>& rows, BlockView<double>& block,
                                 FreeVariables<double>& cg, double target_violation, int max_steps,
                                 SolverProgress& progress) {
    return improve_body(rows, block, cg, target_violation, max_steps, progress);
}
// Labels on dense rows have their own solver, m3l/dense_label.hpp.
template <class T>
int improve(const DenseRows<T>&, BlockView<T>&, FreeVariables<T>&, T, int, SolverProgress&) {
    return 0;
}

}  // namespace

template <class T>
int improve_free_variables(const Rows<T>& rows, BlockView<T>& block, FreeVariables<T>& cg,
                           double tolerance, int max_steps, SolverProgress& progress) {
    if (block.count > FreeVariables<T>::kMaxRows || rows.dense()) return 0;
    cg.weights.resize(rows.features() * kLanes);
    return std::visit(
        [&](const auto& each) {
            return improve(each, block, cg, static_cast<T>(tolerance), max_steps, progress);
        },
        rows.storage());
}

template int improve_free_variables(const Rows<float>&, BlockView<float>&, FreeVariables<float>&,
                                    double, int, SolverProgress&);
template int improve_free_variables(const Rows<double>&, BlockView<double>&, FreeVariables<double>&,
                                    double, int, SolverProgress&);

}  // namespace tagalong::m3l
