// What coupled blocks tell each other. The weights of block b depend on the v of all blocks,
//
//     z_b = 2 sum_c R_bc v_c,
//
// and are kept up to date by the changes of v alone: after its turn a block leaves what it has changed,
// and every other one pulls that through R once, before its own next turn. Threads share the pulling.
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
                bonds_.push_back(bonds(task.problem, task.labels_of(b), task.labels_of(c)));
    }

    // z of a block, kLanes numbers per feature.
    AlignedVector<T>& weights(std::size_t block) { return weights_[block]; }

    // What a block has changed of v since its last turn. The sums given are zero afterwards.
    void leave(std::size_t block, AlignedVector<T>& changed) {
        take_changes(changed, changes_[block]);
    }
    // What the other blocks have changed since this one's last turn.
    void pull_from_others(std::size_t block) { pull_into(block, false); }

    // The weights of a block from scratch, which forgets rounding errors. All blocks have left their
    // whole v before.
    void rebuild(std::size_t block) {
        std::fill(weights_[block].begin(), weights_[block].end(), T{0});
        pull_into(block, true);
    }
    void forget_changes() {
        for (Changes<T>& each : changes_) each.clear();
    }

  private:
    // 2 R_kl for the labels l of one block and k of another, kLanes numbers for each k.
    struct Bonds {
        AlignedVector<T> r;
        Mask bound = 0;  // the labels k for which they are not all 0
    };
    static Bonds bonds(const Problem& problem, std::span<const std::int32_t> mine,
                       std::span<const std::int32_t> others) {
        Bonds out{AlignedVector<T>(kLanes * kLanes, T{0})};
        for (std::size_t k = 0; k < others.size(); ++k)
            for (std::size_t l = 0; l < mine.size(); ++l) {
                out.r[k * kLanes + l] = static_cast<T>(2 * problem.r(others[k], mine[l]));
                if (out.r[k * kLanes + l] != 0) out.bound |= static_cast<Mask>(1u << k);
            }
        return out;
    }

    void pull_into(std::size_t b, bool itself) {
        for_each_of(
            (features_ + Changes<T>::kPart - 1) / Changes<T>::kPart, threads_,
            [&](std::size_t part) {
                for (std::size_t c = 0; c < blocks_; ++c)
                    if (const Bonds& each = bonds_[b * blocks_ + c];
                        each.bound != 0 && (itself || c != b) && !changes_[c].feature.empty())
                        pull(changes_[c], part, each.r.data(), each.bound, weights_[b].data());
            });
    }

    std::size_t features_;
    int threads_;
    std::size_t blocks_;
    std::vector<AlignedVector<T>> weights_;
    std::vector<Changes<T>> changes_;
    std::vector<Bonds> bonds_;  // of every block with every one
};

}  // namespace tagalong::m3l
