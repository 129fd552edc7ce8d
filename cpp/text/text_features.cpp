#include "text/text_features.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/example.hpp"
#include "text/hash.hpp"
#include "text/sort_places.hpp"

namespace tagalong {
namespace {

// 1 + log(count). Small counts, the usual case, are looked up in a table: the logarithm would cost
// more than all other work on a word.
double log_weight(std::size_t count) {
    static const std::array<double, 64> table = [] {
        std::array<double, 64> found{};
        for (std::size_t i = 1; i < found.size(); ++i)
            found[i] = 1 + std::log(static_cast<double>(i));
        return found;
    }();
    return count < table.size() ? table[count] : 1 + std::log(static_cast<double>(count));
}

// The prefix of the names of a field's features.
std::string prefix(std::string_view field) {
    std::string found(field);
    if (!found.empty()) found += ':';
    return found;
}

}  // namespace

// The high bits select the bucket: uniform for any number of buckets.
std::int32_t TextFeatures::bucket(std::uint64_t key) const {
    return static_cast<std::int32_t>((static_cast<unsigned __int128>(key) * config_.buckets) >> 64);
}

std::int32_t TextFeatures::feature_number(std::uint64_t key, Reading& out) const {
    if (config_.buckets > 0) return bucket(key);
    const std::int32_t known = vocabulary_.find(key);
    if (known >= 0) return known;
    return static_cast<std::int32_t>(vocabulary_.size()) + out.new_words.add(key);
}

double TextFeatures::weight(std::size_t count, std::int32_t feature) const {
    switch (config_.weighting) {
        case Weighting::binary:
            return 1;
        case Weighting::count:
            return static_cast<double>(count);
        case Weighting::log:
            return log_weight(count);
        case Weighting::tfidf:
            break;
    }
    const auto at = static_cast<std::size_t>(feature);
    const double with = at < items_with_.size() ? items_with_[at] : 0;
    return log_weight(count) * (1 + std::log((1 + static_cast<double>(items_)) / (1 + with)));
}

std::string TextFeatures::Reading::name(std::size_t place) const {
    const auto after =
        std::upper_bound(parts.begin(), parts.end(), place,
                         [](std::size_t at, const Part& part) { return at < part.first; });
    const Slice& found = names[place];
    return std::prev(after)->field + (found.marked ? "~" : "") +
           text.substr(found.begin, found.length);
}

void TextFeatures::read(const Item& item, Reading& out, Fields fields) const {
    out.text.clear();
    out.names.clear();
    out.given.clear();
    out.parts.clear();
    out.texts.clear();
    out.matches.clear();
    Words words(config_.words);
    for (const Text& text : item.texts) {
        const std::size_t first = out.names.size();
        words.read(text.text, out.text, out.names);
        std::string_view field = text.field;
        if (fields == Fields::matched && out.names.size() > first && is_unseen(field)) {
            out.matches.push_back({std::string(field), best_field(out, first)});
            if (out.matches.back().read_as) field = *out.matches.back().read_as;
        }
        out.parts.push_back({first, prefix(field)});
        out.texts.push_back({std::string(text.field), out.names.size() - first});
    }
    if (config_.backoff) back_off(out);
    out.parts.push_back({out.names.size(), ""});
    for (const Value& value : item.values) {
        const auto begin = static_cast<std::uint32_t>(out.text.size());
        out.names.push_back({begin, static_cast<std::uint32_t>(value.name.size()), false});
        out.text += value.name;
        out.given.push_back(value.value);
    }
    number_names(out);
    sum_features(out);
}

// Whether the field was never learnt, although others were. Every field of back-off features counts
// as text without a field, too.
bool TextFeatures::is_unseen(std::string_view field) const {
    return fields_.complete() && !fields_.fields().empty() && !fields_.contains(field) &&
           !(config_.backoff && field.empty());
}

bool TextFeatures::tells_known_words() const {
    return config_.buckets == 0 || config_.weighting == Weighting::tfidf;
}

bool TextFeatures::is_known(std::uint64_t key) const {
    if (config_.buckets == 0) return vocabulary_.find(key) >= 0;
    const auto at = static_cast<std::size_t>(bucket(key));
    return at < items_with_.size() && items_with_[at] > 0;
}

// The number of names from `first` on that would be known if they were of this field.
std::size_t TextFeatures::known_words(const Reading& out, std::size_t first,
                                      std::string_view field) const {
    const std::string plain = prefix(field), marked = plain + '~';
    const NameKeys plain_keys(plain), marked_keys(marked);
    return static_cast<std::size_t>(
        std::count_if(out.names.begin() + static_cast<std::ptrdiff_t>(first), out.names.end(),
                      [&](const Slice& name) {
                          const NameKeys& keys = name.marked ? marked_keys : plain_keys;
                          return is_known(keys(out.text.data() + name.begin, name.length));
                      }));
}

// The learnt field that the names from `first` on most likely are of; none if all of them are new
// in every field.
std::optional<std::string> TextFeatures::best_field(Reading& out, std::size_t first) const {
    static const FieldCounts::Field shared{};
    const std::span<const FieldCounts::Field> candidates =
        config_.backoff ? std::span(&shared, 1) : std::span(fields_.fields());
    out.text.append(NameKeys::kReadAhead, '\0');
    const FieldCounts::Field* best = nullptr;
    std::size_t most_known = 0;
    for (const FieldCounts::Field& field : candidates) {
        const std::size_t known = tells_known_words() ? known_words(out, first, field.name) : 1;
        if (known == 0 || known < most_known) continue;
        if (best == nullptr || known > most_known || field.words > best->words) {
            best = &field;
            most_known = known;
        }
    }
    out.text.resize(out.text.size() - NameKeys::kReadAhead);
    return best == nullptr ? std::nullopt : std::optional(best->name);
}

// The longest text gets the features without the field instead of its own, the others both.
void TextFeatures::back_off(Reading& out) {
    const std::size_t texts = out.parts.size();
    if (texts == 0) return;
    const auto longest =
        std::max_element(out.texts.begin(), out.texts.end(),
                         [](const auto& a, const auto& b) { return a.words < b.words; });
    out.parts[static_cast<std::size_t>(longest - out.texts.begin())].field.clear();
    for (std::size_t at = 0; at < texts; ++at) {
        if (out.parts[at].field.empty()) continue;
        const std::size_t first = out.parts[at].first, end = first + out.texts[at].words;
        out.parts.push_back({out.names.size(), ""});
        for (std::size_t place = first; place < end; ++place) {
            const Slice name = out.names[place];
            out.names.push_back(name);
        }
    }
}

void TextFeatures::number_names(Reading& out) const {
    if (out.new_words.size() > 0) out.new_words.clear();
    out.sorted.resize(out.names.size());
    out.text.append(NameKeys::kReadAhead, '\0');
    for (std::size_t part = 0; part < out.parts.size(); ++part) {
        const std::string marked = out.parts[part].field + '~';
        const NameKeys plain_keys(out.parts[part].field), marked_keys(marked);
        const std::size_t end =
            part + 1 < out.parts.size() ? out.parts[part + 1].first : out.names.size();
        for (std::size_t place = out.parts[part].first; place < end; ++place) {
            const Slice& name = out.names[place];
            const NameKeys& keys = name.marked ? marked_keys : plain_keys;
            out.sorted[place] =
                packed(feature_number(keys(out.text.data() + name.begin, name.length), out), place);
        }
    }
    // Equal features stay in the order of the item, so names and sums depend only on the item.
    const std::size_t numbers =
        config_.buckets > 0 ? config_.buckets : vocabulary_.size() + out.new_words.size();
    sort_places(out.sorted, out.scratch, numbers);
}

void TextFeatures::sum_features(Reading& out) const {
    out.feature.clear();
    out.value.clear();
    const std::size_t in_texts = out.names.size() - out.given.size();
    for (auto next = out.sorted.begin(); next != out.sorted.end();) {
        const std::int32_t feature = feature_of(*next);
        std::size_t count = 0;
        double value = 0;
        for (; next != out.sorted.end() && feature_of(*next) == feature; ++next) {
            const std::size_t place = place_of(*next);
            if (place < in_texts) ++count;
            else value += out.given[place - in_texts];
        }
        if (count > 0) value += weight(count, feature);
        if (value == 0) continue;
        out.feature.push_back(feature);
        out.value.push_back(value);
    }
    if (!config_.unit) return;
    const double length = euclidean_length(out.value);
    if (length > 0)
        for (double& value : out.value) value /= length;
}

void TextFeatures::learn(const Reading& reading) {
    ++items_;
    for (const std::uint64_t key : reading.new_words.keys()) vocabulary_.add(key);
    if (config_.weighting == Weighting::tfidf) {
        if (items_with_.size() < size()) items_with_.resize(size(), 0);
        for (const std::int32_t feature : reading.feature) ++items_with_[feature];
    }
    count_fields(reading.texts);
    if (config_.name_bytes == 0) return;
    std::int32_t last = -1;
    for (const std::uint64_t pair : reading.sorted) {
        const std::int32_t feature = feature_of(pair);
        if (feature != last && names_.can_add(feature))
            names_.add(feature, reading.name(place_of(pair)));
        last = feature;
    }
}

void TextFeatures::count_fields(const std::vector<Reading::FieldText>& texts) {
    for (auto text = texts.begin(); text != texts.end(); ++text) {
        const bool again = std::any_of(texts.begin(), text, [&](const auto& before) {
            return before.field == text->field && before.words > 0;
        });
        fields_.add(text->field, again ? 0 : 1, text->words);
    }
}

// Names are never replaced, so features that have one now need none later.
TextFeatures::Note TextFeatures::note(const Reading& reading) const {
    Note out{reading.texts, {}};
    if (config_.name_bytes == 0) return out;
    std::int32_t last = -1;
    for (const std::uint64_t pair : reading.sorted) {
        const std::int32_t feature = feature_of(pair);
        if (feature != last && names_.can_add(feature))
            out.names.emplace_back(feature, reading.name(place_of(pair)));
        last = feature;
    }
    return out;
}

void TextFeatures::learn(const Note& note) {
    ++items_;
    count_fields(note.texts);
    for (const auto& [feature, name] : note.names)
        if (names_.can_add(feature)) names_.add(feature, name);
}

void TextFeatures::restore(std::uint64_t items, std::span<const std::uint64_t> keys,
                           std::vector<std::uint32_t> items_with) {
    items_ = items;
    for (const std::uint64_t key : keys) vocabulary_.add(key);
    items_with_ = std::move(items_with);
}

}  // namespace tagalong
