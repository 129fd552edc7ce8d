// Block coordinate ascent for labels that the prior couples, on sparse rows: maximises the
// objective of m3l/problem.hpp over one block of sixteen labels at a time. In its turn a block adds
// the changes of the other blocks to its weights (BlockExchange), makes a few passes over its
// active variables, and publishes its own changes. m3l/sweeps.hpp schedules the checks of all
// variables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "m3l/block_exchange.hpp"
#include "m3l/linear_task.hpp"
#include "m3l/sweeps.hpp"

namespace tagalong::m3l {

template <class T>
class CoupledBlocks {
  public:
    explicit CoupledBlocks(const LinearTask<T>& task)
        : task_(task),
          exchange_(task),
          workspace_(task.rows.features()),
          change_(workspace_.weights) {
        for (std::size_t b = 0; b < task.blocks(); ++b) {
            blocks_.push_back(task.block(b, workspace_));
            blocks_.back().use_weights(exchange_.weights(b).data());
            shuffles_.push_back(task.shuffle(b));
        }
    }

    // Runs until every projected derivative is below the tolerance or the settings' `max_passes`
    // per block is reached. Writes the weights to the solution.
    void solve() {
        SolverProgress& progress = task_.progress;
        LinearSolution<T>& solution = task_.solution;
        const auto count = static_cast<std::int64_t>(blocks_.size());
        const std::int64_t passes_before = progress.passes,
                           max_passes = task_.settings.max_passes * count;
        const auto must_stop = [&] {
            return progress.passes - passes_before >= max_passes ||
                   progress.stop.load(std::memory_order_relaxed);
        };
        solution.status = run_sweeps(
            task_.settings.tolerance, progress, [this] { return evaluate(); },
            [this](double target_violation) { return sweep(target_violation); }, must_stop);
        solution.passes = (progress.passes - passes_before + count - 1) / count;
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            task_.store(blocks_[b], exchange_.weights(b));
        progress.labels_done = static_cast<std::int64_t>(task_.problem.labels);
    }

  private:
    // Passes per turn; more would be wasted, since the other blocks change too.
    static constexpr int kPasses = 3;

    // Evaluates all variables at one point, with weights recomputed from the dual variables.
    SolutionStatus evaluate() {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            blocks_[b].collect_sums();
            std::copy(workspace_.sums.begin(), workspace_.sums.end(), change_.begin());
            exchange_.publish(b, change_);
        }
        SolutionStatus out;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            exchange_.rebuild(b);
            out.include(blocks_[b].check(task_.settings.tolerance));
        }
        exchange_.clear_changes();
        return out;
    }

    double sweep(double target_violation) {
        double violation = 0;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            exchange_.apply_other_changes(b);
            violation = std::max(violation,
                                 blocks_[b].improve_coupled(target_violation, kPasses, shuffles_[b],
                                                            task_.progress, change_.data()));
            exchange_.publish(b, change_);
        }
        return violation;
    }

    const LinearTask<T>& task_;
    BlockExchange<T> exchange_;
    BlockWorkspace<T> workspace_;
    // The change of v in one turn; zero between turns. It uses the weights of the workspace, which
    // are free because each block has its weights in the exchange.
    AlignedVector<T>& change_;
    std::vector<Block<T>> blocks_;
    std::vector<Shuffle> shuffles_;
};

}  // namespace tagalong::m3l
