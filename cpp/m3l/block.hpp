// Dual coordinate ascent for up to sixteen labels side by side: maximises the objective of
// m3l/problem.hpp over the variables of these labels. The steps are those of P4's linear solver
// (Eqs. 37 to 40; as printed, Eq. 40 updates only z_l),
//
//     b_il <- clip(b_il + h_il / (4 R_ll |x_i|^2)),  z_k += 2 R_kl (change of b_il) x_i.
//
// A row is visited as long as any label has an active variable in it (shrinking). A label drops out
// when the violation of its active variables is below the tolerance; then all variables are
// checked. Besides passes of coordinate steps over all labels, a block uses
// single_label_descent.hpp if few labels are active per row, and free_variable_cg.hpp if coordinate
// steps converge slowly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block_kernels.hpp"
#include "m3l/cg_schedule.hpp"
#include "m3l/free_variable_cg.hpp"
#include "m3l/problem.hpp"
#include "m3l/shuffle.hpp"
#include "m3l/single_label_descent.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

// 1 / value. For value 0, a number large enough to reach any bound in one step, and finite, so that
// a zero derivative gives a zero step.
inline double bounded_inverse(double value) {
    constexpr double kLargest = 1e15;
    return value > 0 ? std::min(1 / value, kLargest) : kLargest;
}

// Constants of the rows that all blocks share, in the type of the arithmetic.
template <class T>
struct RowConstants {
    std::vector<T> weight;  // factor of C; empty if all are 1
    std::vector<T> squared_norm, inverse_squared_norm;

    RowConstants(const Rows<T>& rows, const Problem& problem);
};

// Working memory of one block; blocks that are solved one after the other share it.
template <class T>
struct BlockWorkspace {
    AlignedVector<T> weights;    // z, kLanes numbers per feature
    AlignedVector<double> sums;  // v, kLanes numbers per feature
    // For improve_coupled(): the rows with an active variable, and their variables before the
    // steps.
    std::vector<std::uint32_t> rows;
    AlignedVector<T> before;
    FreeVariables<T> cg;
    SingleLabelState<T> single_label;

    explicit BlockWorkspace(std::size_t features)
        : weights(features * kLanes, T{0}), sums(features * kLanes, 0.0) {}
};

template <class T>
class Block {
  public:
    // `labels` holds label numbers. `dual` has kLanes numbers per row: the starting point, and the
    // result. `anchor` holds weights z0 that stay fixed, one number per label of the problem for
    // each column; empty for zeros.
    Block(const Rows<T>& rows, const RowConstants<T>& row_constants, const Problem& problem,
          std::span<const std::int32_t> labels, T* dual, BlockWorkspace<T>& workspace,
          std::span<const T> anchor, const CgSchedule& schedule = {});

    // Stores the weights in the given array instead of the workspace.
    void use_weights(T* weights) { view_.weights = weights; }
    // Sets the weights in the workspace to given ones, one number per label of the problem for
    // each column.
    void set_weights(std::span<const T> by_column, std::size_t labels);
    // Makes every variable of known relevance active.
    void activate_all();
    // Treats all labels as irrelevant for every row.
    void treat_as_irrelevant();

    // Runs until the violation of the active variables of each label is below the tolerance or
    // `max_passes` is reached. A step of conjugate gradients counts as a pass. Returns the number
    // of passes.
    int improve(double tolerance, int max_passes, Shuffle& shuffle, SolverProgress& progress);
    // For labels that the prior couples with other blocks. Runs until the violation of the active
    // variables is below the tolerance or `max_passes` is reached, and adds the change of v to `v`.
    // Returns the violation that the first pass found.
    double improve_coupled(double tolerance, int max_passes, Shuffle& shuffle,
                           SolverProgress& progress, T* v);
    // Recomputes the weights from the dual variables, which removes accumulated rounding errors.
    // Only for labels that the prior does not couple.
    void recompute_weights();
    // Computes v_l = sum_i b_il x_i into the workspace's sums.
    void collect_sums();
    // Evaluates all variables. Sets the active set anew, and marks labels whose violation is below
    // the tolerance as converged.
    SolutionStatus check(double tolerance);
    // Solves the problem of the block's labels. Requires that the prior couples them with no other
    // block. Returns the number of passes.
    int solve(double tolerance, int max_passes, Shuffle& shuffle, SolverProgress& progress,
              SolutionStatus& status);

    std::span<const std::int32_t> labels() const { return labels_; }

  private:
    // One step on every active variable. Labels whose violation is below `target_violation` are
    // then marked as converged.
    void pass(T target_violation, Shuffle& shuffle);
    // Sum of the positive values of log(violation / target_violation) over the labels.
    double log_excess_violation(T target_violation) const;
    void mark_relevance(const Problem& problem);
    void set_targets(const Problem& problem);
    // Replaces t by t - 2 z0.x: the derivative h is then that of the weights z0 + z.
    void set_anchor(std::span<const T> anchor, std::size_t labels);

    CgSchedule schedule_;
    const Rows<T>& rows_;
    std::vector<std::int32_t> labels_;
    BlockView<T> view_;
    BlockWorkspace<T>& workspace_;
    AlignedVector<T> target_;
    std::vector<Mask> relevant_, known_, active_;
    std::vector<std::uint32_t> order_;
    Mask known_labels_ = 0;  // labels with a variable of known relevance
    int passes_per_round_;   // passes of coordinate steps between two runs of conjugate gradients
    // Decrease of log_excess_violation() per pass of coordinate steps, measured most recently.
    double coordinate_rate_ = 0;
};

}  // namespace tagalong::m3l
