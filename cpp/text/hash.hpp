// The key of a feature's name. Saved models depend on it: it must never change.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tagalong {

static_assert(std::endian::native == std::endian::little, "keys of names are defined for little-endian machines");

// Both halves of a 128-bit product, folded: every bit of the factors reaches every bit.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t name_key(std::string_view name) {
    constexpr std::uint64_t start = 0x9E3779B97F4A7C15u, odd = 0xD6E8FEB86659FD93u;
    std::uint64_t key = folded_product(name.size() + start, odd);
    std::size_t at = 0;
    for (; at + 8 <= name.size(); at += 8) {
        std::uint64_t word;
        std::memcpy(&word, name.data() + at, 8);
        key = folded_product(key ^ word, odd) + start;
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, name.data() + at, name.size() - at);
    return folded_product(key ^ rest, odd ^ start);
}

}  // namespace tagalong
