// Keeps the weights of coupled blocks up to date. The weights of block b depend on the v of all
// blocks,
//
//     z_b = 2 sum_c R_bc v_c.
//
// After its turn a block publishes the change of its v. Before its own next turn, every other block
// multiplies that change by R and adds it to its weights. Threads share this work by features.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/block_kernels.hpp"
#include "m3l/linear_task.hpp"
#include "m3l/threads.hpp"

namespace tagalong::m3l {

template <class T>
class BlockExchange {
  public:
    explicit BlockExchange(const LinearTask<T>& task)
        : features_(task.rows.features()),
          threads_(task.settings.threads),
          blocks_(task.blocks()),
          weights_(blocks_, AlignedVector<T>(features_ * kLanes, T{0})),
          changes_(blocks_) {
        for (std::size_t b = 0; b < blocks_; ++b)
            for (std::size_t c = 0; c < blocks_; ++c)
                couplings_.push_back(
                    coupling_between(task.problem, task.labels_of(b), task.labels_of(c)));
    }

    // z of a block, kLanes numbers per feature.
    AlignedVector<T>& weights(std::size_t block) { return weights_[block]; }

    // Publishes the change of a block's v since its last turn, and sets `change` to zero.
    void publish(std::size_t block, AlignedVector<T>& change) {
        extract_changes(change, changes_[block]);
    }
    // Updates z with the changes that the other blocks have published since this block's last turn.
    void apply_other_changes(std::size_t block) { apply_changes(block, false); }

    // Recomputes the weights of a block, which removes accumulated rounding errors. Every block
    // must have published its whole v before.
    void rebuild(std::size_t block) {
        std::fill(weights_[block].begin(), weights_[block].end(), T{0});
        apply_changes(block, true);
    }
    void clear_changes() {
        for (Changes<T>& each : changes_) each.clear();
    }

  private:
    // 2 R_kl for the labels l of one block and k of another, kLanes numbers per label k.
    struct Coupling {
        AlignedVector<T> r;
        Mask coupled_labels = 0;  // the labels k with a nonzero number
    };
    static Coupling coupling_between(const Problem& problem, std::span<const std::int32_t> mine,
                                     std::span<const std::int32_t> others) {
        Coupling out{AlignedVector<T>(kLanes * kLanes, T{0})};
        for (std::size_t k = 0; k < others.size(); ++k)
            for (std::size_t l = 0; l < mine.size(); ++l) {
                out.r[k * kLanes + l] = static_cast<T>(2 * problem.r(others[k], mine[l]));
                if (out.r[k * kLanes + l] != 0) out.coupled_labels |= static_cast<Mask>(1u << k);
            }
        return out;
    }

    void apply_changes(std::size_t b, bool include_itself) {
        for_each_of((features_ + Changes<T>::kPart - 1) / Changes<T>::kPart, threads_,
                    [&](std::size_t part) {
                        for (std::size_t c = 0; c < blocks_; ++c)
                            if (const Coupling& each = couplings_[b * blocks_ + c];
                                each.coupled_labels != 0 && (include_itself || c != b) &&
                                !changes_[c].feature.empty())
                                propagate(changes_[c], part, each.r.data(), each.coupled_labels,
                                          weights_[b].data());
                    });
    }

    std::size_t features_;
    int threads_;
    std::size_t blocks_;
    std::vector<AlignedVector<T>> weights_;
    std::vector<Changes<T>> changes_;
    std::vector<Coupling> couplings_;  // one per pair of blocks, row-major
};

}  // namespace tagalong::m3l
