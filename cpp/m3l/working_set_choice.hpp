// Which variables of a label the next steps are made on: half of them at most those of the last set that
// are between their bounds, as these are likely to move again; the others those that violate most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "m3l/kernel_label.hpp"

namespace tagalong::m3l {

inline constexpr std::size_t kWorkingSet =
    128;  // variables that steps are made on before others are told
inline constexpr float kLeastViolation =
    0.1f;  // of the label's, which a variable has that joins a set

// `rows` are those of the last set, and those of the new one, ascending, on return.
inline void choose_working_set(const KernelLabel& label, std::vector<std::int32_t>& rows) {
    std::erase_if(
        rows, [&](std::int32_t i) { return !label.between_bounds(static_cast<std::size_t>(i)); });
    if (rows.size() > kWorkingSet / 2) rows.resize(kWorkingSet / 2);
    const std::vector<std::int32_t> kept = rows;
    const float least = kLeastViolation * static_cast<float>(label.violation);
    for (std::size_t i = 0; i < label.b.size(); ++i) {
        if (!(label.violation_at(i) > least)) continue;
        const auto row = static_cast<std::int32_t>(i);
        if (std::find(kept.begin(), kept.end(), row) == kept.end()) rows.push_back(row);
    }
    if (rows.size() > kWorkingSet) {
        const auto worse = [&](std::int32_t a, std::int32_t b) {
            const float va = label.violation_at(static_cast<std::size_t>(a));
            const float vb = label.violation_at(static_cast<std::size_t>(b));
            return va != vb ? va > vb : a < b;
        };
        std::nth_element(rows.begin() + static_cast<std::ptrdiff_t>(kept.size()),
                         rows.begin() + static_cast<std::ptrdiff_t>(kWorkingSet - 1), rows.end(),
                         worse);
        rows.resize(kWorkingSet);
    }
    std::sort(rows.begin(), rows.end());
}

}  // namespace tagalong::m3l
