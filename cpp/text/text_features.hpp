// Converts texts and named values into numbered features.
//
// Each name is hashed to a key, and the key is mapped to a feature number: one of a fixed number of
// buckets (feature hashing), or the next free number (a growing vocabulary). `read` changes
// nothing; `learn` records the words of an item: numbers of new words, document frequencies, names
// for display. Reading an item before learning it gives the features that learning uses: document
// frequencies exclude the item, and new words get the numbers that learning would assign.
//
// A word of a named field is a feature of its own ("subject:invoice"). With back-off, each word is
// also a feature without the field ("invoice"), which all fields share, except that the longest
// text of an item has the shared features only: its words with the field would say the same again.
//
// `Fields::matched` is for items to be predicted. A field that was never learnt has no known
// features, so its text is read as a learnt field: the one that knows most of its words, if learnt
// words can be told from others (vocabulary, document frequencies), otherwise the one with most
// words learnt. With back-off, it is read as text without a field.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model_mutex.hpp"
#include "text/field_counts.hpp"
#include "text/names.hpp"
#include "text/vocabulary.hpp"
#include "text/words.hpp"

namespace tagalong {

enum class Weighting {
    binary,  // 1
    count,   // the number of occurrences in the item
    log,     // 1 + log(count)
    tfidf,   // (1 + log(count)) * (1 + log((1 + items) / (1 + items with the feature)))
};

struct TextConfig {
    WordsConfig words;
    Weighting weighting = Weighting::binary;
    std::uint32_t buckets = 1u << 20;  // 0: a growing vocabulary
    bool unit = false;                 // scale each item to Euclidean length 1
    bool backoff = false;              // words of fields are also features without the field
    std::size_t name_bytes = 0;        // memory limit of stored names
};

class TextFeatures {
  public:
    explicit TextFeatures(const TextConfig& config) : config_(config), names_(config.name_bytes) {}

    struct Text {
        std::string_view field, text;
    };
    struct Value {
        std::string_view name;
        double value;
    };
    struct Item {
        std::vector<Text> texts;
        std::vector<Value> values;
    };

    // The result and the working memory of reading an item; one per thread.
    struct Reading {
        std::vector<std::int32_t> feature;  // ascending
        std::vector<double> value;

        std::string text;           // all words, and the names of the values
        std::vector<Slice> names;   // in the order of the item, values last
        std::vector<double> given;  // the named values
        struct Part {               // consecutive names of the same field
            std::size_t first;
            std::string field;  // followed by a colon; empty for a field without a name
        };
        std::vector<Part> parts;
        struct FieldText {  // a text of the item
            std::string field;
            std::size_t words;
        };
        std::vector<FieldText> texts;
        struct Match {  // a field that was never learnt, and the field that it is read as, if any
            std::string field;
            std::optional<std::string> read_as;
        };
        std::vector<Match> matches;
        std::vector<std::uint64_t> sorted;  // (feature, place among the names), see sort_places
        std::vector<std::uint64_t> scratch;
        Vocabulary new_words;  // words that learning would add to the vocabulary

        std::string name(std::size_t place) const;
    };

    // The record that learning keeps of an item, apart from what its features depend on.
    struct Note {
        std::vector<Reading::FieldText> texts;
        std::vector<std::pair<std::int32_t, std::string>> names;  // of features without a name
    };

    // How to read fields that were never learnt.
    enum class Fields { given, matched };

    void read(const Item& item, Reading& out, Fields fields = Fields::given) const;
    // Records the words of an item. The reading must be newer than the last call of `learn`, and
    // its fields must be the given ones.
    void learn(const Reading& reading);

    // Whether the features of an item do not depend on the items that were learnt before. Such
    // items can be read ahead: `learn` of their note, in the order of the items, is the same as
    // `learn` of a new reading. No name may be forgotten in between.
    bool can_read_ahead() const {
        return config_.buckets > 0 && config_.weighting != Weighting::tfidf;
    }
    Note note(const Reading& reading) const;
    void learn(const Note& note);

    ModelMutex& mutex() const { return mutex_; }
    const TextConfig& config() const { return config_; }
    const Names& names() const { return names_; }
    const Vocabulary& vocabulary() const { return vocabulary_; }
    const std::vector<std::uint32_t>& items_with() const { return items_with_; }
    std::uint64_t items() const { return items_; }
    const FieldCounts& fields() const { return fields_; }
    // The number of features that can occur so far.
    std::size_t size() const { return config_.buckets > 0 ? config_.buckets : vocabulary_.size(); }
    std::size_t bytes() const {
        return names_.bytes() + vocabulary_.bytes() + items_with_.size() * sizeof(std::uint32_t) +
               fields_.bytes();
    }

    // For loading a saved model: the state that `learn` has recorded.
    void restore(std::uint64_t items, std::span<const std::uint64_t> keys,
                 std::vector<std::uint32_t> items_with);
    // Without the counts of fields, as in files of older versions, no field is matched.
    void restore_fields(FieldCounts fields) { fields_ = std::move(fields); }
    void forget_names(const std::unordered_set<std::int32_t>& ids) { names_.forget(ids); }
    void restore_name(std::int32_t id, std::string_view name) { names_.add(id, name); }

  private:
    bool is_unseen(std::string_view field) const;
    std::optional<std::string> best_field(Reading& out, std::size_t first) const;
    std::size_t known_words(const Reading& out, std::size_t first, std::string_view field) const;
    bool is_known(std::uint64_t key) const;
    bool tells_known_words() const;
    static void back_off(Reading& out);
    void count_fields(const std::vector<Reading::FieldText>& texts);
    std::int32_t bucket(std::uint64_t key) const;
    std::int32_t feature_number(std::uint64_t key, Reading& out) const;
    void number_names(Reading& out) const;
    void sum_features(Reading& out) const;
    double weight(std::size_t count, std::int32_t feature) const;

    TextConfig config_;
    Vocabulary vocabulary_;
    Names names_;
    FieldCounts fields_;
    std::vector<std::uint32_t> items_with_;  // document frequency by feature, for tfidf
    std::uint64_t items_ = 0;
    mutable ModelMutex mutex_;
};

}  // namespace tagalong
