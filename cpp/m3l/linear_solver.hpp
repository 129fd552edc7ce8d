// The linear solver: maximises the dual objective of m3l/problem.hpp over explicit feature vectors,
// by dual coordinate ascent (P4's linear algorithm, with z_k updated for every label k that the
// prior couples). The results are the dual variables and the weights z of the LinearSolution.
//
// On sparse rows, labels are solved in blocks of sixteen (m3l/block.hpp); on dense rows, one by one
// (m3l/dense_label.hpp). If the prior does not couple labels, the blocks or labels are independent
// and run in parallel (m3l/independent_labels.hpp). Otherwise they are improved in turn
// (m3l/sweeps.hpp).
//
// Two hooks serve solvers that divide a problem between machines. A range of blocks solves these
// blocks exactly as the whole problem would. An anchor z0, weights that stay fixed, makes the
// derivative h_il = t_il - 2 (z0_l + z_l).x_i, where z is computed from the rows at hand: they are
// improved as if other rows contributed z0 to the scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block_assignment.hpp"
#include "m3l/cg_schedule.hpp"
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
    CgSchedule schedule;
    // The blocks to solve; only labels that are not coupled can be solved in parts.
    std::size_t first_block = 0, last_block = std::numeric_limits<std::size_t>::max();
};

// Weights that stay fixed: one row per column of the matrix, then one for the constant feature if
// there is one; one number per label. Empty for zeros.
template <class T>
using FixedWeights = std::span<const T>;

template <class T>
struct LinearSolution {
    // position[l] is the position of label l in the blocks: see block_positions().
    std::vector<std::int32_t> position;
    // b, (blocks, rows, lanes) row-major; only the blocks of the settings' range.
    AlignedVector<T> dual;
    // The columns that occur, ascending, and z: one row per such column, one number per label. The
    // constant feature is the last.
    std::vector<std::int32_t> features;
    std::vector<T> weights;
    SolutionStatus status;
    // The status of each part that was solved independently: a block, or a label on dense rows, in
    // the order of positions. `status` combines them.
    std::vector<SolutionStatus> part_status;
    // The largest number of passes of a block or label; if labels are coupled, the average over
    // blocks or labels.
    std::int64_t passes = 0;
    bool converged = false;
};

template <class T>
void solve_linear(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings,
                  SolverProgress& progress, LinearSolution<T>& solution,
                  FixedWeights<T> anchor = {});

// The status of the solution's dual variables (a warm start) if the weights are the given ones:
// those of more rows than these. Summed over all rows it is the status of the whole problem.
template <class T>
SolutionStatus evaluate_linear(const Rows<T>& rows, const Problem& problem,
                               const LinearSettings& settings, FixedWeights<T> weights,
                               LinearSolution<T>& solution);

}  // namespace tagalong::m3l
