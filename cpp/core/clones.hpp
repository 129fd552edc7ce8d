// One build for every x86-64: the compiler makes a version of each marked function per vector
// width and the loader picks one. To be put on definitions only: on a declaration it links and
// then fails when the library is loaded. Sanitizers run before the loader's choice is possible,
// so their builds define TAGALONG_NO_CLONES. TAGALONG_NO_AVX512 leaves the widest version out, to run
// on one machine what narrower machines run.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(TAGALONG_NO_CLONES)
#define TAGALONG_HAS_CLONES
#ifdef TAGALONG_NO_AVX512
#define TAGALONG_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TAGALONG_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
// For vectors of 32 bytes that are written out: wider registers would not be used.
#define TAGALONG_LANE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TAGALONG_CLONES
#define TAGALONG_LANE_CLONES
#endif

#define TAGALONG_INLINE inline __attribute__((always_inline))
