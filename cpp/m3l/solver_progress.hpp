// Progress of a running solver, which another thread may read, and a flag to stop it.
#pragma once

#include <atomic>
#include <cstdint>

namespace tagalong::m3l {

struct SolverProgress {
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> labels_done{0};  // labels solved to the tolerance so far
    // Passes over rows (linear) or steps (kernel), summed over labels.
    std::atomic<std::int64_t> passes{0};
    std::atomic<double> violation{0};  // a recent value of the largest projected derivative
};

}  // namespace tagalong::m3l
