// Sorting of (feature, place) pairs, packed into one number each.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace tagalong {

// The feature in the high half, the place among the names of its item in the low one.
inline std::uint64_t packed(std::int32_t feature, std::size_t place) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(feature)) << 32 | place;
}
inline std::int32_t feature_of(std::uint64_t pair) { return static_cast<std::int32_t>(pair >> 32); }
inline std::size_t place_of(std::uint64_t pair) { return static_cast<std::uint32_t>(pair); }

// Sorts pairs that stand in the order of their places. Many of them are dealt out digit by digit of the
// feature, the lowest first: that takes no comparisons, and leaves equal features in their order.
inline void sort_places(std::vector<std::uint64_t>& pairs, std::vector<std::uint64_t>& scratch,
                        std::uint64_t features) {
    constexpr int kDigit = 10;
    constexpr std::size_t kFew = 128;
    const int bits =
        std::bit_width(features - 1);  // of the last feature: 20, not 21, for 2^20 of them
    if (pairs.size() < kFew) {
        std::sort(pairs.begin(), pairs.end());
        return;
    }
    scratch.resize(pairs.size());
    for (int done = 0; done < bits; done += kDigit) {
        const auto digit = [shift = 32 + done](std::uint64_t pair) {
            return pair >> shift & ((1u << kDigit) - 1);
        };
        std::array<std::uint32_t, 1u << kDigit> begin{};
        for (const std::uint64_t pair : pairs) ++begin[digit(pair)];
        std::uint32_t sum = 0;
        for (std::uint32_t& count : begin) sum += std::exchange(count, sum);
        for (const std::uint64_t pair : pairs) scratch[begin[digit(pair)]++] = pair;
        pairs.swap(scratch);
    }
}

}  // namespace tagalong
