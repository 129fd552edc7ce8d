// Assigns the labels to blocks of sixteen and to lanes within each block.
#pragma once

#include <cstdint>
#include <vector>

#include "m3l/problem.hpp"

namespace tagalong::m3l {

// The position of each label: its block is position / kLanes, its lane is position % kLanes. Labels
// that are relevant for the most rows come first. If the prior couples labels, strongly coupled
// labels share a block.
std::vector<std::int32_t> block_positions(const Problem& problem);

}  // namespace tagalong::m3l
