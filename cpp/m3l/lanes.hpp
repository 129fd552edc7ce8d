// Sixteen numbers, one a label of a block, kept in vector registers. One visit to a row of the data
// serves all of them: each feature's sixteen weights are a cache line (float) or two (double).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "clones.hpp"

namespace tagalong::m3l {

inline constexpr std::size_t kLanes = 16;
using Mask = std::uint16_t;

template <class T>
struct Lanes {
    using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef T Vector __attribute__((vector_size(32)));
    typedef Whole Choice __attribute__((vector_size(32)));
    static constexpr std::size_t kWidth = 32 / sizeof(T), kParts = kLanes / kWidth;

    // A bit of its own for each lane of a part.
    static TAGALONG_INLINE Choice own_bits(std::size_t p) {
        Choice bit;
        for (std::size_t k = 0; k < kWidth; ++k) bit[k] = Whole{1} << (p * kWidth + k);
        return bit;
    }

    // True or false a lane.
    struct Which {
        Choice part[kParts];

        TAGALONG_INLINE Which operator&(const Which& other) const {
            Which out;
            for (std::size_t p = 0; p < kParts; ++p) out.part[p] = part[p] & other.part[p];
            return out;
        }
        TAGALONG_INLINE Which operator|(const Which& other) const {
            Which out;
            for (std::size_t p = 0; p < kParts; ++p) out.part[p] = part[p] | other.part[p];
            return out;
        }
        TAGALONG_INLINE Which without(const Which& other) const {
            Which out;
            for (std::size_t p = 0; p < kParts; ++p) out.part[p] = part[p] & ~other.part[p];
            return out;
        }
        TAGALONG_INLINE bool any() const {
            Choice all = part[0];
            for (std::size_t p = 1; p < kParts; ++p) all |= part[p];
            typedef std::int64_t Quad __attribute__((vector_size(32)));
            const Quad quad = (Quad)all;
            return ((quad[0] | quad[1]) | (quad[2] | quad[3])) != 0;
        }
        TAGALONG_INLINE Mask bits() const {
            // Each lane keeps its own bit: then one "or" of all lanes has them all.
            Choice all{};
            for (std::size_t p = 0; p < kParts; ++p) all |= part[p] & own_bits(p);
            typedef std::int64_t Quad __attribute__((vector_size(32)));
            const Quad quad = (Quad)all;
            const std::int64_t out = (quad[0] | quad[1]) | (quad[2] | quad[3]);
            return static_cast<Mask>(sizeof(T) == 4 ? out | out >> 32 : out);
        }
    };

    Vector part[kParts];

    static TAGALONG_INLINE Lanes load(const T* from) {
        Lanes out;
        for (std::size_t p = 0; p < kParts; ++p) out.part[p] = *reinterpret_cast<const Vector*>(from + p * kWidth);
        return out;
    }
    TAGALONG_INLINE void store(T* to) const {
        for (std::size_t p = 0; p < kParts; ++p) *reinterpret_cast<Vector*>(to + p * kWidth) = part[p];
    }
    static TAGALONG_INLINE Lanes all(T value) {
        Lanes out;
        // Of all ways to say it, this is the one that compilers know as a broadcast.
        Vector first{};
        first[0] = value;
        Vector every;
        if constexpr (kWidth == 8) every = __builtin_shufflevector(first, first, 0, 0, 0, 0, 0, 0, 0, 0);
        else every = __builtin_shufflevector(first, first, 0, 0, 0, 0);
        for (std::size_t p = 0; p < kParts; ++p) out.part[p] = every;
        return out;
    }
    static TAGALONG_INLINE Which from_bits(Mask mask) {
        Which out;
        for (std::size_t p = 0; p < kParts; ++p)
            out.part[p] = ((Choice{} + static_cast<Whole>(mask)) & own_bits(p)) != 0;
        return out;
    }

    TAGALONG_INLINE Lanes operator+(const Lanes& other) const {
        Lanes out;
        for (std::size_t p = 0; p < kParts; ++p) out.part[p] = part[p] + other.part[p];
        return out;
    }
    TAGALONG_INLINE Lanes operator-(const Lanes& other) const {
        Lanes out;
        for (std::size_t p = 0; p < kParts; ++p) out.part[p] = part[p] - other.part[p];
        return out;
    }
    TAGALONG_INLINE Lanes operator*(const Lanes& other) const {
        Lanes out;
        for (std::size_t p = 0; p < kParts; ++p) out.part[p] = part[p] * other.part[p];
        return out;
    }
    TAGALONG_INLINE Lanes operator/(const Lanes& other) const {
        Lanes out;
        for (std::size_t p = 0; p < kParts; ++p) out.part[p] = part[p] / other.part[p];
        return out;
    }
    TAGALONG_INLINE Lanes operator*(T by) const { return *this * all(by); }
    TAGALONG_INLINE Which operator<(const Lanes& other) const {
        Which out;
        for (std::size_t p = 0; p < kParts; ++p) out.part[p] = part[p] < other.part[p];
        return out;
    }
    TAGALONG_INLINE Which operator!=(const Lanes& other) const {
        Which out;
        for (std::size_t p = 0; p < kParts; ++p) out.part[p] = part[p] != other.part[p];
        return out;
    }
};

template <class T>
TAGALONG_INLINE Lanes<T> choose(const typename Lanes<T>::Which& which, const Lanes<T>& yes, const Lanes<T>& no) {
    Lanes<T> out;
    for (std::size_t p = 0; p < Lanes<T>::kParts; ++p) out.part[p] = which.part[p] ? yes.part[p] : no.part[p];
    return out;
}
template <class T>
TAGALONG_INLINE Lanes<T> smaller(const Lanes<T>& a, const Lanes<T>& b) {
    return choose<T>(a < b, a, b);
}
template <class T>
TAGALONG_INLINE Lanes<T> larger(const Lanes<T>& a, const Lanes<T>& b) {
    return choose<T>(b < a, a, b);
}

}  // namespace tagalong::m3l
