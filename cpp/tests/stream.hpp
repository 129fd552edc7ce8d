// Random streams of labelled examples, and helpers that read the state of a learner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "ranker/label_ranker.hpp"
#include "tests/random.hpp"

namespace tagalong::test {

struct Item {
    std::vector<std::pair<std::int32_t, double>> pairs;
    std::vector<std::int32_t> relevant;
    std::vector<std::int32_t> unknown;
    double weight = 1;

    Example example() const {
        Example x;
        for (const auto& [feature, value] : pairs) x.add(feature, value);
        return x;
    }
};

struct StreamShape {
    int features = 30;
    int labels = 8;
    int length = 6;       // features per example
    bool binary = false;  // all values 1
    bool unknown = true;  // some labels of unknown relevance
    bool weights = false;
};

// Each feature votes for one label, its number modulo the number of labels. Labels without votes
// are relevant with a small probability, so that no weights have zero loss.
inline Item random_item(Random& random, const StreamShape& shape) {
    Item item;
    std::vector<int> votes(static_cast<std::size_t>(shape.labels), 0);
    for (int i = 0; i < shape.length; ++i) {
        const int feature = random.below(shape.features);
        const auto taken = [&](const auto& pair) { return pair.first == feature; };
        if (std::any_of(item.pairs.begin(), item.pairs.end(), taken)) continue;
        item.pairs.emplace_back(feature,
                                shape.binary ? 1.0 : (1 + random.below(31)) / 16.0 - 1.03125);
        ++votes[static_cast<std::size_t>(feature % shape.labels)];
    }
    for (int y = 0; y < shape.labels; ++y) {
        if (random.chance(votes[static_cast<std::size_t>(y)] > 0 ? 0.6 : 0.05))
            item.relevant.push_back(y);
        else if (shape.unknown && random.chance(0.1)) item.unknown.push_back(y);
    }
    if (shape.weights) item.weight = random.magnitude(0.1, 5);
    return item;
}

inline std::vector<Item> random_stream(std::uint64_t seed, int length, const StreamShape& shape) {
    Random random(seed);
    std::vector<Item> items;
    for (int i = 0; i < length; ++i) items.push_back(random_item(random, shape));
    return items;
}

template <class T>
void learn(LabelRanker<T>& ranker, const Item& item, T* scores = nullptr) {
    Example x = item.example();
    ranker.finish(x);
    ranker.learn(x, item.relevant, item.unknown, item.weight, {1, scores, nullptr});
}

template <class T>
std::vector<T> scores_of(const LabelRanker<T>& ranker, const Item& item) {
    typename LabelRanker<T>::Reader reader;
    reader.x = item.example();
    ranker.finish(reader.x);
    const auto scores = ranker.score(reader);
    return {scores.begin(), scores.end()};
}

// One plane of the store, row by row, without padding.
template <class T>
std::vector<T> plane_of(const LabelRanker<T>& ranker, std::size_t plane = 0) {
    const WeightStore<T>& store = ranker.store();
    std::vector<T> out;
    for (std::size_t r = 0; r < store.rows(); ++r) {
        const T* row = store.row(static_cast<std::int32_t>(r), plane);
        out.insert(out.end(), row, row + store.labels());
    }
    return out;
}

template <class T>
const LinearGeometry<T>& linear(const LabelRanker<T>& ranker) {
    return std::get<LinearGeometry<T>>(ranker.geometry());
}
template <class T>
const EntropicGeometry<T>& entropic(const LabelRanker<T>& ranker) {
    return std::get<EntropicGeometry<T>>(ranker.geometry());
}

inline RankerConfig config_of(Geometry geometry, std::string_view update) {
    RankerConfig config;
    config.geometry = geometry;
    config.update = &label_rule(update);
    config.rate = 0.5;
    if (geometry == Geometry::entropic) {
        config.margin = 0.3;
        config.n_features = 30;
    }
    return config;
}

inline constexpr Geometry kGeometries[] = {Geometry::euclidean, Geometry::adaptive,
                                           Geometry::entropic};

inline std::vector<std::string_view> updates_of(Geometry geometry) {
    std::vector<std::string_view> updates;
    for (const LabelRule& rule : label_rules())
        if (geometry != Geometry::entropic || rule.entropic != nullptr)
            updates.push_back(rule.name);
    return updates;
}

}  // namespace tagalong::test
