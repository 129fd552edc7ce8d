// How much an answer counts when confidence is learnt.
#pragma once

namespace tagalong {

struct Evidence {
    double weight = 1;      // less than 1 for an answer that follows from the one before
    double stands_for = 1;  // an answer of a random sample stands for the items that were not asked
};

}  // namespace tagalong
