// How a solver that takes long is watched, and asked to stop, from another thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace tagalong::m3l {

struct SolverProgress {
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> labels_done{0};  // that were solved to the end, as far as is known
    std::atomic<std::int64_t> passes{0};  // over rows (linear) or steps (kernel), of all labels
    std::atomic<double> violation{0};     // the largest projected derivative, lately
};

}  // namespace tagalong::m3l
