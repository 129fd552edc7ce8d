// Selects the working set of a label. At most half of it are free variables of the last working
// set, which are likely to move again. The others are the variables with the largest violations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "m3l/kernel_label.hpp"

namespace tagalong::m3l {

inline constexpr std::size_t kWorkingSetSize = 128;  // largest number of variables in a working set
// Share of the label's violation that a variable must exceed to join the working set.
inline constexpr float kLeastViolation = 0.1f;

// On entry `rows` is the last working set; on return it is the new one, ascending.
inline void select_working_set(const KernelLabel& label, std::vector<std::int32_t>& rows) {
    std::erase_if(
        rows, [&](std::int32_t i) { return !label.between_bounds(static_cast<std::size_t>(i)); });
    if (rows.size() > kWorkingSetSize / 2) rows.resize(kWorkingSetSize / 2);
    const std::vector<std::int32_t> kept = rows;
    const float least = kLeastViolation * static_cast<float>(label.violation);
    for (std::size_t i = 0; i < label.b.size(); ++i) {
        if (!(label.violation_at(i) > least)) continue;
        const auto row = static_cast<std::int32_t>(i);
        if (std::find(kept.begin(), kept.end(), row) == kept.end()) rows.push_back(row);
    }
    if (rows.size() > kWorkingSetSize) {
        const auto worse = [&](std::int32_t a, std::int32_t b) {
            const float va = label.violation_at(static_cast<std::size_t>(a));
            const float vb = label.violation_at(static_cast<std::size_t>(b));
            return va != vb ? va > vb : a < b;
        };
        std::nth_element(rows.begin() + static_cast<std::ptrdiff_t>(kept.size()),
                         rows.begin() + static_cast<std::ptrdiff_t>(kWorkingSetSize - 1),
                         rows.end(), worse);
        rows.resize(kWorkingSetSize);
    }
    std::sort(rows.begin(), rows.end());
}

}  // namespace tagalong::m3l
