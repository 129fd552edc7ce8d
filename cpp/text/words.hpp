// Text into names of features: words, word n-grams, character n-grams.
//
// A word is a run of letters, digits and marks, in lower case. The letters of scripts that put
// no spaces between words make character n-grams of 1 to 3 instead. Character n-grams of words,
// if wanted, see the word with a space on either side and are marked with "~".
// The words are written one after the other with single spaces between them: each name is a
// piece of that, and nothing is written twice.
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

// Where a name is; a marked one has a "~" before it.
struct Slice {
    std::uint32_t begin;
    std::uint32_t length : 31;
    std::uint32_t marked : 1;
};

class Words {
  public:
    // A longer word (an encoded attachment, a key) counts by its beginning.
    static constexpr std::size_t kLongestWord = 64;

    explicit Words(const WordsConfig& config) : config_(config) {}

    // Appends the words of a text to `words`, and where its names are to `found`.
    void read(std::string_view text, std::string& words, std::vector<Slice>& found);

  private:
    void begin_part(std::string& words);
    void end_word(std::string& words, std::vector<Slice>& found);
    void end_run(std::string& words, std::vector<Slice>& found);
    void character_grams(std::uint32_t end, std::vector<Slice>& found) const;

    WordsConfig config_;
    bool in_word_ = false, in_run_ = false;  // of a script without spaces
    std::size_t begin_ = 0;                  // of the word or run that is being read
    bool single_bytes_ = true;               // so far each of its code points is one byte
    std::vector<std::uint32_t> marks_;       // where its code points begin, if they matter
    std::vector<std::uint32_t> recent_;      // where the words before it begin, for n-grams
};

}  // namespace tagalong
