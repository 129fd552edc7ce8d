// Character classes for word splitting, and a UTF-8 decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagalong {

enum class Character : std::uint8_t {
    other,      // separators of words: spaces, punctuation, symbols
    word,       // letters, digits, marks
    spaceless,  // letters of scripts without spaces between words
};

Character classify(std::uint32_t point);

// Decodes the code point at `at` and advances `at`. Invalid UTF-8 gives U+FFFD, whose class is
// `other`.
inline std::uint32_t next_point(std::string_view text, std::size_t& at) {
    constexpr std::uint32_t replacement = 0xFFFD;
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint32_t lead = byte(at++);
    if (lead < 0x80) return lead;
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4) return replacement;
    std::uint32_t point = lead & (0x3Fu >> more);
    for (int i = 0; i < more; ++i) {
        if (at >= text.size() || (byte(at) & 0xC0) != 0x80) return replacement;
        point = point << 6 | (byte(at++) & 0x3Fu);
    }
    // Overlong encoding, surrogate, or beyond the last code point.
    constexpr std::uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (point < least[more] || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF)
        return replacement;
    return point;
}

}  // namespace tagalong
