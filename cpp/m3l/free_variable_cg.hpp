// Conjugate gradients on the free variables of a block: for each label l, maximises the objective
// of m3l/problem.hpp over the b_il that are strictly between their bounds; all others stay fixed.
//
// Coordinate ascent soon finds which variables are free. If some rows are nearly equal, it then
// needs hundreds of passes to distribute the common part among such rows. Here all free variables
// of a label move along one direction, a different one for each label. A step is cut at the first
// bound; the variable that reaches it is fixed there, and its label restarts with the gradient as
// its direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block_kernels.hpp"
#include "m3l/lanes.hpp"
#include "m3l/rows.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

// Working memory; arrays have kLanes numbers per row with a free variable.
template <class T>
struct FreeVariables {
    static constexpr std::size_t kMaxRows = std::size_t{1} << 18;  // 64 MB in single precision

    std::vector<std::uint32_t> rows;  // rows with a free variable
    std::vector<Mask> free;           // labels whose variable is free, per row
    // The gradient h, the search direction, and the decrease of h per unit step along it.
    AlignedVector<T> derivative, direction, hessian_direction;
    AlignedVector<T> dual_before;            // b before the first step
    AlignedVector<T> weights;                // z of the direction, kLanes numbers per feature
    alignas(64) T squared_gradient[kLanes];  // squared norm of h
    Mask unconverged = 0;                    // labels above the tolerance
};

// Runs until the violation of the free variables of every unconverged label is below the tolerance
// or `max_steps` is reached. Changes the block's dual variables and weights. Returns the number of
// steps; each costs about one pass over the rows with a free variable.
template <class T>
int improve_free_variables(const Rows<T>& rows, BlockView<T>& block, FreeVariables<T>& cg,
                           double tolerance, int max_steps, SolverProgress& progress);

}  // namespace tagalong::m3l
