// The bytes that the fuzzer chose, read as numbers and texts. After the last byte all numbers are 0
// and all texts are empty.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace tagalong::fuzz {

class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size)
        : rest_(reinterpret_cast<const char*>(data), size) {}

    bool empty() const { return rest_.empty(); }

    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        const auto first = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return first;
    }
    // A number from 0 to `most`, which is at most 2^32 - 1.
    std::uint32_t below_or_equal(std::uint32_t most) {
        std::uint32_t value = byte();
        if (most > 0xff) value |= static_cast<std::uint32_t>(byte()) << 8;
        if (most > 0xffff) value |= static_cast<std::uint32_t>(bits(2)) << 16;
        return most == std::numeric_limits<std::uint32_t>::max() ? value : value % (most + 1);
    }
    // As many bytes as the number in front of them says.
    std::string_view text(std::size_t longest = 255) {
        const std::size_t size = std::min<std::size_t>(
            below_or_equal(static_cast<std::uint32_t>(longest)), rest_.size());
        const std::string_view found = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return found;
    }
    // Any number, among them those that saved states should not have.
    double number() {
        using Limits = std::numeric_limits<double>;
        static constexpr std::array<double, 12> kSpecial = {0,
                                                            -0.0,
                                                            1,
                                                            -1,
                                                            0.5,
                                                            1e9,
                                                            1e300,
                                                            Limits::max(),
                                                            Limits::denorm_min(),
                                                            Limits::infinity(),
                                                            -Limits::infinity(),
                                                            Limits::quiet_NaN()};
        const std::uint8_t kind = byte();
        if (kind < kSpecial.size()) return kSpecial[kind];
        if (kind < 128) return static_cast<std::int8_t>(byte()) / 16.0;
        const std::uint64_t pattern = bits(8);
        double value = 0;
        std::memcpy(&value, &pattern, sizeof value);
        return value;
    }
    // A score as learners compute it: finite.
    float score() {
        const double value = number();
        return value > -1e30 && value < 1e30 ? static_cast<float>(value) : 0.0F;
    }

  private:
    std::uint64_t bits(int bytes) {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes; ++i) value = value << 8 | byte();
        return value;
    }

    std::string_view rest_;
};

}  // namespace tagalong::fuzz
