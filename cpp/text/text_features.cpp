#include "text_features.hpp"

#include <algorithm>
#include <cmath>

#include "example.hpp"
#include "hash.hpp"

namespace tagalong {

std::int32_t TextFeatures::number(std::uint64_t key, Reading& out) const {
    if (config_.buckets > 0)  // the high bits choose the bucket, evenly for any number of them
        return static_cast<std::int32_t>((static_cast<unsigned __int128>(key) * config_.buckets) >> 64);
    const std::int32_t known = vocabulary_.find(key);
    if (known >= 0) return known;
    return static_cast<std::int32_t>(vocabulary_.size()) + out.new_words.add(key);
}

double TextFeatures::weight(double count, std::int32_t feature) const {
    switch (config_.weighting) {
        case Weighting::binary: return 1;
        case Weighting::count: return count;
        case Weighting::log: return 1 + std::log(count);
        case Weighting::tfidf: break;
    }
    const auto at = static_cast<std::size_t>(feature);
    const double with = at < items_with_.size() ? items_with_[at] : 0;
    return (1 + std::log(count)) * (1 + std::log((1 + static_cast<double>(items_)) / (1 + with)));
}

void TextFeatures::read(const Item& item, Reading& out) const {
    out.feature.clear();
    out.value.clear();
    out.text.clear();
    out.words.clear();
    out.occurrences.clear();
    if (out.new_words.size() > 0) out.new_words.clear();
    Words words(config_.words);
    for (const Text& text : item.texts) words.read(text.field, text.text, out.text, out.words);
    const auto add = [&](Slice name, double value, bool in_text) {
        const auto key = name_key(std::string_view(out.text).substr(name.begin, name.length));
        out.occurrences.push_back({number(key, out), name, value, in_text});
    };
    for (const Slice name : out.words) add(name, 0, true);
    for (const Value& given : item.values) {
        const Slice name{static_cast<std::uint32_t>(out.text.size()), static_cast<std::uint32_t>(given.name.size())};
        out.text += given.name;
        add(name, given.value, false);
    }
    // Equal features stay in the order of the item, on which alone names and sums then depend.
    out.sorted.resize(out.occurrences.size());
    for (std::size_t i = 0; i < out.sorted.size(); ++i)
        out.sorted[i] = static_cast<std::uint64_t>(out.occurrences[i].feature) << 32 | i;
    std::sort(out.sorted.begin(), out.sorted.end());
    for (auto next = out.sorted.begin(); next != out.sorted.end();) {
        const std::int32_t feature = out.at(*next).feature;
        double count = 0, value = 0;
        for (; next != out.sorted.end() && out.at(*next).feature == feature; ++next) {
            if (out.at(*next).in_text) ++count;
            else value += out.at(*next).value;
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
    if (config_.name_bytes == 0) return;
    std::int32_t last = -1;
    for (const std::uint64_t place : reading.sorted) {
        const auto& found = reading.at(place);
        if (found.feature != last) names_.add(found.feature, reading.name(found));
        last = found.feature;
    }
}

void TextFeatures::restore(std::uint64_t items, std::span<const std::uint64_t> keys,
                           std::vector<std::uint32_t> items_with) {
    items_ = items;
    for (const std::uint64_t key : keys) vocabulary_.add(key);
    items_with_ = std::move(items_with);
}

}  // namespace tagalong
