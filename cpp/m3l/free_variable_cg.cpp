#include "m3l/free_variable_cg.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "m3l/box_bounds.hpp"

namespace tagalong::m3l {
namespace {

// As near to a limit, in relation to the room between both, as rounding errors reach: there it is at it.
template <class T>
constexpr T kNear = 8 * std::numeric_limits<T>::epsilon();

template <class T, class Rows>
TAGALONG_INLINE void open_body(const Rows& rows, const BlockView<T>& block,
                               FreeVariables<T>& face) {
    using L = Lanes<T>;
    const L none = L::all(0);
    face.rows.assign(block.order, block.order + block.count);
    std::sort(face.rows.begin(), face.rows.end());
    face.free.clear();
    face.derivative.resize(block.count * kLanes);
    face.before.resize(block.count * kLanes);
    L squared = none;
    std::size_t kept = 0;
    for (const std::uint32_t i : face.rows) {
        const BoxBounds<T> limits(block, i);
        const L b = L::load(block.dual + i * kLanes);
        const auto free = limits.inside(b) & L::from_bits(block.active[i] & block.live);
        if (!free.any()) continue;
        const L s = rows.score(i, block.weights);
        const L h = choose<T>(free, limits.target - (s + s), none);
        h.store(face.derivative.data() + kept * kLanes);
        b.store(face.before.data() + kept * kLanes);
        face.free.push_back(free.bits());
        face.rows[kept++] = i;
        squared = squared + h * h;
    }
    face.rows.resize(kept);
    face.derivative.resize(kept * kLanes);
    face.way.assign(face.derivative.begin(), face.derivative.end());
    face.turned.resize(kept * kLanes);
    face.live = block.live;
    squared.store(face.squared);
}

// What a step of one along the direction takes from h; its curvature, and the steps that the limits
// leave room for, a number a label.
template <class T, class Rows>
TAGALONG_INLINE void turn_body(const Rows& rows, const BlockView<T>& block, FreeVariables<T>& face,
                               T* curvature, T* room) {
    using L = Lanes<T>;
    const L none = L::all(0), scale = L::load(block.scale);
    const std::size_t count = face.rows.size();
    T* const weights = face.weights.data();
    std::fill(face.weights.begin(), face.weights.end(), T{0});
    for (std::size_t at = 0; at < count; ++at) {
        if (at + 1 < count) rows.expect(face.rows[at + 1], weights);
        const L way = L::load(face.way.data() + at * kLanes);
        if ((way != none).any()) rows.add(face.rows[at], way * scale, weights);
    }
    L curved = none, least = L::all(std::numeric_limits<T>::max());
    for (std::size_t at = 0; at < count; ++at) {
        const std::uint32_t i = face.rows[at];
        const L way = L::load(face.way.data() + at * kLanes);
        const auto moves = way != none;
        if (!moves.any()) continue;
        if (at + 1 < count) rows.expect(face.rows[at + 1], weights);
        const L s = rows.score(i, weights);
        const L turned = choose<T>(L::from_bits(face.free[at]), s + s, none);
        turned.store(face.turned.data() + at * kLanes);
        curved = curved + way * turned;
        const BoxBounds<T> limits(block, i);
        const L b = L::load(block.dual + i * kLanes);
        const L left = choose<T>(none < way, limits.high - b, limits.low - b);
        least = smaller(least, choose<T>(moves, left / way, least));
    }
    curved.store(curvature);
    least.store(room);
}

// Steps of the lengths given. Writes the squares and the largest of what is left of h.
template <class T>
TAGALONG_INLINE void step_body(const BlockView<T>& block, FreeVariables<T>& face, const T* length,
                               T* squared, T* largest) {
    using L = Lanes<T>;
    const L none = L::all(0), by = L::load(length);
    L sum = none, most = none;
    for (std::size_t at = 0; at < face.rows.size(); ++at) {
        const std::uint32_t i = face.rows[at];
        const L way = L::load(face.way.data() + at * kLanes);
        L h = L::load(face.derivative.data() + at * kLanes);
        if ((way != none).any()) {
            const BoxBounds<T> limits(block, i);
            const auto moves = way != none;
            const L start = L::load(block.dual + i * kLanes),
                    near = (limits.high - limits.low) * kNear<T>;
            L b = start + by * way;
            b = choose<T>(b < limits.low + near, limits.low, b);
            b = choose<T>(limits.high - near < b, limits.high, b);
            b = choose<T>(moves, b, start);
            b.store(block.dual + i * kLanes);
            const auto free = L::from_bits(face.free[at]) & limits.inside(b);
            h = choose<T>(free, h - by * L::load(face.turned.data() + at * kLanes), none);
            h.store(face.derivative.data() + at * kLanes);
            face.free[at] = free.bits();
        }
        sum = sum + h * h;
        most = larger(most, larger(h, none - h));
    }
    sum.store(squared);
    most.store(largest);
}

// The next direction of live labels: h and so much of the last direction.
template <class T>
TAGALONG_INLINE void redirect_body(FreeVariables<T>& face, const T* share) {
    using L = Lanes<T>;
    const L keep = L::load(share), none = L::all(0);
    for (std::size_t at = 0; at < face.rows.size(); ++at) {
        T* const way = face.way.data() + at * kLanes;
        const L next = L::load(face.derivative.data() + at * kLanes) + keep * L::load(way);
        choose<T>(L::from_bits(face.free[at] & face.live), next, none).store(way);
    }
}

// These do not depend on how rows are stored: one copy per type is enough, and quicker to compile.
TAGALONG_LANE_CLONES void step(const BlockView<float>& block, FreeVariables<float>& face,
                               const float* length, float* squared, float* largest) {
    step_body(block, face, length, squared, largest);
}
TAGALONG_LANE_CLONES void step(const BlockView<double>& block, FreeVariables<double>& face,
                               const double* length, double* squared, double* largest) {
    step_body(block, face, length, squared, largest);
}
TAGALONG_LANE_CLONES void redirect(FreeVariables<float>& face, const float* share) {
    redirect_body(face, share);
}
TAGALONG_LANE_CLONES void redirect(FreeVariables<double>& face, const double* share) {
    redirect_body(face, share);
}

// What the steps have changed, for the block's weights.
template <class T, class Rows>
TAGALONG_INLINE void close_body(const Rows& rows, BlockView<T>& block,
                                const FreeVariables<T>& face) {
    using L = Lanes<T>;
    const L scale = L::load(block.scale);
    for (std::size_t at = 0; at < face.rows.size(); ++at) {
        const L change = L::load(block.dual + face.rows[at] * kLanes) -
                         L::load(face.before.data() + at * kLanes);
        rows.add(face.rows[at], change * scale, block.weights);
    }
}

template <class T, class Rows>
TAGALONG_INLINE int improve_body(const Rows& rows, BlockView<T>& block, FreeVariables<T>& face,
                                 T enough, int most, SolverProgress& watch) {
    open_body(rows, block, face);
    int steps = 0;
    while (face.live != 0 && steps < most && !watch.stop.load(std::memory_order_relaxed)) {
        alignas(64) T curvature[kLanes], room[kLanes], length[kLanes], squared[kLanes],
            largest[kLanes], share[kLanes];
        turn_body(rows, block, face, curvature, room);
        for (std::size_t k = 0; k < kLanes; ++k) {
            const bool moves = face.squared[k] > 0 && (face.live >> k & 1);
            length[k] = !moves             ? T{0}
                        : curvature[k] > 0 ? std::min(face.squared[k] / curvature[k], room[k])
                                           : room[k];
        }
        step(block, face, length, squared, largest);
        for (std::size_t k = 0; k < kLanes; ++k) {
            const bool goes_on = length[k] < room[k] && face.squared[k] > 0;
            share[k] = goes_on ? squared[k] / face.squared[k] : T{0};
            if (largest[k] < enough) face.live &= static_cast<Mask>(~(1u << k));
        }
        std::copy_n(squared, kLanes, face.squared);
        redirect(face, share);
        ++steps;
        watch.passes.fetch_add(1, std::memory_order_relaxed);
    }
    close_body(rows, block, face);
    return steps;
}

TAGALONG_LANE_CLONES int improve(const NarrowRows<float>& rows, BlockView<float>& block,
                                 FreeVariables<float>& face, float enough, int most,
                                 SolverProgress& watch) {
    return improve_body(rows, block, face, enough, most, watch);
}
TAGALONG_LANE_CLONES int improve(const WideRows<float>& rows, BlockView<float>& block,
                                 FreeVariables<float>& face, float enough, int most,
                                 SolverProgress& watch) {
    return improve_body(rows, block, face, enough, most, watch);
}
TAGALONG_LANE_CLONES int improve(const NarrowRows<double>& rows, BlockView<double>& block,
                                 FreeVariables<double>& face, double enough, int most,
                                 SolverProgress& watch) {
    return improve_body(rows, block, face, enough, most, watch);
}
TAGALONG_LANE_CLONES int improve(const WideRows<double>& rows, BlockView<double>& block,
                                 FreeVariables<double>& face, double enough, int most,
                                 SolverProgress& watch) {
    return improve_body(rows, block, face, enough, most, watch);
}
// Labels on dense rows are solved by themselves, in passes over the few variables that are left.
template <class T>
int improve(const DenseRows<T>&, BlockView<T>&, FreeVariables<T>&, T, int, SolverProgress&) {
    return 0;
}

}  // namespace

template <class T>
int improve_free_variables(const Rows<T>& rows, BlockView<T>& block, FreeVariables<T>& face,
                           double tolerance, int most, SolverProgress& watch) {
    if (block.count > FreeVariables<T>::kMostRows || rows.dense()) return 0;
    face.weights.resize(rows.features() * kLanes);
    return std::visit(
        [&](const auto& each) {
            return improve(each, block, face, static_cast<T>(tolerance), most, watch);
        },
        rows.any());
}

template int improve_free_variables(const Rows<float>&, BlockView<float>&, FreeVariables<float>&,
                                    double, int, SolverProgress&);
template int improve_free_variables(const Rows<double>&, BlockView<double>&, FreeVariables<double>&,
                                    double, int, SolverProgress&);

}  // namespace tagalong::m3l
