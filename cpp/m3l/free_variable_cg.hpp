// Conjugate gradients for the labels of a block, on the variables between their limits. Coordinate
// steps soon find which those are; then, where rows are nearly the same, they need hundreds of passes
// to share out what such rows have in common. Here all variables of a label move along one direction,
// each label along its own. One that reaches a limit leaves, and its label begins with a new direction.
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

// Room for that, kLanes numbers for each row of the face.
template <class T>
struct FreeVariables {
    static constexpr std::size_t kMostRows = std::size_t{1} << 18;  // 64 MB in single precision

    std::vector<std::uint32_t> rows;  // with a variable between its limits
    std::vector<Mask> free;           // which labels' variables those are
    AlignedVector<T> derivative, way,
        turned;                     // h, the direction, and what h loses by a step of one along it
    AlignedVector<T> before;        // b at the beginning
    AlignedVector<T> weights;       // z of the direction, kLanes numbers a feature
    alignas(64) T squared[kLanes];  // of h
    Mask live = 0;                  // labels that are not there yet
};

// Steps until the face's variables of every live label violate less than the tolerance; at most so
// many. The block's variables and weights change. Returns the steps made, each about a pass over the
// rows of the face.
template <class T>
int improve_free_variables(const Rows<T>& rows, BlockView<T>& block, FreeVariables<T>& face,
                           double tolerance, int most, SolverProgress& watch);

}  // namespace tagalong::m3l
