// The labels of one round, sorted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tagalong {

struct RoundLabels {
    std::vector<int> relevant, unknown;

    void take(std::span<const std::int32_t> relevant_labels,
              std::span<const std::int32_t> unknown_labels) {
        relevant.assign(relevant_labels.begin(), relevant_labels.end());
        unknown.assign(unknown_labels.begin(), unknown_labels.end());
        std::sort(relevant.begin(), relevant.end());
        std::sort(unknown.begin(), unknown.end());
    }
    // The number of labels that a model needs to have all of these.
    std::size_t needed() const {
        const int last = std::max(relevant.empty() ? -1 : relevant.back(),
                                  unknown.empty() ? -1 : unknown.back());
        return static_cast<std::size_t>(last + 1);
    }
};

}  // namespace tagalong
