// The memory limit for matrices per label, which the user sets. It is checked before an update
// changes anything.
#pragma once

#include <string>

#include "core/errors.hpp"

namespace tagalong {

inline void check_memory(double bytes, double limit, const std::string& what) {
    if (bytes <= limit) return;
    throw InputError(
        what + " take " + in_words(bytes / 1e6) +
        " MB, more than memory_limit = " + in_words(limit / 1e6) +
        " MB: use covariance='diagonal', fewer features or labels, or a larger memory_limit");
}

}  // namespace tagalong
