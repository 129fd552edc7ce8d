// The linear solver: maximises the dual objective of m3l/problem.hpp over explicit feature vectors,
// by dual coordinate ascent (P4's linear algorithm, with z_k updated for every label k that the
// prior couples). The results are the dual variables and the weights z of the LinearSolution.
//
// On sparse rows, labels are solved in blocks of sixteen (m3l/block.hpp); on dense rows, one by one
// (m3l/dense_label.hpp). If the prior does not couple labels, the blocks or labels are independent
// and run in parallel (m3l/independent_labels.hpp). Otherwise they are improved in turn
// (m3l/sweeps.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block_assignment.hpp"
#include "m3l/problem.hpp"
#include "m3l/rows.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

struct LinearSettings {
    double tolerance = 1e-3;
    int max_passes = 1000;
    int threads = 1;
    std::uint64_t seed = 0;
    bool warm_start = false;  // whether solution.dual is the starting point
};

template <class T>
struct LinearSolution {
    // position[l] is the position of label l in the blocks: see block_positions().
    std::vector<std::int32_t> position;
    // b, (blocks, rows, lanes) row-major.
    AlignedVector<T> dual;
    // The columns that occur, ascending, and z: one row per such column, one number per label. The
    // constant feature is the last.
    std::vector<std::int32_t> features;
    std::vector<T> weights;
    SolutionStatus status;
    // The largest number of passes of a block or label; if labels are coupled, the average over
    // blocks or labels.
    std::int64_t passes = 0;
    bool converged = false;
};

template <class T>
void solve_linear(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings,
                  SolverProgress& progress, LinearSolution<T>& solution);

}  // namespace tagalong::m3l
