// The limits and the linear term of the variables of a row, a number a label of the block.
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
        const auto yes = L::from_bits(block.yes[i]);
        const L none = L::all(0);
        L up = L::load(block.bound_yes), down = none - L::load(block.bound_no);
        if (block.row_weight) {
            up = up * block.row_weight[i];
            down = down * block.row_weight[i];
        }
        target = block.target ? L::load(block.target + i * kLanes)
                              : choose<T>(yes, L::load(block.target_yes), L::load(block.target_no));
        high = choose<T>(yes, up, none);
        low = choose<T>(yes, none, down);
    }

    // Where variables are neither at one limit nor at the other.
    TAGALONG_INLINE typename Lanes<T>::Which inside(const Lanes<T>& dual) const {
        return (low < dual) & (dual < high);
    }
};

}  // namespace tagalong::m3l
