// Radix sort of (feature, place) pairs, each packed into one number.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace tagalong {

// The high half is the feature, the low half the place among the names of the item.
inline std::uint64_t packed(std::int32_t feature, std::size_t place) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(feature)) << 32 | place;
}
inline std::int32_t feature_of(std::uint64_t pair) { return static_cast<std::int32_t>(pair >> 32); }
inline std::size_t place_of(std::uint64_t pair) { return static_cast<std::uint32_t>(pair); }

// Sorts pairs that are in the order of their places. Large inputs use a radix sort by the digits of
// the feature, lowest digit first: it needs no comparisons and is stable, so pairs of equal
// features stay in the order of their places. `features` is the number of features.
inline void sort_places(std::vector<std::uint64_t>& pairs, std::vector<std::uint64_t>& scratch,
                        std::uint64_t features) {
    constexpr int kDigitBits = 10;
    constexpr std::size_t kRadixFrom = 128;
    const int bits =
        std::bit_width(features - 1);  // bits of the last feature: 20, not 21, for 2^20 features
    if (pairs.size() < kRadixFrom) {
        std::sort(pairs.begin(), pairs.end());
        return;
    }
    scratch.resize(pairs.size());
    for (int done = 0; done < bits; done += kDigitBits) {
        const auto digit = [shift = 32 + done](std::uint64_t pair) {
            return pair >> shift & ((1u << kDigitBits) - 1);
        };
        std::array<std::uint32_t, 1u << kDigitBits> begin{};
        for (const std::uint64_t pair : pairs) ++begin[digit(pair)];
        std::uint32_t sum = 0;
        for (std::uint32_t& count : begin) sum += std::exchange(count, sum);
        for (const std::uint64_t pair : pairs) scratch[begin[digit(pair)]++] = pair;
        pairs.swap(scratch);
    }
}

}  // namespace tagalong
