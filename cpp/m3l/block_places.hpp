// Which labels share a block of sixteen, and where in it each is.
#pragma once

#include <cstdint>
#include <vector>

#include "m3l/problem.hpp"

namespace tagalong::m3l {

// The place of each label: block place / kLanes, lane place % kLanes. Labels that are relevant most often
// come first. Where the prior couples labels, a block has those that are most bound to each other.
std::vector<std::int32_t> block_places(const Problem& problem);

}  // namespace tagalong::m3l
