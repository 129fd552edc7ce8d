// Which of the clones in clones.hpp the loader has picked on this machine. Sums may differ in their
// last bits between widths, so whoever compares bits needs to know.
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
