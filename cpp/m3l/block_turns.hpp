// Labels that a prior couples, on sparse rows: blocks of sixteen labels take turns. In its turn a block
// pulls what the others have changed (BlockExchange), makes a few passes over its active variables, and
// leaves what it has changed itself. m3l/turns.hpp says when all variables are looked at again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "m3l/block_exchange.hpp"
#include "m3l/linear_task.hpp"
#include "m3l/turns.hpp"

namespace tagalong::m3l {

template <class T>
class BlockTurns {
  public:
    explicit BlockTurns(const LinearTask<T>& task)
        : task_(task), exchange_(task), space_(task.rows.features()), changed_(space_.weights) {
        for (std::size_t b = 0; b < task.blocks(); ++b) {
            blocks_.push_back(task.block(b, space_));
            blocks_.back().work_on(exchange_.weights(b).data());
            shuffles_.push_back(task.shuffle(b));
        }
    }

    // Until no projected derivative, over all variables, reaches the tolerance; at most so many passes
    // per block. Puts the weights into the solution.
    void solve() {
        SolverProgress& progress = task_.progress;
        LinearSolution<T>& solution = task_.solution;
        const auto count = static_cast<std::int64_t>(blocks_.size());
        const std::int64_t begun = progress.passes, most = task_.settings.most_passes * count;
        const auto ended = [&] {
            return progress.passes - begun >= most || progress.stop.load(std::memory_order_relaxed);
        };
        solution.standing = take_turns(
            task_.settings.tolerance, progress, [this] { return stand(); },
            [this](double enough) { return sweep(enough); }, ended);
        solution.passes = (progress.passes - begun + count - 1) / count;
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            task_.keep(blocks_[b], exchange_.weights(b));
        progress.labels_done = static_cast<std::int64_t>(task_.problem.labels);
    }

  private:
    static constexpr int kPasses =
        3;  // per turn: further ones would be for nothing, as the other blocks move too

    // Where all variables stand, at one point; rounding errors of z are forgotten.
    Standing stand() {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            blocks_[b].collect_sums();
            std::copy(space_.sums.begin(), space_.sums.end(), changed_.begin());
            exchange_.leave(b, changed_);
        }
        Standing out;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            exchange_.rebuild(b);
            out.include(blocks_[b].check(task_.settings.tolerance));
        }
        exchange_.forget_changes();
        return out;
    }

    double sweep(double enough) {
        double met = 0;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            exchange_.pull_from_others(b);
            met = std::max(met, blocks_[b].take_turn(enough, kPasses, shuffles_[b], task_.progress,
                                                     changed_.data()));
            exchange_.leave(b, changed_);
        }
        return met;
    }

    const LinearTask<T>& task_;
    BlockExchange<T> exchange_;
    BlockSpace<T> space_;
    // What a turn changes of v; zeros between turns. Blocks have weights of their own, so that those of
    // the space are free for it.
    AlignedVector<T>& changed_;
    std::vector<Block<T>> blocks_;
    std::vector<Shuffle> shuffles_;
};

}  // namespace tagalong::m3l
