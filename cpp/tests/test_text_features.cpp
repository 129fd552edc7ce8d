// Name keys, vocabulary, names, and TextFeatures compared with a reference implementation.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/check.hpp"
#include "tests/random.hpp"
#include "text/hash.hpp"
#include "text/names.hpp"
#include "text/sort_places.hpp"
#include "text/text_features.hpp"
#include "text/vocabulary.hpp"

namespace tagalong::test::text_features_test {
namespace {

using Reading = TextFeatures::Reading;
using Table = std::map<std::int32_t, double>;

// Values from an independent implementation. Saved models depend on them.
const Test pinned{"name keys: fixed values, which saved models depend on", [] {
                      same(name_key(""), 0x8F84894F11493AE6u);
                      same(name_key("a"), 0x5F92B335EEF57CEBu);
                      same(name_key("12345678"), 0xFB8E3191E95CA505u);
                      same(name_key("hello world"), 0x12C059CCFE969F58u);
                      same(name_key("subject:räksmörgås"), 0x4FD4AC009E2264F7u);
                      same(name_key("中文字"), 0x2E9DC8C1556CACB6u);
                      same(name_key(std::string(64, 'x')), 0xF193EE92C8231E0Du);
                  }};

const Test beginnings{"name keys: a key continued from a prefix equals the key of the whole name",
                      [] {
                          Random random(47);
                          for (std::size_t before = 0; before < 20; ++before)
                              for (std::size_t length = 0; length < 40; ++length) {
                                  std::string all(before + length + NameKeys::kReadAhead, ' ');
                                  for (char& c : all) c = static_cast<char>(random.below(256));
                                  const NameKeys keys(std::string_view(all).substr(0, before));
                                  const Note note(before, " bytes and ", length);
                                  same(keys(all.data() + before, length),
                                       name_key(std::string_view(all).substr(0, before + length)));
                              }
                      }};

const Test sorting{
    "sorted positions: by feature, stable, for few and many entries", [] {
        Random random(48);
        std::vector<std::uint64_t> pairs, scratch;
        for (const int features : {1, 2, 1000, 1023, 1024, 1025, 1 << 20, 0x7FFFFFFF})
            for (const std::size_t count : {0, 1, 5, 127, 128, 129, 3000}) {
                const Note note(features, " features, ", count, " places");
                pairs.clear();
                for (std::size_t place = 0; place < count; ++place)
                    pairs.push_back(
                        packed(random.chance(0.1) ? features - 1 : random.below(features), place));
                std::vector<std::uint64_t> expected = pairs;
                std::sort(expected.begin(), expected.end());
                sort_places(pairs, scratch, static_cast<std::uint64_t>(features));
                check(pairs == expected, "orders differ");
            }
    }};

const Test spread{"name keys: distinct for similar names, evenly spread over the buckets", [] {
                      std::set<std::uint64_t> keys;
                      std::vector<int> buckets(16, 0);
                      for (int i = 0; i < 16000; ++i) {
                          const std::uint64_t key = name_key("word" + std::to_string(i));
                          keys.insert(key);
                          ++buckets[key >> 60];
                      }
                      same(keys.size(), 16000u);
                      for (const int count : buckets) near(count, 1000, 150);
                      for (std::size_t length = 0; length < 40; ++length)
                          keys.insert(name_key(std::string(length, '\0')));
                      same(keys.size(), 16040u);
                  }};

const Test numbering{
    "vocabulary: numbers in order of first appearance", [] {
        Random random(41);
        Vocabulary vocabulary;
        std::map<std::uint64_t, std::int32_t> plain;
        std::vector<std::uint64_t> order;
        for (int i = 0; i < 3000; ++i) {
            const std::uint64_t key = static_cast<std::uint64_t>(random.below(500))
                                      << 48;  // equal in all low bits
            const auto known = plain.find(key);
            same(vocabulary.find(key), known == plain.end() ? -1 : known->second);
            if (known == plain.end()) order.push_back(key);
            const auto number =
                plain.try_emplace(key, static_cast<std::int32_t>(plain.size())).first->second;
            same(vocabulary.add(key), number);
            same(vocabulary.find(key), number);
        }
        check(vocabulary.keys() == order, "keys differ");
        same(vocabulary.size(), plain.size());
    }};

const Test bounded{
    "names: the first name of a feature is kept while there is room", [] {
        Random random(42);
        constexpr std::size_t overhead = 28;  // bytes of a name besides its text
        for (const std::size_t max_bytes : {0, 1, 30, 300, 100000}) {
            const Note note("room for ", max_bytes);
            Names names(max_bytes);
            std::map<std::int32_t, std::string> plain;
            std::size_t used = 0;
            for (int i = 0; i < 500; ++i) {
                const auto id = static_cast<std::int32_t>(
                    random.chance(0.5) ? random.below(50) : random.below(1 << 20));
                const std::string name(static_cast<std::size_t>(1 + random.below(12)),
                                       static_cast<char>('a' + i % 26));
                if (!plain.contains(id) && used + overhead + name.size() <= max_bytes) {
                    plain[id] = name;
                    used += overhead + name.size();
                }
                names.add(id, name);
                same(names.find(id),
                     plain.contains(id) ? std::string_view(plain[id]) : std::string_view());
            }
            for (const auto& [id, name] : plain) same(names.find(id), name);
            same(names.size(), plain.size());
            same(names.bytes(), used);
            at_most(static_cast<double>(names.bytes()), static_cast<double>(max_bytes));
            same(names.ids().size(), names.ends().size());
        }
    }};

// Words over a small vocabulary, three fields, and values, some of which share a name with a word.
struct RandomItem {
    std::vector<std::string> fields, value_names;
    std::vector<std::vector<std::string>> words;  // per text
    std::vector<double> values;
    std::vector<std::string> texts;

    explicit RandomItem(Random& random) {
        const auto word = [&] { return "w" + std::to_string(random.below(1 + random.below(60))); };
        for (int part = random.below(3); part > 0; --part) {
            fields.emplace_back(random.chance(0.4) ? "" : random.chance(0.5) ? "title" : "text");
            texts.emplace_back();
            words.emplace_back();
            for (int i = random.below(12); i > 0; --i) {
                words.back().push_back(word());
                texts.back() += (texts.back().empty() ? "" : " ") + words.back().back();
            }
        }
        for (int i = random.below(4); i > 0; --i) {
            value_names.push_back(random.chance(0.5) ? word() : "size=" + word());
            values.push_back(random.chance(0.2) ? 0 : random.normal());
        }
    }
    // The names of the words: with their field, and with back-off those without a field.
    std::vector<std::string> names(bool backoff) const {
        std::vector<std::string> out, shared;
        std::size_t longest = 0;
        for (std::size_t i = 0; i < words.size(); ++i)
            if (words[i].size() > words[longest].size()) longest = i;
        for (std::size_t i = 0; i < words.size(); ++i) {
            const bool plain = fields[i].empty() || (backoff && i == longest);
            for (const std::string& word : words[i]) {
                out.push_back(plain ? word : fields[i] + ":" + word);
                if (backoff && !plain) shared.push_back(word);
            }
        }
        out.insert(out.end(), shared.begin(), shared.end());
        return out;
    }
    TextFeatures::Item item() const {
        TextFeatures::Item out;
        for (std::size_t i = 0; i < texts.size(); ++i) out.texts.push_back({fields[i], texts[i]});
        for (std::size_t i = 0; i < values.size(); ++i)
            out.values.push_back({value_names[i], values[i]});
        return out;
    }
};

// Reference implementation: numbers, counts and names in maps.
class Reference {
  public:
    explicit Reference(const TextConfig& config) : config_(config) {}

    Table read(const RandomItem& item, bool learn) {
        std::map<std::string, std::int32_t> fresh;
        const auto number = [&](const std::string& name) {
            if (config_.buckets > 0)  // floor(key * buckets / 2^64), by long division
                return static_cast<std::int32_t>(
                    ((name_key(name) >> 32) * config_.buckets +
                     ((name_key(name) & 0xFFFFFFFFu) * config_.buckets >> 32)) >>
                    32);
            if (numbers_.contains(name)) return numbers_[name];
            return fresh
                .try_emplace(name, static_cast<std::int32_t>(numbers_.size() + fresh.size()))
                .first->second;
        };
        Table counts, out;
        std::vector<std::pair<std::int32_t, std::string>> met;
        for (const std::string& word : item.names(config_.backoff)) {
            met.emplace_back(number(word), word);
            counts[met.back().first] += 1;
        }
        for (std::size_t i = 0; i < item.values.size(); ++i) {
            met.emplace_back(number(item.value_names[i]), item.value_names[i]);
            out[met.back().first] += item.values[i];
        }
        for (const auto& [feature, count] : counts) out[feature] += weight(feature, count);
        std::erase_if(out, [](const auto& entry) { return entry.second == 0; });
        if (learn) {
            ++items_;
            numbers_.merge(fresh);
            for (const auto& [feature, value] : out) ++items_with_[feature];
            for (const auto& [feature, name] : met) names_.try_emplace(feature, name);
        }
        double squares = 0;
        for (const auto& [feature, value] : out) squares += value * value;
        if (config_.unit)
            for (auto& [feature, value] : out) value /= std::sqrt(squares);
        return out;
    }
    const std::map<std::int32_t, std::string>& names() const { return names_; }
    std::size_t words() const { return numbers_.size(); }

  private:
    double weight(std::int32_t feature, double count) {
        if (config_.weighting == Weighting::binary) return 1;
        if (config_.weighting == Weighting::count) return count;
        const double often = 1 + std::log(count);
        if (config_.weighting == Weighting::log) return often;
        return often * (1 + std::log((1.0 + items_) / (1.0 + items_with_[feature])));
    }
    TextConfig config_;
    std::map<std::string, std::int32_t> numbers_;
    std::map<std::int32_t, int> items_with_;
    std::map<std::int32_t, std::string> names_;
    int items_ = 0;
};

void reading_is(const Reading& actual, const Table& expected,
                const Where& where = Where::current()) {
    same(actual.feature.size(), expected.size(), where);
    same(actual.value.size(), expected.size(), where);
    if (actual.feature.size() != expected.size()) return;
    std::size_t i = 0;
    for (const auto& [feature, value] : expected) {
        same(actual.feature[i], feature, where);
        near(actual.value[i++], value, 1e-12 * (1 + std::abs(value)), where);
    }
}

// With three buckets names collide often, and their counts, values and names merge.
const Test twin{"text features: equal to a reference implementation with maps", [] {
                    for (const std::uint32_t buckets : {0u, 1u, 3u, 1u << 20, 0xFFFFFFFFu / 2})
                        for (const Weighting weighting : {Weighting::binary, Weighting::count,
                                                          Weighting::log, Weighting::tfidf}) {
                            if (weighting == Weighting::tfidf && buckets > 1u << 20)
                                continue;  // would need one count per bucket
                            TextConfig config;
                            config.weighting = weighting;
                            config.buckets = buckets;
                            config.unit =
                                weighting == Weighting::count || weighting == Weighting::tfidf;
                            config.backoff = weighting != Weighting::count;
                            config.name_bytes = 1 << 20;
                            TextFeatures features(config);
                            Reference plain(config);
                            Random random(43);
                            Reading reading;
                            for (int round = 0; round < 120; ++round) {
                                const Note note("buckets ", buckets, ", weighting ",
                                                static_cast<int>(weighting), ", round ", round);
                                const RandomItem item(random);
                                const bool learn = random.chance(0.7);
                                features.read(item.item(), reading);
                                if (learn) features.learn(reading);
                                reading_is(reading, plain.read(item, learn));
                            }
                            same(features.vocabulary().size(), buckets > 0 ? 0u : plain.words());
                            same(features.size(), buckets > 0 ? buckets : plain.words());
                            same(features.names().size(), plain.names().size());
                            for (const auto& [feature, name] : plain.names())
                                same(features.names().find(feature), name);
                        }
                }};

const Test pure{
    "text features: read() changes nothing and returns the features that learn() adds", [] {
        TextConfig config;
        config.buckets = 0;
        config.weighting = Weighting::tfidf;
        config.backoff = true;
        config.name_bytes = 1000;
        TextFeatures features(config);
        Random random(44);
        Reading first, again;
        for (int round = 0; round < 60; ++round) {
            const RandomItem item(random), other(random);
            features.read(item.item(), first);
            const std::size_t words = features.vocabulary().size(), bytes = features.bytes();
            const std::uint64_t items = features.items();
            const std::vector<std::uint32_t> items_with = features.items_with();
            features.read(other.item(), again);
            features.read(item.item(), again);
            same(features.vocabulary().size(), words);
            same(features.bytes(), bytes);
            same(features.items(), items);
            check(features.items_with() == items_with, "read() changed a count");
            check(first.feature == again.feature, "the second read() returned other numbers");
            same_bits(first.value, again.value);
            features.learn(first);
            same(features.items(), items + 1);
            // The provisional numbers are now in the vocabulary.
            for (const std::uint64_t pair : first.sorted)
                same(features.vocabulary().find(name_key(first.name(place_of(pair)))),
                     feature_of(pair));
        }
    }};

const Test restoring{
    "text features: a saved state can be restored", [] {
        for (const std::uint32_t buckets : {0u, 64u}) {
            TextConfig config;
            config.buckets = buckets;
            config.weighting = Weighting::tfidf;
            config.name_bytes = 200;
            TextFeatures features(config), restored(config);
            Random random(45);
            Reading a, b;
            for (int round = 0; round < 80; ++round) {
                const RandomItem item(random);
                if (round == 40) {
                    restored.restore(features.items(), features.vocabulary().keys(),
                                     features.items_with());
                    restored.restore_fields(features.fields());
                    for (const std::int32_t id : features.names().ids())
                        restored.restore_name(id, features.names().find(id));
                }
                features.read(item.item(), a);
                features.learn(a);
                if (round < 40) continue;
                restored.read(item.item(), b);
                restored.learn(b);
                check(a.feature == b.feature, "numbers differ");
                same_bits(a.value, b.value);
            }
            check(features.names().text() == restored.names().text(), "names differ");
            same(restored.items(), 80u);
            for (const auto& field : features.fields().fields())
                check(restored.fields().contains(field.name), "fields differ");
        }
    }};

const Test no_names{"text features: without room for names no name is kept", [] {
                        TextFeatures features(TextConfig{});
                        Reading reading;
                        features.read({{{"", "secret words"}}, {}}, reading);
                        features.learn(reading);
                        same(features.names().size(), 0u);
                        same(features.bytes(), features.fields().bytes());
                        features.read({}, reading);
                        same(reading.feature.size(), 0u);
                    }};

// Learns the words of some texts, given as (field, text).
void learn(TextFeatures& features, std::vector<TextFeatures::Text> texts) {
    Reading reading;
    features.read({std::move(texts), {}}, reading);
    features.learn(reading);
}

const Test counted{
    "fields: items and words per field, until there are too many fields", [] {
        TextFeatures features(TextConfig{});
        learn(features, {{"subject", "one two"}, {"body", "three"}, {"subject", "four"}, {"", ""}});
        learn(features, {{"body", "five six"}});
        const auto& fields = features.fields().fields();
        same(fields.size(), 2u);
        same(fields[0].name, "subject");
        same(fields[0].items, 1u);
        same(fields[0].words, 3u);
        same(fields[1].items, 2u);
        same(fields[1].words, 3u);
        for (std::size_t i = 2; i < FieldCounts::kMostFields; ++i)
            learn(features, {{std::to_string(i), "word"}});
        check(features.fields().complete(), "counting ended too early");
        learn(features, {{"one more", "word"}});
        check(!features.fields().complete() && fields.empty(), "counting did not end");
        Reading reading;
        features.read({{{"unseen", "word"}}, {}}, reading, TextFeatures::Fields::matched);
        same(reading.matches.size(), 0u);
    }};

const Test matched_by_words{
    "matched fields: the field with most known words, then the one with most words", [] {
        for (const bool vocabulary : {true, false}) {
            TextConfig config;
            if (vocabulary) config.buckets = 0;
            else config.weighting = Weighting::tfidf;
            TextFeatures features(config);
            const auto match = [&](std::string_view text) {
                Reading reading;
                features.read({{{"", text}}, {}}, reading, TextFeatures::Fields::matched);
                return reading.matches.empty() ? "nothing"
                                               : reading.matches[0].read_as.value_or("none");
            };
            same(match("flight"), "nothing");  // no field is known yet
            learn(features, {{"subject", "flight delayed"}, {"body", "we regret the delay"}});
            same(match("flight delayed we know"), "subject");
            same(match("the flight we regret"), "body");
            same(match("the flight"), "body");  // one known word each
            same(match("unknown words"), "none");
            same(match(""), "nothing");
        }
    }};

const Test matched_by_size{
    "matched fields: hashed words are read as the field with most words", [] {
        TextFeatures features(TextConfig{});
        learn(features, {{"subject", "flight delayed"}, {"body", "we regret the delay"}});
        Reading reading, expected;
        features.read({{{"", "flight"}, {"title", "delay"}}, {}}, reading,
                      TextFeatures::Fields::matched);
        same(reading.matches.size(), 2u);
        features.read({{{"body", "flight"}, {"body", "delay"}}, {}}, expected);
        check(reading.feature == expected.feature, "not read as body");
        same(reading.name(0), "body:flight");
    }};

const Test matched_with_backoff{
    "matched fields: with back-off a new field is text without a field", [] {
        TextConfig config;
        config.backoff = true;
        TextFeatures features(config);
        learn(features, {{"subject", "flight delayed"}, {"body", "we regret the delay"}});
        Reading reading, expected;
        features.read({{{"title", "flight"}, {"", "we regret"}}, {}}, reading,
                      TextFeatures::Fields::matched);
        same(reading.matches.size(), 1u);
        same(reading.matches[0].read_as.value_or("none"), "");
        features.read({{{"", "flight we regret"}}, {}}, expected);
        check(reading.feature == expected.feature, "not read as plain text");
    }};

const Test matching_is_rare{
    "matched fields: items with learnt fields are read as they are", [] {
        for (const bool backoff : {false, true})
            for (const std::uint32_t buckets : {0u, 3u, 1u << 20}) {
                TextConfig config;
                config.buckets = buckets;
                config.backoff = backoff;
                TextFeatures features(config);
                Random random(49);
                Reading given, matched;
                learn(features, {{"", "w1"}, {"title", "w2"}, {"text", "w3"}});
                for (int round = 0; round < 60; ++round) {
                    const RandomItem item(random);
                    features.read(item.item(), given);
                    features.read(item.item(), matched, TextFeatures::Fields::matched);
                    same(matched.matches.size(), 0u);
                    check(given.feature == matched.feature, "features differ");
                    same_bits(given.value, matched.value);
                    features.learn(given);
                }
            }
    }};

const Test ahead{
    "text features: items read ahead and learnt later give the same names and counts", [] {
        Random random(52);
        TextConfig config;
        config.buckets = 40;          // words share buckets, whose first name stays
        config.name_bytes = 40 * 30;  // not enough for all names
        TextFeatures straight(config), later(config);
        Reading reading;
        for (int block = 0; block < 6; ++block) {
            std::vector<TextFeatures::Note> notes;
            std::vector<std::string> texts;
            for (int i = 0; i < 5; ++i) {
                std::string text;
                for (int word = random.below(6); word > 0; --word)
                    text += "w" + std::to_string(random.below(60)) + " ";
                texts.push_back(text);
            }
            const auto item = [&](std::size_t i) {
                return TextFeatures::Item{{{i % 2 == 0 ? "" : "subject", texts[i]}}, {}};
            };
            for (std::size_t i = 0; i < texts.size(); ++i) {
                later.read(item(i), reading);
                notes.push_back(later.note(reading));
            }
            for (std::size_t i = 0; i < texts.size(); ++i) {
                straight.read(item(i), reading);
                straight.learn(reading);
                later.learn(notes[i]);
            }
            same(later.items(), straight.items());
            same(later.names().text(), straight.names().text());
            same(later.names().ids() == straight.names().ids(), true);
            same(later.fields().fields().size(), straight.fields().fields().size());
            for (std::size_t i = 0; i < later.fields().fields().size(); ++i) {
                same(later.fields().fields()[i].items, straight.fields().fields()[i].items);
                same(later.fields().fields()[i].words, straight.fields().fields()[i].words);
            }
        }
    }};

}  // namespace
}  // namespace tagalong::test::text_features_test
