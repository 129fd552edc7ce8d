// Up to sixteen labels solved side by side. A row is visited while a variable of any of them is
// active there; a label leaves when its active variables satisfy the tolerance, and all come back
// for an exact check.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block_kernels.hpp"
#include "m3l/free_variable_cg.hpp"
#include "m3l/problem.hpp"
#include "m3l/shuffle.hpp"
#include "m3l/single_label_descent.hpp"
#include "m3l/solver_progress.hpp"

namespace tagalong::m3l {

// 1 / value, or where that is 0 a number large enough to reach any bound at once, and finite where
// the derivative is 0.
inline double inverse_of(double value) {
    constexpr double kSteep = 1e15;
    return value > 0 ? std::min(1 / value, kSteep) : kSteep;
}

// What blocks share: numbers of rows in the type of the arithmetic.
template <class T>
struct RowNumbers {
    std::vector<T> weight;  // empty for ones
    std::vector<T> squared, inverse;

    RowNumbers(const Rows<T>& rows, const Problem& problem);
};

// Room for the weights of one block; blocks that take turns share it.
template <class T>
struct BlockSpace {
    AlignedVector<T> weights;    // z, kLanes numbers a feature
    AlignedVector<double> sums;  // v, likewise
    // Of a turn: the rows that could change, and their variables as they were.
    std::vector<std::uint32_t> rows;
    AlignedVector<T> before;
    FreeVariables<T> face;
    SingleLabelState<T> alone;

    explicit BlockSpace(std::size_t features)
        : weights(features * kLanes, T{0}), sums(features * kLanes, 0.0) {}
};

template <class T>
class Block {
  public:
    // Labels by number; dual has kLanes numbers a row, which the block reads and changes.
    Block(const Rows<T>& rows, const RowNumbers<T>& numbers, const Problem& problem,
          std::span<const std::int32_t> labels, T* dual, BlockSpace<T>& space);

    // The weights are there from now on, instead of in the space.
    void work_on(T* weights) { view_.weights = weights; }
    // Every variable that is known takes part from now on.
    void open_all();
    // Treat all labels as irrelevant everywhere.
    void forget_relevant();

    // Steps on active variables until those of each label violate less than the tolerance; at most so
    // many passes, those over the face included. Returns the passes made.
    int improve(double tolerance, int most, Shuffle& shuffle, SolverProgress& watch);
    // For labels that other blocks move too: so many passes over the active variables, or until they
    // violate less than the tolerance. What that changes of v is added to the sums given. Returns the
    // violation that the first pass has met.
    double take_turn(double tolerance, int most, Shuffle& shuffle, SolverProgress& watch, T* v);
    // Weights from the dual variables, which forgets rounding errors; labels move themselves only.
    void weigh();
    // v_l = sum_i b_il x_i into the space's sums.
    void collect_sums();
    // Where all variables stand. What rests becomes inactive, and labels that satisfy the tolerance
    // stay out of the steps that follow.
    Standing check(double tolerance);
    // All of it, for labels that no other block moves. Returns the passes made.
    int solve(double tolerance, int most, Shuffle& shuffle, SolverProgress& watch,
              Standing& standing);

    std::span<const std::int32_t> labels() const { return labels_; }

  private:
    // A step on every active variable; labels that violate less than enough leave.
    void pass(T enough, Shuffle& shuffle);
    // How far labels are above enough: the sum of the logarithms of their violations over it.
    double level(T enough) const;
    void mark(const Problem& problem);
    void tie(const Problem& problem);

    const Rows<T>& rows_;
    std::vector<std::int32_t> labels_;
    BlockView<T> view_;
    BlockSpace<T>& space_;
    AlignedVector<T> target_;
    std::vector<Mask> yes_, known_, active_;
    std::vector<std::uint32_t> order_;
    Mask all_ = 0;          // labels with a known variable
    int stretch_;           // passes before the variables between their limits are moved together
    double step_rate_ = 0;  // by how much a pass has lowered the logarithms of violations, lately
};

}  // namespace tagalong::m3l
