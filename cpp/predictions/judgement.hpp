// The judgement of a learner on one item: the first places, and how far to trust them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tagalong {

// The number of places whose confidence is learnt.
inline constexpr std::size_t kJudgedPlaces = 10;

struct Place {
    std::int32_t label = -1;
    double score = 0;
    double probability = 0;
    double assured = 0;  // the highest precision that can be asked so that the label is still sure
    bool chosen = false;
};

struct Judgement {
    std::vector<Place> places;
    double whole = 0;        // the chance that the chosen labels are exactly the right ones
    std::int32_t known = 0;  // the features of the item that have weights
    bool in_runs = false;    // labels came in runs, so nothing is sure
};

}  // namespace tagalong
