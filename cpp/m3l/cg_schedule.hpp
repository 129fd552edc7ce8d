// When a block of labels runs conjugate gradients (m3l/free_variable_cg.hpp).
// `python -m benchmarks.m3l_schedule` measures the choice.
#pragma once

namespace tagalong::m3l {

struct CgSchedule {
    int coordinate_passes = 75;  // passes per round while conjugate gradients are no faster
    int steps = 40;              // of conjugate gradients per round
};

}  // namespace tagalong::m3l
