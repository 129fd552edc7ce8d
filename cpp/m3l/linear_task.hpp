// The input that all linear solvers share: the problem, the settings, and the position of each
// label's numbers in the solution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "m3l/block.hpp"
#include "m3l/block_assignment.hpp"
#include "m3l/dense_label.hpp"
#include "m3l/linear_solver.hpp"

namespace tagalong::m3l {

template <class T>
class LinearTask {
  public:
    const Rows<T>& rows;
    const Problem& problem;
    const LinearSettings& settings;
    SolverProgress& progress;
    LinearSolution<T>& solution;
    const FixedWeights<T> anchor;

    // Sizes the solution and fills it with zeros, except dual variables that are a warm start.
    LinearTask(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings,
               SolverProgress& progress, LinearSolution<T>& solution, FixedWeights<T> anchor)
        : rows(rows),
          problem(problem),
          settings(settings),
          progress(progress),
          solution(solution),
          anchor(anchor),
          row_constants_(rows, problem),
          blocks_((problem.labels + kLanes - 1) / kLanes),
          last_block_(std::min(settings.last_block, blocks_)),
          first_block_(std::min(settings.first_block, last_block_)) {
        solution.position = block_positions(problem);
        labels_by_position_.resize(problem.labels);
        for (std::size_t l = 0; l < problem.labels; ++l)
            labels_by_position_[solution.position[l]] = static_cast<std::int32_t>(l);
        if (!settings.warm_start)
            solution.dual.assign((last_block_ - first_block_) * rows.size() * kLanes, T{0});
        solution.features = rows.feature();
        std::sort(solution.features.begin(), solution.features.end());
        solution.weights.assign(rows.features() * problem.labels, T{0});
        weight_row_.resize(rows.features());
        for (std::size_t j = 0; j < weight_row_.size(); ++j) {
            const auto at = std::lower_bound(solution.features.begin(), solution.features.end(),
                                             rows.feature()[j]);
            weight_row_[j] = static_cast<std::size_t>(at - solution.features.begin());
        }
    }

    // Labels in the order of their positions.
    std::span<const std::int32_t> labels_by_position() const { return labels_by_position_; }
    std::size_t blocks() const { return blocks_; }
    // The range of blocks to solve, and the range of the positions of their labels.
    std::size_t first_block() const { return first_block_; }
    std::size_t last_block() const { return last_block_; }
    std::size_t first_position() const { return first_block_ * kLanes; }
    std::size_t last_position() const { return std::min(last_block_ * kLanes, problem.labels); }
    bool solves(std::size_t position) const {
        return first_position() <= position && position < last_position();
    }
    std::span<const std::int32_t> labels_of(std::size_t block) const {
        return std::span(labels_by_position_)
            .subspan(block * kLanes, std::min(kLanes, problem.labels - block * kLanes));
    }

    // The dual variables of a block (kLanes numbers per row), and those of the label at a position
    // (with stride kLanes).
    T* block_dual(std::size_t block) const {
        return solution.dual.data() + (block - first_block_) * rows.size() * kLanes;
    }
    T* label_dual(std::size_t position) const {
        return block_dual(position / kLanes) + position % kLanes;
    }

    // A random order for each block or label, from the seed of the settings.
    Shuffle shuffle(std::size_t which) const {
        return Shuffle(settings.seed * kSeedStride + which);
    }

    Block<T> block(std::size_t which, BlockWorkspace<T>& workspace) const {
        return block_of(labels_of(which), block_dual(which), workspace);
    }
    Block<T> block_of(std::span<const std::int32_t> labels, T* dual,
                      BlockWorkspace<T>& workspace) const {
        return {rows, row_constants_, problem, labels, dual, workspace, anchor, settings.schedule};
    }
    DenseLabel<T> label(std::size_t position, const DenseRows<T>& dense, const LabelRows& relevant,
                        const LabelRows& unknown) const {
        const auto l = static_cast<std::size_t>(labels_by_position_[position]);
        return {dense,         row_constants_,       problem, l,     relevant.of(l),
                unknown.of(l), label_dual(position), kLanes,  anchor};
    }

    // Stores the weights of label l, one per feature.
    void store_weights(std::size_t l, std::span<const double> weights) const {
        for (std::size_t j = 0; j < rows.features(); ++j)
            solution.weights[weight_row_[j] * problem.labels + l] = static_cast<T>(weights[j]);
    }
    // Store results in the solution: the weights of a block, kLanes numbers per feature; or the
    // weights and dual variables of the label at a position.
    void store(const Block<T>& block, const AlignedVector<T>& weights) const {
        const auto labels = block.labels();
        for (std::size_t j = 0; j < rows.features(); ++j)
            for (std::size_t k = 0; k < labels.size(); ++k)
                solution.weights[weight_row_[j] * problem.labels + labels[k]] =
                    weights[j * kLanes + k];
    }
    void store(const DenseLabel<T>& label, std::size_t position) const {
        label.write_dual(label_dual(position), kLanes);
        for (std::size_t j = 0; j < rows.features(); ++j)
            solution.weights[weight_row_[j] * problem.labels + labels_by_position_[position]] =
                label.weights()[j];
    }

  private:
    static constexpr std::uint64_t kSeedStride = 0xD1342543DE82EF95u;

    RowConstants<T> row_constants_;
    std::size_t blocks_, last_block_, first_block_;
    std::vector<std::int32_t> labels_by_position_;
    // Row of solution.weights, per feature number of `rows`.
    std::vector<std::size_t> weight_row_;
};

}  // namespace tagalong::m3l
