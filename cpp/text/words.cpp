#include "text/words.hpp"

#include <algorithm>
#include <array>

#include "text/characters.hpp"

namespace tagalong {
namespace {

constexpr std::size_t kLongestRunGram = 3;

// Maps an ASCII letter or digit to itself, in lower case if requested, and other characters to 0.
std::array<char, 128> letters(bool lowercase) {
    std::array<char, 128> table{};
    for (char c = '0'; c <= '9'; ++c) table[c] = c;
    for (char c = 'a'; c <= 'z'; ++c) {
        const char upper = static_cast<char>(c - 'a' + 'A');
        table[c] = c;
        table[upper] = lowercase ? c : upper;
    }
    return table;
}

Slice slice(std::size_t begin, std::size_t end, bool marked) {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin), marked};
}

}  // namespace

void Words::begin_token(std::string& words) {
    begin_ = words.size();
    single_bytes_ = true;
    point_starts_.clear();
}

void Words::read(std::string_view text, std::string& words, std::vector<Slice>& found) {
    static const std::array<std::array<char, 128>, 2> tables = {letters(false), letters(true)};
    const std::array<char, 128>& table = tables[config_.lowercase];
    word_starts_.clear();
    words += ' ';
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t before = at;
        const auto byte = static_cast<std::uint8_t>(text[at]);
        if (byte < 0x80) {  // the usual case: read all ASCII letters that follow at once
            if (table[byte] == 0) {
                ++at;
                if (in_word_) end_word(words, found);
                if (in_run_) end_run(words, found);
                continue;
            }
            if (in_run_) end_run(words, found);
            if (!in_word_) begin_token(words);
            in_word_ = true;
            char buffer[kLongestWord];
            std::size_t count = 0;
            const std::size_t have = words.size() - begin_,
                              room = have < kLongestWord ? kLongestWord - have : 0;
            for (; at < text.size(); ++at) {
                const auto next = static_cast<std::uint8_t>(text[at]);
                if (next >= 0x80 || table[next] == 0) break;
                if (count < room) buffer[count++] = table[next];
            }
            if (!single_bytes_)
                for (std::size_t i = 0; i < count; ++i)
                    point_starts_.push_back(static_cast<std::uint32_t>(words.size() + i));
            words.append(buffer, count);
            continue;
        }
        const Character kind = classify(next_point(text, at));
        if (kind != Character::word && in_word_) end_word(words, found);
        if (kind != Character::spaceless && in_run_) end_run(words, found);
        if (kind == Character::other) continue;
        if (!in_word_ && !in_run_) begin_token(words);
        (kind == Character::word ? in_word_ : in_run_) = true;
        if (in_word_ && words.size() - begin_ >= kLongestWord) continue;
        if (single_bytes_) {
            single_bytes_ = false;
            for (std::size_t i = begin_; i < words.size(); ++i)
                point_starts_.push_back(static_cast<std::uint32_t>(i));
        }
        point_starts_.push_back(static_cast<std::uint32_t>(words.size()));
        words += text.substr(before, at - before);
    }
    if (in_word_) end_word(words, found);
    if (in_run_) end_run(words, found);
}

void Words::end_word(std::string& words, std::vector<Slice>& found) {
    in_word_ = false;
    const std::size_t end = words.size();
    words += ' ';
    if (config_.least_words == 1) found.push_back(slice(begin_, end, false));
    if (config_.most_words > 1) {
        word_starts_.push_back(static_cast<std::uint32_t>(begin_));
        const std::size_t have = word_starts_.size(), most = std::min(have, config_.most_words);
        for (std::size_t n = std::max<std::size_t>(2, config_.least_words); n <= most; ++n)
            found.push_back(slice(word_starts_[have - n], end, false));
    }
    if (config_.most_chars > 0) character_grams(static_cast<std::uint32_t>(end), found);
}

void Words::character_grams(std::uint32_t end, std::vector<Slice>& found) const {
    // Includes the spaces around the word, so that n-grams at its ends differ from those inside.
    const auto first = static_cast<std::uint32_t>(begin_ - 1);
    const std::size_t points = 2 + (single_bytes_ ? end - begin_ : point_starts_.size());
    const auto start = [&](std::size_t point) {  // start of a code point, or the end of the last
        if (point == 0) return first;
        if (point <= point_starts_.size()) return point_starts_[point - 1];
        return end + static_cast<std::uint32_t>(point + 1 - points);
    };
    for (std::size_t n = config_.least_chars; n <= std::min(points, config_.most_chars); ++n) {
        const std::size_t grams = points + 1 - n, before = found.size();
        found.resize(before + grams);
        Slice* out = found.data() + before;
        if (single_bytes_)
            for (std::size_t from = 0; from < grams; ++from)
                out[from] = slice(first + from, first + from + n, true);
        else
            for (std::size_t from = 0; from < grams; ++from)
                out[from] = slice(start(from), start(from + n), true);
    }
}

void Words::end_run(std::string& words, std::vector<Slice>& found) {
    in_run_ = false;
    const std::size_t points = point_starts_.size();
    point_starts_.push_back(static_cast<std::uint32_t>(words.size()));
    for (std::size_t from = 0; from < points; ++from)
        for (std::size_t n = 1; n <= std::min(kLongestRunGram, points - from); ++n)
            found.push_back(slice(point_starts_[from], point_starts_[from + n], false));
    words += ' ';
    // Word n-grams do not span the run.
    word_starts_.clear();
}

}  // namespace tagalong
