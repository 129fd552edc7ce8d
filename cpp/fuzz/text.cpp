// Any bytes as the texts, fields and named values of items: they are read, learnt, saved and
// restored, and the restored features read the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "text/text_features.hpp"

namespace tagalong::fuzz {
namespace {

TextConfig read_config(Input& input) {
    TextConfig config;
    config.words.least_words = 1 + input.below_or_equal(2);
    config.words.most_words = config.words.least_words + input.below_or_equal(2);
    if (input.byte() % 2 == 1) {
        config.words.least_chars = 1 + input.below_or_equal(3);
        config.words.most_chars = config.words.least_chars + input.below_or_equal(3);
    }
    config.words.lowercase = input.byte() % 2 == 0;
    config.weighting = static_cast<Weighting>(input.below_or_equal(3));
    config.buckets = input.byte() % 2 == 0 ? 0 : 1 + input.below_or_equal(1U << 20);
    config.unit = input.byte() % 2 == 1;
    config.backoff = input.byte() % 2 == 1;
    config.name_bytes = input.below_or_equal(2000);
    return config;
}

TextFeatures::Item read_item(Input& input) {
    TextFeatures::Item item;
    const std::size_t texts = input.below_or_equal(3), values = input.below_or_equal(2);
    for (std::size_t i = 0; i < texts; ++i) {
        const std::string_view field = input.text(8);
        item.texts.push_back({field, input.text(2000)});
    }
    for (std::size_t i = 0; i < values; ++i) {
        const std::string_view name = input.text(20);
        item.values.push_back({name, input.score()});
    }
    return item;
}

void check_order(const TextFeatures& features, const TextFeatures::Reading& reading) {
    if (reading.feature.size() != reading.value.size()) std::abort();
    for (std::size_t i = 0; i < reading.feature.size(); ++i) {
        if (reading.feature[i] < 0) std::abort();
        if (i > 0 && reading.feature[i] <= reading.feature[i - 1]) std::abort();
        if (features.config().buckets > 0 &&
            static_cast<std::uint32_t>(reading.feature[i]) >= features.config().buckets)
            std::abort();
    }
}

void check_restored(const TextFeatures& features, const TextFeatures::Item& item) {
    TextFeatures restored(features.config());
    restored.restore(features.items(), features.vocabulary().keys(), features.items_with());
    restored.restore_fields(features.fields());
    for (const std::int32_t id : features.names().ids())
        restored.restore_name(id, features.names().find(id));
    TextFeatures::Reading a, b;
    features.read(item, a, TextFeatures::Fields::matched);
    restored.read(item, b, TextFeatures::Fields::matched);
    if (a.feature != b.feature || a.value != b.value) std::abort();
    if (features.names().text() != restored.names().text()) std::abort();
}

}  // namespace
}  // namespace tagalong::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagalong;
    fuzz::Input input(data, size);
    TextFeatures features(fuzz::read_config(input));
    TextFeatures::Reading reading;
    while (!input.empty()) {
        const TextFeatures::Item item = fuzz::read_item(input);
        features.read(item, reading, TextFeatures::Fields::matched);
        fuzz::check_order(features, reading);
        features.read(item, reading);
        fuzz::check_order(features, reading);
        features.learn(reading);
        if (input.byte() % 4 == 0) fuzz::check_restored(features, item);
    }
    return 0;
}
