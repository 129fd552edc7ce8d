// LabelRanker through its public interface: input, new labels, weights, averages, predictions.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::label_ranker_test {
namespace {

std::string words(Geometry geometry, std::string_view update) {
    return "geometry " + text(static_cast<int>(geometry)) + ", update " + std::string(update);
}

template <class T>
void same_model(const LabelRanker<T>& actual, const LabelRanker<T>& expected) {
    check(actual.store().features() == expected.store().features(), "features differ");
    same(actual.store().planes(), expected.store().planes());
    for (std::size_t plane = 0; plane < expected.store().planes(); ++plane)
        same_bits(plane_of(actual, plane), plane_of(expected, plane));
    same(bits(actual.dual()), bits(expected.dual()));
    const Certificate a = actual.certificate(), b = expected.certificate();
    same(a.rounds, b.rounds);
    same(a.mistakes, b.mistakes);
    same(bits(a.loss), bits(b.loss));
    same(bits(a.gain), bits(b.gain));
    same(bits(a.curvature), bits(b.curvature));
}

// The same example with its features in another order and split into several terms; all sums are
// exact.
Item shuffled_and_split(Random& random, Item item) {
    const std::size_t count = item.pairs.size();
    for (std::size_t i = 0; i < count; ++i)
        if (random.chance(0.4)) {
            const auto [feature, value] = item.pairs[i];
            item.pairs[i].second = value + 0.5;
            item.pairs.emplace_back(feature, -0.25);
            item.pairs.emplace_back(feature, -0.25);
        }
    item.pairs.emplace_back(29, 0.0);
    random.shuffle(item.pairs);
    random.shuffle(item.relevant);
    random.shuffle(item.unknown);
    return item;
}

// One row of a CSR matrix, read as the learner reads it.
template <class T>
void learn_row(LabelRanker<T>& ranker, const Item& item) {
    std::vector<double> values;
    std::vector<std::int32_t> indices;
    for (const auto& [feature, value] : item.pairs) {
        indices.push_back(feature);
        values.push_back(value);
    }
    const std::vector<std::int32_t> indptr{0, static_cast<std::int32_t>(values.size())};
    Matrix matrix;
    matrix.rows = 1;
    matrix.columns = 30;
    matrix.values = values.data();
    matrix.indices = indices.data();
    matrix.indptr = indptr.data();
    Example x;
    matrix.read(0, x);
    ranker.finish(x);
    ranker.learn(x, item.relevant, item.unknown, item.weight);
}

template <class T>
void same_for_all_inputs(Geometry geometry, std::string_view update) {
    const Note note(words(geometry, update));
    RankerConfig config = config_of(geometry, update);
    config.constant = 0.5;
    if (geometry != Geometry::entropic) config.average = Average::chosen;
    LabelRanker<T> sorted(config), mixed(config), rows(config);
    Random random(1);
    for (const Item& item : random_stream(2, 80, {})) {
        learn(sorted, item);
        learn(mixed, shuffled_and_split(random, item));
        learn_row(rows, shuffled_and_split(random, item));
    }
    at_most(1, static_cast<double>(sorted.store().rows()));
    same_model(mixed, sorted);
    same_model(rows, sorted);
}

const Test input_forms{
    "label ranker: the same bits for features in any order, with duplicates and zeros", [] {
        for (const Geometry geometry : kGeometries)
            for (const std::string_view update : updates_of(geometry)) {
                same_for_all_inputs<float>(geometry, update);
                same_for_all_inputs<double>(geometry, update);
            }
    }};

template <class T>
void scores_come_before_the_round(Geometry geometry, Average average) {
    const Note note(words(geometry, "smooth"), ", average ", static_cast<int>(average));
    RankerConfig config = config_of(geometry, "smooth");
    config.average = average;
    LabelRanker<T> ranker(config);
    ranker.add_labels(3);
    std::vector<T> given(20);
    for (const Item& item : random_stream(3, 60, {.features = 40, .labels = 8, .weights = true})) {
        std::vector<T> before = scores_of(ranker, item);
        learn(ranker, item, given.data());
        // Labels that are new in this round have no score before it.
        before.resize(ranker.labels(), -std::numeric_limits<T>::infinity());
        same_bits(std::span<const T>(given).first(before.size()), std::span<const T>(before));
    }
    same(ranker.labels(), 8u);
}

// A new feature of the simplex changes all scores at once, so the entropic geometry is compared on
// the declared features.
const Test prior_scores{
    "label ranker: a round returns the scores before learning", [] {
        for (const Average average : {Average::never, Average::always, Average::chosen}) {
            scores_come_before_the_round<float>(Geometry::euclidean, average);
            scores_come_before_the_round<double>(Geometry::adaptive, average);
        }
        RankerConfig config = config_of(Geometry::entropic, "smooth");
        LabelRanker<double> ranker(config);
        ranker.add_labels(8);
        std::vector<double> given(8);
        for (const Item& item : random_stream(3, 60, {})) {
            const auto before = scores_of(ranker, item);
            learn(ranker, item, given.data());
            same_bits(given, before);
        }
    }};

const Test ranks{"label ranker: the ranking is the order of the scores", [] {
                     LabelRanker<float> ranker(config_of(Geometry::adaptive, "smooth"));
                     const auto items = random_stream(4, 50, {.labels = 40});
                     for (const Item& item : items) learn(ranker, item);
                     LabelRanker<float>::Reader reader;
                     for (const std::size_t k : {0u, 1u, 5u, 40u, 100u}) {
                         reader.x = items[0].example();
                         ranker.finish(reader.x);
                         const auto order = ranker.rank(reader, k);
                         const auto scores = scores_of(ranker, items[0]);
                         same(order.size(), std::min(k, scores.size()));
                         for (std::size_t i = 1; i < order.size(); ++i)
                             check(scores[static_cast<std::size_t>(order[i - 1])] >=
                                       scores[static_cast<std::size_t>(order[i])],
                                   "the ranking is not sorted by score");
                     }
                 }};

// Labels added later equal labels whose relevance was unknown until then.
template <class T>
void later_labels(Geometry geometry, std::string_view update, double distance) {
    const Note note(words(geometry, update));
    RankerConfig config = config_of(geometry, update);
    config.n_features = 10;
    LabelRanker<T> growing(config), declared(config);
    declared.add_labels(30);
    std::size_t known = 0;
    Random random(5);
    for (int round = 0; round < 90; ++round) {
        const int labels = 3 + 9 * (round / 30) + (round % 30 == 29 ? 9 : 0);
        Item item = random_item(random, {.features = 30, .labels = labels});
        known = std::max(known, static_cast<std::size_t>(labels));
        growing.add_labels(known - growing.labels());
        learn(growing, item);
        for (std::size_t y = known; y < 30; ++y)
            item.unknown.push_back(static_cast<std::int32_t>(y));
        learn(declared, item);
    }
    same(growing.labels(), 30u);
    const Item probe = random_item(random, {.labels = 30, .length = 20});
    const auto actual = scores_of(growing, probe), expected = scores_of(declared, probe);
    for (std::size_t y = 0; y < 30; ++y) near(actual[y], expected[y], distance);
    near(growing.dual(), declared.dual(), distance * 100);
    same(growing.certificate().mistakes, declared.certificate().mistakes);
}

const Test growth{"label ranker: a label added later equals one that was unknown until then", [] {
                      for (const Geometry geometry : kGeometries)
                          for (const std::string_view update : updates_of(geometry))
                              later_labels<double>(geometry, update, 1e-9);
                      later_labels<float>(Geometry::adaptive, "optimal", 1e-3);
                  }};

template <class T>
void old_labels_stay(Geometry geometry) {
    LabelRanker<T> ranker(config_of(geometry, "smooth"));
    const auto items = random_stream(6, 60, {.features = 35});
    for (const Item& item : items) learn(ranker, item);
    const auto before = scores_of(ranker, items[5]);
    const double dual = ranker.dual();
    ranker.add_labels(100);
    const auto after = scores_of(ranker, items[5]);
    same(after.size(), before.size() + 100);
    same_bits(std::span<const T>(after).first(before.size()), std::span<const T>(before));
    same(ranker.dual(), dual);
    double uniform = 0;
    if (geometry == Geometry::entropic) {
        Example x = items[5].example();
        ranker.finish(x);
        for (const double value : x.value)
            uniform += value / static_cast<double>(entropic(ranker).dimension());
    }
    for (std::size_t y = before.size(); y < after.size(); ++y) near(after[y], uniform, 1e-7);
}

const Test new_labels{"label ranker: new labels do not change the old ones", [] {
                          for (const Geometry geometry : kGeometries) {
                              old_labels_stay<float>(geometry);
                              old_labels_stay<double>(geometry);
                          }
                      }};

const Test weightless{"label ranker: a round of weight zero changes nothing but the labels", [] {
                          for (const Geometry geometry : kGeometries) {
                              LabelRanker<double> ranker(config_of(geometry, "smooth")),
                                  twin(config_of(geometry, "smooth"));
                              std::vector<double> given(8);
                              for (const Item& item : random_stream(7, 40, {.features = 40})) {
                                  learn(ranker, item);
                                  learn(twin, item);
                                  Item light = item;
                                  light.pairs = {{1, 1.0}, {500, 1.0}};
                                  light.weight = 0;
                                  const auto before = scores_of(ranker, light);
                                  learn(ranker, light, given.data());
                                  same_bits(std::span<const double>(given).first(before.size()),
                                            std::span<const double>(before));
                                  same_model(ranker, twin);
                              }
                          }
                      }};

const Test weights{"label ranker: a weight is a factor of C", [] {
                       for (const Geometry geometry : kGeometries)
                           for (const std::string_view update : updates_of(geometry)) {
                               const Note note(words(geometry, update));
                               RankerConfig light = config_of(geometry, update), heavy = light;
                               heavy.C = 4;
                               LabelRanker<double> weighted(light), plain(heavy);
                               for (Item item : random_stream(8, 40, {})) {
                                   learn(plain, item);
                                   item.weight = 4;
                                   learn(weighted, item);
                               }
                               same_bits(plane_of(weighted), plane_of(plain));
                               same(weighted.certificate().most_weight, 4.0);
                               same(weighted.certificate().least_weight, 4.0);
                               near(weighted.certificate().loss, 4 * plain.certificate().loss,
                                    1e-12);
                           }
                   }};

const Test nothing_to_learn{"label ranker: rounds without a pair or without features", [] {
                                for (const Geometry geometry : kGeometries)
                                    for (const std::string_view update : updates_of(geometry)) {
                                        const Note note(words(geometry, update));
                                        LabelRanker<double> ranker(config_of(geometry, update));
                                        learn(ranker, {{{1, 1.0}}, {}, {}, 1});
                                        learn(ranker, {{{1, 1.0}}, {0}, {}, 1});
                                        learn(ranker, {{{1, 1.0}}, {0, 1}, {}, 1});
                                        learn(ranker, {{{1, 1.0}}, {0}, {1}, 1});
                                        same(ranker.certificate().rounds, 4);
                                        same(ranker.certificate().loss, 0.0);
                                        same(ranker.dual(), 0.0);
                                        learn(ranker, {{}, {0}, {}, 1});
                                        same(ranker.certificate().rounds, 5);
                                        same(ranker.certificate().mistakes, 1);
                                        same(ranker.dual(), 0.0);
                                        same(ranker.store().rows(), 0u);
                                    }
                            }};

// An example that is ranked correctly by a wide margin must not change the weights or make them
// infinite.
const Test repeated{
    "label ranker: an example that is ranked correctly is repeated many times", [] {
        for (const Geometry geometry : kGeometries)
            for (const std::string_view update : updates_of(geometry)) {
                const Note note(words(geometry, update));
                RankerConfig config = config_of(geometry, update);
                config.temperature = 1e-3;
                config.C = 10;
                config.normalize = false;
                LabelRanker<float> ranker(config);
                for (int round = 0; round < 200; ++round) {
                    // Every tenth example is longer, so its margin exceeds the required one.
                    const Item item{{{0, round % 10 ? 1.0 : 3.0}}, {0}, {}, 1};
                    ranker.add_labels(4 - ranker.labels());
                    learn(ranker, item);
                }
                for (const float weight : plane_of(ranker))
                    check(std::isfinite(weight), "a weight is not finite");
                check(std::isfinite(ranker.dual()), "the dual value is not finite");
                const auto scores = scores_of(ranker, {{{0, 1.0}}, {}, {}, 1});
                check(scores[0] > scores[1] && scores[0] > scores[2] && scores[0] > scores[3],
                      "the example was not learnt");
            }
    }};

// The mean over the rounds of the dual vectors after each round, with the current scaling.
void averages_match(Geometry geometry) {
    RankerConfig config = config_of(geometry, "smooth");
    config.average = Average::always;
    LabelRanker<double> ranker(config);
    ranker.add_labels(8);
    const auto items = random_stream(9, 60, {});
    std::vector<double> sum(30 * 8, 0.0);
    for (const Item& item : items) {
        learn(ranker, item);
        for (std::size_t r = 0; r < ranker.store().rows(); ++r)
            for (std::size_t y = 0; y < 8; ++y)
                sum[r * 8 + y] += ranker.store().row(static_cast<std::int32_t>(r))[y];
    }
    for (const Item& item : items) {
        Example x = item.example();
        ranker.finish(x);
        const auto scores = scores_of(ranker, item);
        for (std::size_t y = 0; y < 8; ++y) {
            double expected = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const auto row = static_cast<std::size_t>(ranker.store().find(x.feature[i]));
                expected += x.value[i] * linear(ranker).scale(static_cast<std::int32_t>(row)) *
                            sum[row * 8 + y] / 60;
            }
            near(scores[y], expected, 1e-12);
        }
    }
}

const Test means{"label ranker: average=always predicts with the mean of the rounds", [] {
                     averages_match(Geometry::euclidean);
                     averages_match(Geometry::adaptive);
                 }};

// A step on few of many labels writes single numbers; a step on many labels writes whole rows.
template <class T>
void few_or_many(Geometry geometry) {
    RankerConfig config = config_of(geometry, "single");
    LabelRanker<T> few(config), many(config);
    few.add_labels(3);
    many.add_labels(100);
    std::vector<T> actual;
    for (Item item : random_stream(10, 300, {.labels = 3, .unknown = false})) {
        learn(few, item);
        for (std::int32_t y = 3; y < 100; ++y) item.unknown.push_back(y);
        learn(many, item);
        actual = scores_of(many, item);
        actual.resize(3);
        same_bits(actual, scores_of(few, item));
    }
    near(many.dual(), few.dual(), sizeof(T) == 4 ? 1e-4 : 1e-10);
}

const Test touched{"label ranker: steps on few labels and on whole rows give the same numbers", [] {
                       for (const Geometry geometry : kGeometries) {
                           few_or_many<float>(geometry);
                           few_or_many<double>(geometry);
                       }
                   }};

}  // namespace
}  // namespace tagalong::test::label_ranker_test
