#include "words.hpp"

#include <algorithm>

#include "characters.hpp"

namespace tagalong {
namespace {

constexpr std::size_t kLongestRunGram = 3;

}  // namespace

void Words::start_name(std::string& names) const {
    if (field_.empty()) return;
    names += field_;
    names += ':';
}

void Words::add_name(std::size_t begin, std::string& names, std::vector<Slice>& found) const {
    found.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(names.size() - begin)});
}

void Words::read(std::string_view field, std::string_view text, std::string& names,
                 std::vector<Slice>& found) {
    field_ = field;
    recent_.clear();
    recent_text_.clear();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t before = at;
        const auto byte = static_cast<std::uint8_t>(text[at]);
        if (byte < 0x80) {  // the usual case, without a look at the table
            ++at;
            const bool upper = byte >= 'A' && byte <= 'Z';
            if (upper || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9')) {
                if (!run_.empty()) end_run(names, found);
                if (word_.size() < kLongestWord) {
                    marks_.push_back(static_cast<std::uint32_t>(word_.size()));
                    word_ += static_cast<char>(upper && config_.lowercase ? byte | 0x20 : byte);
                }
            } else {
                if (!word_.empty()) end_word(names, found);
                if (!run_.empty()) end_run(names, found);
            }
            continue;
        }
        const Character kind = classify(next_point(text, at));
        if (kind != Character::word && !word_.empty()) end_word(names, found);
        if (kind != Character::spaceless && !run_.empty()) end_run(names, found);
        if (kind == Character::other) continue;
        std::string& target = kind == Character::word ? word_ : run_;
        if (kind == Character::word && word_.size() >= kLongestWord) continue;
        (kind == Character::word ? marks_ : run_marks_).push_back(static_cast<std::uint32_t>(target.size()));
        target += text.substr(before, at - before);
    }
    if (!word_.empty()) end_word(names, found);
    if (!run_.empty()) end_run(names, found);
}

void Words::end_word(std::string& names, std::vector<Slice>& found) {
    if (config_.least_words == 1) {
        const std::size_t begin = names.size();
        start_name(names);
        names += word_;
        add_name(begin, names, found);
    }
    if (config_.most_words > 1) {
        // The words before it, oldest first, each preceded by those before.
        recent_.push_back({static_cast<std::uint32_t>(recent_text_.size()), static_cast<std::uint32_t>(word_.size())});
        recent_text_ += word_;
        recent_text_ += ' ';
        const std::size_t have = recent_.size();
        const std::size_t end = recent_text_.size() - 1;
        for (std::size_t n = std::max<std::size_t>(2, config_.least_words); n <= std::min(have, config_.most_words); ++n) {
            const std::size_t begin = names.size();
            start_name(names);
            const std::size_t first = recent_[have - n].begin;
            names.append(recent_text_, first, end - first);
            add_name(begin, names, found);
        }
    }
    if (config_.most_chars > 0) character_grams(names, found);
    word_.clear();
    marks_.clear();
}

void Words::character_grams(std::string& names, std::vector<Slice>& found) {
    // With a space on either side, so that the ends of a word tell from its middle.
    const std::size_t points = marks_.size() + 2;
    const std::string padded = " " + word_ + " ";
    const auto start = [&](std::size_t point) {  // of a code point of `padded`, or its end
        if (point == 0) return std::size_t{0};
        if (point <= marks_.size()) return static_cast<std::size_t>(marks_[point - 1]) + 1;
        return point == points ? padded.size() : padded.size() - 1;
    };
    for (std::size_t n = config_.least_chars; n <= std::min(points, config_.most_chars); ++n)
        for (std::size_t from = 0; from + n <= points; ++from) {
            const std::size_t begin = names.size();
            start_name(names);
            names += '~';
            names.append(padded, start(from), start(from + n) - start(from));
            add_name(begin, names, found);
        }
}

void Words::end_run(std::string& names, std::vector<Slice>& found) {
    const std::size_t points = run_marks_.size();
    run_marks_.push_back(static_cast<std::uint32_t>(run_.size()));
    for (std::size_t from = 0; from < points; ++from)
        for (std::size_t n = 1; n <= std::min(kLongestRunGram, points - from); ++n) {
            const std::size_t begin = names.size();
            start_name(names);
            names.append(run_, run_marks_[from], run_marks_[from + n] - run_marks_[from]);
            add_name(begin, names, found);
        }
    run_.clear();
    run_marks_.clear();
    // Words on either side of it are no neighbours.
    recent_.clear();
    recent_text_.clear();
}

}  // namespace tagalong
