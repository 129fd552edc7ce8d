// The linear solver: labels in blocks of sixteen, sorted by how often they are relevant. Without
// coupling each block is solved by itself, several at a time; on dense rows each label is. With a prior
// that couples labels, blocks take turns: a block pulls through R what the others have changed since its
// last turn, improves its own variables, and leaves what it has changed to the next. Threads share the
// pulling then.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/problem.hpp"
#include "m3l/rows.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

struct LinearSettings {
    double tolerance = 1e-3;
    int most_passes = 1000;
    int threads = 1;
    std::uint64_t seed = 0;
    bool resume = false;  // whether the dual variables are a start
};

template <class T>
struct LinearSolution {
    // place[l] is where label l is: block place / kLanes, lane place % kLanes.
    std::vector<std::int32_t> place;
    // b: blocks, rows, lanes.
    AlignedVector<T> dual;
    // z: a row for each feature that occurs, in the order of columns; a number a label.
    std::vector<std::int32_t> features;
    std::vector<T> weights;
    Standing standing;
    std::int64_t passes = 0;  // the most that a block or label took, or over all blocks where they are coupled
    bool converged = false;
};

// Labels in the order of blocks: by how often they are relevant, the most frequent first; where the
// prior couples them, with those that they are most bound to.
std::vector<std::int32_t> block_places(const Problem& problem);

template <class T>
void solve_linear(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings, SolverProgress& watch,
                  LinearSolution<T>& solution);

}  // namespace tagalong::m3l
