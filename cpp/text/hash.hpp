// The 64-bit hash of a feature name, called its key. Saved models depend on it: it must never
// change.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tagalong {

static_assert(std::endian::native == std::endian::little,
              "keys of names are defined for little-endian machines");

// The exclusive or of both halves of the 128-bit product: every bit of the factors can affect every
// bit of the result.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// A key is computed from the length of the name, then from eight bytes at a time, then from the
// remaining bytes.
namespace key_steps {
inline constexpr std::uint64_t start = 0x9E3779B97F4A7C15u, odd = 0xD6E8FEB86659FD93u;
inline std::uint64_t begin(std::size_t length) { return folded_product(length + start, odd); }
inline std::uint64_t next(std::uint64_t key, std::uint64_t eight) {
    return folded_product(key ^ eight, odd) + start;
}
inline std::uint64_t end(std::uint64_t key, std::uint64_t rest) {
    return folded_product(key ^ rest, odd ^ start);
}
inline std::uint64_t eight_bytes(const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
}
}  // namespace key_steps

// The key of a name.
inline std::uint64_t name_key(std::string_view name) {
    std::uint64_t key = key_steps::begin(name.size());
    std::size_t at = 0;
    for (; at + 8 <= name.size(); at += 8)
        key = key_steps::next(key, key_steps::eight_bytes(name.data() + at));
    std::uint64_t rest = 0;
    std::memcpy(&rest, name.data() + at, name.size() - at);
    return key_steps::end(key, rest);
}

// The keys of many names with a common prefix. The state after the prefix is computed once per
// length, and the rest of a name is read in place, without concatenation.
class NameKeys {
  public:
    // The number of readable bytes required after the end of a name.
    static constexpr std::size_t kReadAhead = 8;

    explicit NameKeys(std::string_view prefix) : prefix_(prefix), prefix_rest_(prefix.size() % 8) {
        std::memcpy(&tail_, prefix.data() + (prefix.size() - prefix_rest_), prefix_rest_);
        for (std::size_t length = 0; length < after_prefix_.size(); ++length)
            after_prefix_[length] = after_prefix(length);
    }

    // The same value as name_key(prefix + rest).
    std::uint64_t operator()(const char* rest, std::size_t length) const {
        using namespace key_steps;
        std::uint64_t key =
            length < after_prefix_.size() ? after_prefix_[length] : after_prefix(length);
        if (prefix_rest_ + length < 8)
            return end(key, tail_ | first_bytes(rest, length) << 8 * prefix_rest_);
        key = next(key, tail_ | eight_bytes(rest) << 8 * prefix_rest_);
        rest += 8 - prefix_rest_;
        length -= 8 - prefix_rest_;
        for (; length >= 8; rest += 8, length -= 8) key = next(key, eight_bytes(rest));
        return end(key, first_bytes(rest, length));
    }

  private:
    // The state after all complete groups of eight bytes of the prefix, for a rest of this length.
    std::uint64_t after_prefix(std::size_t length) const {
        std::uint64_t key = key_steps::begin(prefix_.size() + length);
        for (std::size_t at = 0; at + 8 <= prefix_.size(); at += 8)
            key = key_steps::next(key, key_steps::eight_bytes(prefix_.data() + at));
        return key;
    }
    static std::uint64_t first_bytes(const char* at, std::size_t count) {  // fewer than eight
        return key_steps::eight_bytes(at) & ((std::uint64_t{1} << 8 * count) - 1);
    }

    std::string_view prefix_;
    std::size_t prefix_rest_;                     // length of the prefix modulo 8
    std::uint64_t tail_ = 0;                      // the last prefix_rest_ bytes of the prefix
    std::array<std::uint64_t, 24> after_prefix_;  // after_prefix(length) for short lengths
};

}  // namespace tagalong
