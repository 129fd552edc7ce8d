// The labels of a block one at a time, on its active variables. Where few of the sixteen have an active
// variable at a row, a visit that serves all of them is for nothing mostly. A label's own weights take a
// sixteenth of the memory and are nearer; and it makes as many passes as it needs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block_kernels.hpp"
#include "m3l/rows.hpp"
#include "m3l/shuffle.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

// An active variable, its limits, its linear term, and what a derivative of one moves it by.
template <class T>
struct ActiveVariable {
    std::uint32_t row;
    T dual, low, high, target, inverse;
};

// Room for that.
template <class T>
struct SingleLabelState {
    std::vector<ActiveVariable<T>> variables;  // of one label
    AlignedVector<T> weights;                  // z, label after label
};

// Whether so few labels are active a row that this is less work than visits to all of them.
template <class T>
bool pays_alone(const Rows<T>& rows, const BlockView<T>& block);

// Passes over the active variables of each live label until they violate less than enough; at most so
// many. Labels that are there leave. For labels that do not move each other, on sparse rows. Returns the
// most passes that a label took.
template <class T>
int improve_single_labels(const Rows<T>& rows, BlockView<T>& block, SingleLabelState<T>& alone,
                          T enough, int most, Shuffle& shuffle, SolverProgress& watch);

}  // namespace tagalong::m3l
