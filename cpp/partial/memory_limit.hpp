// The memory limit for matrices per label, which the user sets. It is checked before an update
// changes anything.
#pragma once

#include <string>

#include "core/errors.hpp"

namespace tagalong {

inline void check_memory(double bytes, double limit, const std::string& what) {
    if (bytes <= limit) return;
    throw InputError(
        what + " take " + format_number(bytes / 1e6) +
        " MB, more than memory_limit = " + format_number(limit / 1e6) +
        " MB: use covariance='diagonal', fewer features or labels, or a larger memory_limit");
}

}  // namespace tagalong
