// What a list of labels costs, once the relevant ones are known (P3). Labels of unknown relevance
// count nowhere.
#pragma once

#include <cstdint>
#include <span>

#include "partial/game.hpp"

namespace tagalong {

struct ListLosses {
    double slots = 0;    // a |Y \ shown| + (1 - a) sum over the wrong ones of c(place, size)
    double partial = 0;  // pairs in the wrong order among the shown + slots |Y \ shown|
};

// `relevance(label)` is 1, 0, or -1 where it is unknown. `slots`: how many could have been shown.
template <class Relevance>
ListLosses list_losses(const Game& game, std::span<const std::int32_t> shown, std::size_t relevant,
                       std::size_t slots, Relevance&& relevance) {
    ListLosses out;
    std::size_t hits = 0, wrong = 0;
    for (std::size_t j = 0; j < shown.size(); ++j) {
        const int found = relevance(shown[j]);
        if (found == 1) {
            ++hits;
            out.partial += static_cast<double>(wrong);
        } else if (found == 0) {
            ++wrong;
            out.slots += game.wrong(j + 1, shown.size());
        }
    }
    const double missed = static_cast<double>(relevant - hits);
    out.slots += game.config().miss_weight * missed;
    out.partial += static_cast<double>(slots) * missed;
    return out;
}

}  // namespace tagalong
