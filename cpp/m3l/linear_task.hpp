// What every way to solve a linear problem works on: the problem, the settings, and the place of each
// label's numbers in the solution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "m3l/block.hpp"
#include "m3l/block_places.hpp"
#include "m3l/label.hpp"
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

    // Gives the solution its shape: zeros, but for the dual variables that are a start.
    LinearTask(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings,
               SolverProgress& progress, LinearSolution<T>& solution)
        : rows(rows),
          problem(problem),
          settings(settings),
          progress(progress),
          solution(solution),
          numbers_(rows, problem),
          blocks_((problem.labels + kLanes - 1) / kLanes) {
        solution.place = block_places(problem);
        ordered_.resize(problem.labels);
        for (std::size_t l = 0; l < problem.labels; ++l)
            ordered_[solution.place[l]] = static_cast<std::int32_t>(l);
        if (!settings.resume) solution.dual.assign(blocks_ * rows.size() * kLanes, T{0});
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

    // Labels in the order of their places.
    std::span<const std::int32_t> ordered() const { return ordered_; }
    std::size_t blocks() const { return blocks_; }
    std::span<const std::int32_t> labels_of(std::size_t block) const {
        return std::span(ordered_).subspan(block * kLanes,
                                           std::min(kLanes, problem.labels - block * kLanes));
    }

    // The dual variables of a block, kLanes numbers per row; and of the label at a place, kLanes apart.
    T* block_dual(std::size_t block) const {
        return solution.dual.data() + block * rows.size() * kLanes;
    }
    T* place_dual(std::size_t place) const { return block_dual(place / kLanes) + place % kLanes; }

    // Each block, or label that is solved by itself, has a random order of its own.
    Shuffle shuffle(std::size_t which) const {
        return Shuffle(settings.seed * kSeedStride + which);
    }

    Block<T> block(std::size_t which, BlockSpace<T>& space) const {
        return block_of(labels_of(which), block_dual(which), space);
    }
    Block<T> block_of(std::span<const std::int32_t> labels, T* dual, BlockSpace<T>& space) const {
        return {rows, numbers_, problem, labels, dual, space};
    }
    Label<T> label(std::size_t place, const DenseRows<T>& dense, const RowsOfLabels& relevant,
                   const RowsOfLabels& unknown) const {
        const auto l = static_cast<std::size_t>(ordered_[place]);
        return {dense,          numbers_,      problem,           l,
                relevant.of(l), unknown.of(l), place_dual(place), kLanes};
    }

    // Puts weights into the solution: of a block, kLanes numbers per feature; or of the label at a place,
    // with its dual variables.
    void keep(const Block<T>& block, const AlignedVector<T>& weights) const {
        const auto labels = block.labels();
        for (std::size_t j = 0; j < rows.features(); ++j)
            for (std::size_t k = 0; k < labels.size(); ++k)
                solution.weights[weight_row_[j] * problem.labels + labels[k]] =
                    weights[j * kLanes + k];
    }
    void keep(const Label<T>& label, std::size_t place) const {
        label.put(place_dual(place), kLanes);
        for (std::size_t j = 0; j < rows.features(); ++j)
            solution.weights[weight_row_[j] * problem.labels + ordered_[place]] =
                label.weights()[j];
    }

  private:
    static constexpr std::uint64_t kSeedStride = 0xD1342543DE82EF95u;

    RowNumbers<T> numbers_;
    std::size_t blocks_;
    std::vector<std::int32_t> ordered_;
    std::vector<std::size_t>
        weight_row_;  // of the solution, for each feature as the rows number them
};

}  // namespace tagalong::m3l
