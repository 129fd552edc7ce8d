// Sixteen numbers, one per label of a block, in vector registers. One visit to a row of the data
// serves all sixteen labels: the sixteen weights of a feature are one cache line (float) or two
// (double).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/clones.hpp"

namespace tagalong::m3l {

inline constexpr std::size_t kLanes = 16;
using Mask = std::uint16_t;

// The parts P... are the vectors that hold the sixteen numbers. Operations are written as pack
// expansions instead of loops: each is inlined hundreds of times, and unrolling the loops took most
// of the compile time.
template <class T, class Parts>
struct LanesIn;

template <class T>
using Lanes = LanesIn<T, std::make_index_sequence<kLanes * sizeof(T) / 32>>;

template <class T, std::size_t... P>
struct LanesIn<T, std::index_sequence<P...>> {
    using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef T Vector __attribute__((vector_size(32)));
    typedef Integer IntVector __attribute__((vector_size(32)));
    static constexpr std::size_t kWidth = 32 / sizeof(T), kParts = sizeof...(P);

    // One distinct bit for each lane of part p.
    static TAGALONG_INLINE IntVector lane_bits(std::size_t p) {
        const Integer first = Integer{1} << (p * kWidth);
        if constexpr (kWidth == 8)
            return IntVector{first,      first << 1, first << 2, first << 3,
                             first << 4, first << 5, first << 6, first << 7};
        else return IntVector{first, first << 1, first << 2, first << 3};
    }

    // True or false per lane.
    struct LaneMask {
        IntVector part[kParts];

        TAGALONG_INLINE LaneMask operator&(const LaneMask& other) const {
            return {{(part[P] & other.part[P])...}};
        }
        TAGALONG_INLINE LaneMask operator|(const LaneMask& other) const {
            return {{(part[P] | other.part[P])...}};
        }
        TAGALONG_INLINE LaneMask without(const LaneMask& other) const {
            return {{(part[P] & ~other.part[P])...}};
        }
        TAGALONG_INLINE bool any() const {
            typedef std::int64_t Quad __attribute__((vector_size(32)));
            const Quad quad = (Quad)(part[P] | ...);
            return ((quad[0] | quad[1]) | (quad[2] | quad[3])) != 0;
        }
        TAGALONG_INLINE Mask bits() const {
            // Each lane keeps its distinct bit, so one "or" over all lanes collects them.
            typedef std::int64_t Quad __attribute__((vector_size(32)));
            const Quad quad = (Quad)((part[P] & lane_bits(P)) | ...);
            const std::int64_t out = (quad[0] | quad[1]) | (quad[2] | quad[3]);
            return static_cast<Mask>(sizeof(T) == 4 ? out | out >> 32 : out);
        }
    };

    Vector part[kParts];

    static TAGALONG_INLINE LanesIn load(const T* from) {
        return {{*reinterpret_cast<const Vector*>(from + P * kWidth)...}};
    }
    TAGALONG_INLINE void store(T* to) const {
        ((*reinterpret_cast<Vector*>(to + P * kWidth) = part[P]), ...);
    }
    static TAGALONG_INLINE LanesIn broadcast(T value) {
        // Compilers recognise this form as a broadcast.
        Vector first{};
        first[0] = value;
        Vector every;
        if constexpr (kWidth == 8)
            every = __builtin_shufflevector(first, first, 0, 0, 0, 0, 0, 0, 0, 0);
        else every = __builtin_shufflevector(first, first, 0, 0, 0, 0);
        return {{(static_cast<void>(P), every)...}};
    }
    static TAGALONG_INLINE LaneMask from_bits(Mask mask) {
        const IntVector every = IntVector{} + static_cast<Integer>(mask);
        return {{((every & lane_bits(P)) != 0)...}};
    }

    TAGALONG_INLINE LanesIn operator+(const LanesIn& other) const {
        return {{(part[P] + other.part[P])...}};
    }
    TAGALONG_INLINE LanesIn operator-(const LanesIn& other) const {
        return {{(part[P] - other.part[P])...}};
    }
    TAGALONG_INLINE LanesIn operator*(const LanesIn& other) const {
        return {{(part[P] * other.part[P])...}};
    }
    TAGALONG_INLINE LanesIn operator/(const LanesIn& other) const {
        return {{(part[P] / other.part[P])...}};
    }
    TAGALONG_INLINE LanesIn operator*(T by) const { return *this * broadcast(by); }
    TAGALONG_INLINE LaneMask operator<(const LanesIn& other) const {
        return {{(part[P] < other.part[P])...}};
    }
    TAGALONG_INLINE LaneMask operator!=(const LanesIn& other) const {
        return {{(part[P] != other.part[P])...}};
    }

    static TAGALONG_INLINE LanesIn select(const LaneMask& which, const LanesIn& yes,
                                          const LanesIn& no) {
        return {{(which.part[P] ? yes.part[P] : no.part[P])...}};
    }
};

template <class T>
TAGALONG_INLINE Lanes<T> select(const typename Lanes<T>::LaneMask& which, const Lanes<T>& yes,
                                const Lanes<T>& no) {
    return Lanes<T>::select(which, yes, no);
}
template <class T>
TAGALONG_INLINE Lanes<T> lane_min(const Lanes<T>& a, const Lanes<T>& b) {
    return Lanes<T>::select(a < b, a, b);
}
template <class T>
TAGALONG_INLINE Lanes<T> lane_max(const Lanes<T>& a, const Lanes<T>& b) {
    return Lanes<T>::select(b < a, a, b);
}

}  // namespace tagalong::m3l
