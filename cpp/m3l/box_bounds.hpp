// The box constraints and the linear terms of the variables of one row, one number per label of the
// block.
#pragma once

#include <cstddef>

#include "m3l/block_kernels.hpp"
#include "m3l/lanes.hpp"

namespace tagalong::m3l {

template <class T>
struct BoxBounds {
    Lanes<T> target, low, high;

    TAGALONG_INLINE BoxBounds(const BlockView<T>& block, std::size_t i) {
        using L = Lanes<T>;
        const auto relevant = L::from_bits(block.relevant[i]);
        const L zero = L::broadcast(0);
        L upper = L::load(block.bound_relevant), lower = zero - L::load(block.bound_irrelevant);
        if (block.row_weight) {
            upper = upper * block.row_weight[i];
            lower = lower * block.row_weight[i];
        }
        target = block.target ? L::load(block.target + i * kLanes)
                              : select<T>(relevant, L::load(block.target_relevant),
                                          L::load(block.target_irrelevant));
        high = select<T>(relevant, upper, zero);
        low = select<T>(relevant, zero, lower);
    }

    // The lanes whose variable is free: strictly between its bounds.
    TAGALONG_INLINE typename Lanes<T>::LaneMask strictly_inside(const Lanes<T>& dual) const {
        return (low < dual) & (dual < high);
    }
};

}  // namespace tagalong::m3l
