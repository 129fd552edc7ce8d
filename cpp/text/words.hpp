// Splits a text into feature names: words, word n-grams, character n-grams.
//
// A word is a maximal sequence of letters, digits and marks, by default in lower case. Letters of
// scripts without spaces between words form runs, which give character n-grams of length 1 to 3
// instead. Optional character n-grams of words include a space on both sides of the word and are
// marked with "~". All words are written to one buffer with single spaces in between; each name is
// a slice of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tagalong {

struct WordsConfig {
    std::size_t least_words = 1, most_words = 1;
    std::size_t least_chars = 0, most_chars = 0;  // 0, 0: no character n-grams
    bool lowercase = true;
};

// The position of a name in the buffer. A marked name, a character n-gram, has the prefix "~".
struct Slice {
    std::uint32_t begin;
    std::uint32_t length : 31;
    std::uint32_t marked : 1;
};

class Words {
  public:
    // Longer words (encoded attachments, keys) are cut at about this many bytes.
    static constexpr std::size_t kLongestWord = 64;

    explicit Words(const WordsConfig& config) : config_(config) {}

    // Appends the words of a text to `words` and its names to `found`.
    void read(std::string_view text, std::string& words, std::vector<Slice>& found);

  private:
    void begin_token(std::string& words);
    void end_word(std::string& words, std::vector<Slice>& found);
    void end_run(std::string& words, std::vector<Slice>& found);
    void character_grams(std::uint32_t end, std::vector<Slice>& found) const;

    WordsConfig config_;
    bool in_word_ = false;
    bool in_run_ = false;                      // in a run of a script without spaces
    std::size_t begin_ = 0;                    // start of the current word or run
    bool single_bytes_ = true;                 // all its code points so far are ASCII
    std::vector<std::uint32_t> point_starts_;  // starts of its code points, unless single_bytes_
    std::vector<std::uint32_t> word_starts_;   // starts of the preceding words, for word n-grams
};

}  // namespace tagalong
