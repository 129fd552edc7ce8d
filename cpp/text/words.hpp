// Text into names of features: words, word n-grams, character n-grams.
//
// A word is a run of letters, digits and marks, in lower case. The letters of scripts that put
// no spaces between words make character n-grams of 1 to 3 instead. Character n-grams of words,
// if wanted, see the word with a space on either side and are marked with "~".
// Names are written one after the other into one string; the words of a named field begin with
// the field and a colon.
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

struct Slice {
    std::uint32_t begin, length;
};

class Words {
  public:
    // A longer word (an encoded attachment, a key) counts by its beginning.
    static constexpr std::size_t kLongestWord = 64;

    explicit Words(const WordsConfig& config) : config_(config) {}

    // Appends the names of a text's features to `names`, and where each is to `found`.
    void read(std::string_view field, std::string_view text, std::string& names, std::vector<Slice>& found);

  private:
    void end_word(std::string& names, std::vector<Slice>& found);
    void end_run(std::string& names, std::vector<Slice>& found);
    void start_name(std::string& names) const;
    void add_name(std::size_t begin, std::string& names, std::vector<Slice>& found) const;
    void character_grams(std::string& names, std::vector<Slice>& found);

    WordsConfig config_;
    std::string_view field_;
    std::string word_;                 // being read
    std::vector<std::uint32_t> marks_; // where its code points begin
    std::string run_;                  // of a script without spaces
    std::vector<std::uint32_t> run_marks_;
    std::vector<Slice> recent_;        // the words before it, for n-grams
    std::string recent_text_;
};

}  // namespace tagalong
