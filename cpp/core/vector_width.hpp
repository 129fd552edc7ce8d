// The vector width that the loader selects on this machine (see clones.hpp). Sums may differ in
// their last bits between widths, so tests that compare bits need to know it.
#pragma once

#include "core/clones.hpp"

namespace tagalong {

inline const char* vector_width() {
#ifdef TAGALONG_HAS_CLONES
#ifndef TAGALONG_NO_AVX512
    if (__builtin_cpu_supports("avx512f")) return "avx512f";
#endif
    if (__builtin_cpu_supports("avx2")) return "avx2";
#endif
    return "default";
}

}  // namespace tagalong
