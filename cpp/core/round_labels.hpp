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
        std::size_t count = 0;
        for (const auto* labels : {&relevant, &unknown})
            if (!labels->empty())
                count = std::max(count, static_cast<std::size_t>(labels->back()) + 1);
        return count;
    }
};

}  // namespace tagalong
