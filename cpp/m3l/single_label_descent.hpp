// Dual coordinate ascent on the active variables of a block (m3l/block.hpp), one label at a time.
// If few of the sixteen labels have an active variable at a row, a step on all sixteen is mostly
// wasted. The weights of one label take a sixteenth of the memory and stay in a nearer cache, and
// each label makes only as many passes as it needs. The results go to the block's dual variables,
// weights and active set.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block_kernels.hpp"
#include "m3l/rows.hpp"
#include "m3l/shuffle.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

// An active variable, its bounds, its linear term t, and the step per unit of its derivative.
template <class T>
struct ActiveVariable {
    std::uint32_t row;
    T dual, low, high, target, inverse_curvature;
};

// Working memory.
template <class T>
struct SingleLabelState {
    std::vector<ActiveVariable<T>> variables;  // of the current label
    AlignedVector<T> weights;                  // z of all labels, one label after the other
};

// Whether so few labels are active per row that improve_single_labels() is less work than passes
// over the whole block.
template <class T>
bool single_label_descent_pays(const Rows<T>& rows, const BlockView<T>& block);

// Runs on each unconverged label until the violation of its active variables drops below
// `target_violation` or `max_passes` is reached. Converged labels are removed from
// block.unconverged. Requires labels that are not coupled, and sparse rows. Returns the largest
// number of passes per label.
template <class T>
int improve_single_labels(const Rows<T>& rows, BlockView<T>& block, SingleLabelState<T>& state,
                          T target_violation, int max_passes, Shuffle& shuffle,
                          SolverProgress& progress);

}  // namespace tagalong::m3l
