// Function multiversioning: one build for every x86-64 processor. The compiler makes one version of
// each marked function per vector width, and the dynamic loader selects one. Mark definitions only:
// a marked declaration links, but loading the library fails. Sanitizers start before the loader can
// select, so their builds define TAGALONG_NO_CLONES. TAGALONG_NO_AVX512 omits the widest version,
// to test on an AVX-512 machine the code that other machines run.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(TAGALONG_NO_CLONES)
#define TAGALONG_HAS_CLONES
#ifdef TAGALONG_NO_AVX512
#define TAGALONG_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TAGALONG_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
// For code written with explicit 32-byte vectors: it would not use wider registers.
#define TAGALONG_LANE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TAGALONG_CLONES
#define TAGALONG_LANE_CLONES
#endif

#define TAGALONG_INLINE inline __attribute__((always_inline))
