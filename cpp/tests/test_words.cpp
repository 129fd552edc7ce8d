// Characters and Words: UTF-8 decoding and tokens compared with simple implementations.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/check.hpp"
#include "tests/random.hpp"
#include "text/characters.hpp"
#include "text/words.hpp"

namespace tagalong::test::words_test {
namespace {

using Names = std::vector<std::string>;

struct Symbol {
    Character kind;
    std::string bytes;
};

// UTF-8 by its definition: decode a candidate of each length, and take the one that encodes back to
// the same bytes. A byte that starts no character is a separate symbol between words.
std::string encoded(std::uint32_t point) {
    const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
    if (point < 0x80) return {byte(point)};
    if (point < 0x800) return {byte(0xC0 | point >> 6), byte(0x80 | (point & 0x3F))};
    if (point < 0x10000)
        return {byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 0x3F)),
                byte(0x80 | (point & 0x3F))};
    return {byte(0xF0 | point >> 18), byte(0x80 | (point >> 12 & 0x3F)),
            byte(0x80 | (point >> 6 & 0x3F)), byte(0x80 | (point & 0x3F))};
}

std::vector<Symbol> symbols_of(std::string_view text) {
    std::vector<Symbol> out;
    for (std::size_t at = 0; at < text.size();) {
        Symbol found{Character::other, std::string(text.substr(at, 1))};
        for (std::size_t length = 1; length <= std::min<std::size_t>(4, text.size() - at);
             ++length) {
            const std::string bytes(text.substr(at, length));
            std::uint32_t point = static_cast<std::uint8_t>(bytes[0]);
            if (length > 1) point &= 0x7Fu >> length;
            for (std::size_t i = 1; i < length; ++i)
                point = point << 6 | (static_cast<std::uint8_t>(bytes[i]) & 0x3F);
            const bool surrogate = point >= 0xD800 && point < 0xE000;
            if (point < 0x110000 && !surrogate && encoded(point) == bytes)
                found = {classify(point), bytes};
        }
        at += found.bytes.size();
        out.push_back(found);
    }
    return out;
}

std::string joined(const Names& parts, std::size_t from, std::size_t count,
                   const std::string& between) {
    std::string out = parts[from];
    for (std::size_t i = from + 1; i < from + count; ++i) out += between + parts[i];
    return out;
}

std::string lower(std::string bytes) {
    for (char& c : bytes)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return bytes;
}

// A reference implementation of Words, with sorted names: runs of one kind, then n-grams of words,
// then n-grams of letters.
Names plain_names(const WordsConfig& config, const std::string& field, std::string_view text) {
    Names out;
    const std::string prefix = field.empty() ? "" : field + ":";
    const auto emit = [&](const std::string& name) { out.push_back(prefix + name); };
    std::vector<Symbol> symbols = symbols_of(text);
    symbols.push_back({Character::other, ""});
    Names neighbours, letters;  // words since the last spaceless run; letters of the current run
    std::size_t bytes = 0;
    Character kind = Character::other;
    for (const Symbol& symbol : symbols) {
        if (symbol.kind != kind) {
            if (kind == Character::word) {
                neighbours.push_back(joined(letters, 0, letters.size(), ""));
                const std::size_t have = neighbours.size();
                for (std::size_t n = config.least_words; n <= std::min(config.most_words, have);
                     ++n)
                    emit(joined(neighbours, have - n, n, " "));
                letters.insert(letters.begin(), " ");
                letters.emplace_back(" ");
                if (config.most_chars > 0)
                    for (std::size_t n = config.least_chars;
                         n <= std::min(config.most_chars, letters.size()); ++n)
                        for (std::size_t i = 0; i + n <= letters.size(); ++i)
                            emit("~" + joined(letters, i, n, ""));
            }
            if (kind == Character::spaceless) {
                for (std::size_t n = 1; n <= std::min<std::size_t>(3, letters.size()); ++n)
                    for (std::size_t i = 0; i + n <= letters.size(); ++i)
                        emit(joined(letters, i, n, ""));
                neighbours.clear();
            }
            letters.clear();
            bytes = 0;
            kind = symbol.kind;
        }
        if (kind == Character::word && bytes >= Words::kLongestWord) continue;
        letters.push_back(config.lowercase ? lower(symbol.bytes) : symbol.bytes);
        bytes += symbol.bytes.size();
    }
    std::sort(out.begin(), out.end());
    return out;
}

Names names_of(Words& words, std::string_view field, std::string_view text) {
    std::string read = "before";  // existing text must be kept
    std::vector<Slice> found;
    words.read(text, read, found);
    same(read.substr(0, 7), "before ");
    Names out;
    for (const Slice& slice : found) {
        check(slice.begin >= 6 && slice.begin + slice.length <= read.size(),
              "a name is not a slice of the words");
        const std::string prefix = field.empty() ? "" : std::string(field) + ":";
        out.push_back(prefix + (slice.marked ? "~" : "") + read.substr(slice.begin, slice.length));
    }
    return out;
}

Names names_of(const WordsConfig& config, std::string_view field, std::string_view text) {
    Words words(config);
    return names_of(words, field, text);
}

void names_are(const Names& actual, const Names& expected, const Where& where = Where::current()) {
    if (actual == expected) return;
    const auto shown = [](const Names& names) {
        return names.empty() ? "none" : joined(names, 0, names.size(), "|");
    };
    check(false, shown(actual) + " instead of " + shown(expected), where);
}

// Letters of several scripts, punctuation, ends of ranges, and bytes that are not UTF-8.
std::string random_text(Random& random) {
    static const std::vector<std::uint32_t> points = {
        'a',    'b',    'Z',    '7',    ' ',     '-',     '\n',     0,
        0xE9,   0x3B1,  0x416,  0x301,  0x5D0,   0x2014,  0x3002,   0x4E2D,
        0x6587, 0x3042, 0x0E01, 0x0E35, 0x1F600, 0x20000, 0x10FFFF, 0xFFFD};
    static const std::vector<std::string> broken = {"\x80",
                                                    "\xC3",
                                                    "\xFF",
                                                    "\xE4\xB8",
                                                    "\xF0\x9F\x98",
                                                    "\xC0\xAF",
                                                    "\xED\xA0\x80",
                                                    "\xF5\x80\x80\x80",
                                                    "\xF4\x90\x80\x80"};
    const auto one_of = [&](const auto& list) { return list[random.bits() % list.size()]; };
    std::string text;
    const bool valid = random.chance(0.5), long_words = random.chance(0.1);
    for (int left = random.below(40); left > 0; --left) {
        if (!valid && random.chance(0.15)) text += one_of(broken);
        else if (random.chance(0.05))
            text += encoded(static_cast<std::uint32_t>(random.below(0xD800)));
        else if (long_words && random.chance(0.3))
            text += std::string(static_cast<std::size_t>(random.below(80)), 'Q');
        else text += encoded(one_of(points));
    }
    return text;
}

const Test kinds{
    "characters: letters, marks and digits form words; scripts without spaces are separate", [] {
        for (const char* word :
             {"a", "Z", "5", "é", "ß", "я", "א", "ع", "क", "\u0301", "٣", "²", "한"})
            for (const Symbol& symbol : symbols_of(word))
                check(symbol.kind == Character::word, word);
        for (const char* spaceless :
             {"中", "々", "ひ", "カ", "ｶ", "ก", "ี", "ລ", "က", "ក", "བ", "𠀀"})
            for (const Symbol& symbol : symbols_of(spaceless))
                check(symbol.kind == Character::spaceless, spaceless);
        for (const char* other :
             {" ", "_", "-", "'", "$", "\n", "\u00A0", "—", "。", "、", "€", "😀", "\u200B"})
            for (const Symbol& symbol : symbols_of(other))
                check(symbol.kind == Character::other, other);
        for (const std::uint32_t point : {0u, 0x7Fu, 0xD800u, 0x10FFFFu, 0x110000u, 0xFFFFFFFFu})
            check(classify(point) == Character::other, text(point));
    }};

const Test decoding{"characters: every code point is decoded from its bytes", [] {
                        for (std::uint32_t point = 0; point < 0x110000;
                             point += point < 0x3000 ? 1 : 37) {
                            if (point >= 0xD800 && point < 0xE000) continue;
                            const std::string bytes = encoded(point);
                            std::size_t at = 0;
                            same(next_point(bytes, at), point);
                            same(at, bytes.size());
                        }
                    }};

const Test overlong{"characters: an overlong encoding is not UTF-8", [] {
                        for (const std::string bytes :
                             {"\xC1\x81", "\xE0\x81\x81", "\xF0\x80\x81\x81", "\xE0\x83\xA9"}) {
                            std::size_t at = 0;
                            check(classify(next_point(bytes, at)) == Character::other,
                                  "a letter from " + text(bytes.size()) + " bytes");
                        }
                    }};

const Test twin{
    "words: names equal those of a simple splitter", [] {
        Random random(31);
        for (int round = 0; round < 1500; ++round) {
            WordsConfig config;
            config.least_words = 1 + static_cast<std::size_t>(random.below(3));
            config.most_words = config.least_words + static_cast<std::size_t>(random.below(3));
            if (random.chance(0.5)) {
                config.least_chars = 1 + static_cast<std::size_t>(random.below(4));
                config.most_chars = config.least_chars + static_cast<std::size_t>(random.below(3));
            }
            config.lowercase = random.chance(0.7);
            const std::string field = random.chance(0.5) ? "" : "subject";
            Words words(config);
            // The second text must not depend on the first.
            for (int texts = 0; texts < 2; ++texts) {
                const std::string text = random_text(random);
                const Note note("text '", text, "', round ", round);
                Names actual = names_of(words, field, text);
                std::sort(actual.begin(), actual.end());
                names_are(actual, plain_names(config, field, text));
            }
        }
    }};

const Test examples{
    "words: examples", [] {
        names_are(names_of({}, "", "Hello, hello WORLD-2"), {"hello", "hello", "world", "2"});
        names_are(names_of({.lowercase = false}, "", "Ab É"), {"Ab", "É"});
        names_are(names_of({.most_words = 2}, "", "a b,c"), {"a", "b", "a b", "c", "b c"});
        names_are(names_of({.least_words = 2, .most_words = 3}, "to", "a b c"),
                  {"to:a b", "to:b c", "to:a b c"});
        names_are(names_of({.least_chars = 2, .most_chars = 3}, "", "né"),
                  {"né", "~ n", "~né", "~é ", "~ né", "~né "});
        names_are(names_of({}, "", "中文字ab"), {"中", "中文", "中文字", "文", "文字", "字", "ab"});
        names_are(names_of({}, "f", "กา"), {"f:ก", "f:กา", "f:า"});
        names_are(names_of({.most_words = 2}, "", "a 中 b"), {"a", "中", "b"});
        for (const char* nothing : {"", " ,.\n", "\xFF\xFE", "😀"})
            names_are(names_of({}, "f", nothing), {});
    }};

const Test longest{
    "words: a long word is truncated", [] {
        const std::string beginning(Words::kLongestWord, 'x');
        names_are(names_of({}, "", beginning + "yz end"), {beginning, "end"});
        names_are(names_of({}, "", beginning), {beginning});
        const std::string odd = beginning.substr(1) + "é";  // a character is not split
        names_are(names_of({}, "", odd + "é"), {odd});
        same(names_of({.least_chars = 3, .most_chars = 3}, "", std::string(100000, 'q')).size(),
             Words::kLongestWord + 1);
    }};

}  // namespace
}  // namespace tagalong::test::words_test
