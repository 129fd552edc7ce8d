// The losses of a list of labels, given the relevant labels (P3). Labels of unknown relevance are
// ignored.
#pragma once

#include <cstdint>
#include <span>

#include "partial/list_chooser.hpp"

namespace tagalong {

struct ListLosses {
    // l_{a,c} = a |Y \ shown| + (1 - a) sum over the shown irrelevant labels of c(slot, size).
    double slots = 0;
    // l_p-rank = pairs of shown labels in the wrong order + slots |Y \ shown|.
    double partial = 0;
};

// `relevance(label)` is 1, 0, or -1 if unknown. `slots` is the largest list size.
template <class Relevance>
ListLosses list_losses(const ListChooser& chooser, std::span<const std::int32_t> shown,
                       std::size_t relevant, std::size_t slots, Relevance&& relevance) {
    ListLosses out;
    std::size_t hits = 0, false_positives = 0;
    for (std::size_t j = 0; j < shown.size(); ++j) {
        const int known = relevance(shown[j]);
        if (known == 1) {
            ++hits;
            out.partial += static_cast<double>(false_positives);
        } else if (known == 0) {
            ++false_positives;
            out.slots += chooser.false_positive_cost(j + 1, shown.size());
        }
    }
    const double missed = static_cast<double>(relevant - hits);
    out.slots += chooser.config().miss_weight * missed;
    out.partial += static_cast<double>(slots) * missed;
    return out;
}

}  // namespace tagalong
