// Texts and named values into numbered features.
//
// A name becomes a key, and the key a number: its bucket of a fixed number of buckets (hashing),
// or the next free number (a growing vocabulary). Looking at an item changes nothing; learning
// one notes its words: numbers of new words, in how many items each occurs, names to show.
// An item is looked at in the same way before and while it is learnt: counts of items are
// those before it, and words that are new get the numbers that learning would give them.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/names.hpp"
#include "text/vocabulary.hpp"
#include "text/words.hpp"

namespace tagalong {

enum class Weighting {
    binary,  // 1
    count,   // how often it occurs in the item
    log,     // 1 + log(count)
    tfidf,   // (1 + log(count)) * (1 + log((1 + items) / (1 + items with it)))
};

struct TextConfig {
    WordsConfig words;
    Weighting weighting = Weighting::binary;
    std::uint32_t buckets = 1u << 20;  // 0: a growing vocabulary
    bool unit = false;                 // scale each item to Euclidean length 1
    std::size_t name_bytes = 0;        // how much memory names may take
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

    // What reading an item needs and gives; one a thread.
    struct Reading {
        std::vector<std::int32_t> feature;  // ascending
        std::vector<double> value;

        std::string text;           // all words, and the names of values
        std::vector<Slice> names;   // in the order of the item, values last
        std::vector<double> given;  // of those values
        struct Part {               // names that begin with the same field
            std::size_t first;
            std::string field;  // with its colon, if it has a name
        };
        std::vector<Part> parts;
        std::vector<std::uint64_t> sorted;  // (feature, place among the names), see sort_places
        std::vector<std::uint64_t> scratch;
        Vocabulary new_words;  // what learning would add to the vocabulary

        std::string name(std::size_t place) const;
    };

    void read(const Item& item, Reading& out) const;
    // Notes what was read; it must have been read since anything was learnt last.
    void learn(const Reading& reading);

    std::shared_mutex& mutex() const { return mutex_; }
    const TextConfig& config() const { return config_; }
    const Names& names() const { return names_; }
    const Vocabulary& vocabulary() const { return vocabulary_; }
    const std::vector<std::uint32_t>& items_with() const { return items_with_; }
    std::uint64_t items() const { return items_; }
    // How many features there can be so far.
    std::size_t size() const { return config_.buckets > 0 ? config_.buckets : vocabulary_.size(); }
    std::size_t bytes() const {
        return names_.bytes() + vocabulary_.bytes() + items_with_.size() * sizeof(std::uint32_t);
    }

    // For loading: what `learn` noted.
    void restore(std::uint64_t items, std::span<const std::uint64_t> keys,
                 std::vector<std::uint32_t> items_with);
    void forget_names(const std::unordered_set<std::int32_t>& ids) { names_.forget(ids); }
    void restore_name(std::int32_t id, std::string_view name) { names_.add(id, name); }

  private:
    std::int32_t number(std::uint64_t key, Reading& out) const;
    void number_names(Reading& out) const;
    void gather(Reading& out) const;
    double weight(std::size_t count, std::int32_t feature) const;

    TextConfig config_;
    Vocabulary vocabulary_;
    Names names_;
    std::vector<std::uint32_t> items_with_;  // by feature, for tfidf
    std::uint64_t items_ = 0;
    mutable std::shared_mutex mutex_;
};

}  // namespace tagalong
