// Sixteen numbers, one a label of a block, kept in vector registers. One visit to a row of the data
// serves all of them: each feature's sixteen weights are a cache line (float) or two (double).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/clones.hpp"

namespace tagalong::m3l {

inline constexpr std::size_t kLanes = 16;
using Mask = std::uint16_t;

// The parts P... are the vectors that the sixteen numbers fill. They are written out instead of looped
// over: every operation is inlined hundreds of times, and unrolling each loop took most of the compile time.
template <class T, class Parts>
struct LanesIn;

template <class T>
using Lanes = LanesIn<T, std::make_index_sequence<kLanes * sizeof(T) / 32>>;

template <class T, std::size_t... P>
struct LanesIn<T, std::index_sequence<P...>> {
    using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef T Vector __attribute__((vector_size(32)));
    typedef Whole Choice __attribute__((vector_size(32)));
    static constexpr std::size_t kWidth = 32 / sizeof(T), kParts = sizeof...(P);

    // A bit of its own for each lane of a part.
    static TAGALONG_INLINE Choice own_bits(std::size_t p) {
        const Whole first = Whole{1} << (p * kWidth);
        if constexpr (kWidth == 8)
            return Choice{first,      first << 1, first << 2, first << 3,
                          first << 4, first << 5, first << 6, first << 7};
        else return Choice{first, first << 1, first << 2, first << 3};
    }

    // True or false a lane.
    struct Which {
        Choice part[kParts];

        TAGALONG_INLINE Which operator&(const Which& other) const {
            return {{(part[P] & other.part[P])...}};
        }
        TAGALONG_INLINE Which operator|(const Which& other) const {
            return {{(part[P] | other.part[P])...}};
        }
        TAGALONG_INLINE Which without(const Which& other) const {
            return {{(part[P] & ~other.part[P])...}};
        }
        TAGALONG_INLINE bool any() const {
            typedef std::int64_t Quad __attribute__((vector_size(32)));
            const Quad quad = (Quad)(part[P] | ...);
            return ((quad[0] | quad[1]) | (quad[2] | quad[3])) != 0;
        }
        TAGALONG_INLINE Mask bits() const {
            // Each lane keeps its own bit: then one "or" of all lanes has them all.
            typedef std::int64_t Quad __attribute__((vector_size(32)));
            const Quad quad = (Quad)((part[P] & own_bits(P)) | ...);
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
    static TAGALONG_INLINE LanesIn all(T value) {
        // Of all ways to say it, this is the one that compilers know as a broadcast.
        Vector first{};
        first[0] = value;
        Vector every;
        if constexpr (kWidth == 8)
            every = __builtin_shufflevector(first, first, 0, 0, 0, 0, 0, 0, 0, 0);
        else every = __builtin_shufflevector(first, first, 0, 0, 0, 0);
        return {{(static_cast<void>(P), every)...}};
    }
    static TAGALONG_INLINE Which from_bits(Mask mask) {
        const Choice every = Choice{} + static_cast<Whole>(mask);
        return {{((every & own_bits(P)) != 0)...}};
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
    TAGALONG_INLINE LanesIn operator*(T by) const { return *this * all(by); }
    TAGALONG_INLINE Which operator<(const LanesIn& other) const {
        return {{(part[P] < other.part[P])...}};
    }
    TAGALONG_INLINE Which operator!=(const LanesIn& other) const {
        return {{(part[P] != other.part[P])...}};
    }

    static TAGALONG_INLINE LanesIn choose(const Which& which, const LanesIn& yes,
                                          const LanesIn& no) {
        return {{(which.part[P] ? yes.part[P] : no.part[P])...}};
    }
};

template <class T>
TAGALONG_INLINE Lanes<T> choose(const typename Lanes<T>::Which& which, const Lanes<T>& yes,
                                const Lanes<T>& no) {
    return Lanes<T>::choose(which, yes, no);
}
template <class T>
TAGALONG_INLINE Lanes<T> smaller(const Lanes<T>& a, const Lanes<T>& b) {
    return Lanes<T>::choose(a < b, a, b);
}
template <class T>
TAGALONG_INLINE Lanes<T> larger(const Lanes<T>& a, const Lanes<T>& b) {
    return Lanes<T>::choose(b < a, a, b);
}

}  // namespace tagalong::m3l
