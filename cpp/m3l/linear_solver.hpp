// The linear solver: maximises the dual objective of m3l/problem.hpp over explicit feature vectors.
//
// On sparse rows labels are solved in blocks of sixteen (m3l/block.hpp), on dense rows each by itself
// (m3l/label.hpp). Without coupling these are independent and run several at a time
// (m3l/separate_labels.hpp). With a prior that couples labels they take turns (m3l/turns.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block_places.hpp"
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
    // place[l] is where label l is: see block_places().
    std::vector<std::int32_t> place;
    // b: blocks, rows, lanes.
    AlignedVector<T> dual;
    // z: a row for each feature that occurs, in the order of columns; a number a label.
    std::vector<std::int32_t> features;
    std::vector<T> weights;
    Standing standing;
    std::int64_t passes =
        0;  // the most that a block or label took, or over all blocks where they are coupled
    bool converged = false;
};

template <class T>
void solve_linear(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings,
                  SolverProgress& watch, LinearSolution<T>& solution);

}  // namespace tagalong::m3l
