#include "text/characters.hpp"

#include <algorithm>
#include <vector>

namespace tagalong {
namespace {

struct Range {
    std::uint32_t first, last;
    Character kind;
};

constexpr Range kRanges[] = {
#include "text/character_ranges.inc"
};

constexpr std::size_t kPoints = 0x110000;

// A table with one byte per code point, about a megabyte, made at the first use. A look-up needs no
// search.
std::vector<Character> make_table() {
    std::vector<Character> table(kPoints, Character::other);
    for (const char c : {'0', 'A', 'a'}) {
        const auto first = table.begin() + c;
        std::fill(first, first + (c == '0' ? 10 : 26), Character::word);
    }
    for (const Range& range : kRanges)
        std::fill(table.begin() + range.first, table.begin() + range.last + 1, range.kind);
    return table;
}

}  // namespace

Character classify(std::uint32_t point) {
    static const std::vector<Character> table = make_table();
    return point < kPoints ? table[point] : Character::other;
}

}  // namespace tagalong
