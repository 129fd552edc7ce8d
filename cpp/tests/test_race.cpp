// The race: its mixture against the formula, who joins and who leaves, contributions, selections
// and saved numbers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "race/race.hpp"
#include "tests/check.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::race_test {
namespace {

using Names = std::vector<std::string_view>;

constexpr StreamShape kWords{.features = 200, .labels = 8, .length = 8, .binary = true};
constexpr StreamShape kNumbers{.features = 8, .labels = 6, .length = 12};

Names all_names() {
    Names out;
    for (const ContestantType& type : contestant_types()) out.push_back(type.name);
    return out;
}

RaceConfig config_with(const Names& names) {
    RaceConfig out;
    for (const std::string_view name : names) out.types.push_back(&contestant_type(name));
    out.ranker.C = 10;
    out.ranker.average = Average::chosen;
    out.ranker.constant = 0.5;
    out.ranker.rate = 3;
    out.ranker.relevance = RelevanceOf::rare;
    return out;
}

template <class T>
void learn_item(Race<T>& race, const Item& item, T* scores = nullptr) {
    Example x = item.example();
    race.finish(x);
    race.learn(x, item.relevant, item.unknown, item.weight, {1, scores, nullptr});
}

template <class T>
typename Race<T>::Reader reader_of(const Race<T>& race, const Item& item) {
    typename Race<T>::Reader reader;
    reader.x = item.example();
    race.finish(reader.x);
    return reader;
}

template <class T>
std::vector<T> scores_of(const Race<T>& race, const Item& item) {
    auto reader = reader_of(race, item);
    const auto scores = race.score(reader);
    return {scores.begin(), scores.end()};
}

template <class T>
std::set<std::string_view> running(const Race<T>& race) {
    std::set<std::string_view> out;
    for (const auto& entrant : race.entrants().all())
        out.insert(race.config().types[entrant.type]->name);
    return out;
}

// The prediction as the formula has it, from the scores of the contestants themselves.
std::vector<double> naive_mixture(const Race<double>& race, const Item& item) {
    const auto K = static_cast<double>(race.labels());
    std::vector<double> mixture(race.labels(), 0.0), own(race.labels());
    const auto centre = [&](std::vector<double>& scores) {
        double sum = 0;
        for (const double score : scores) sum += score;
        for (double& score : scores) score -= sum / K;
    };
    for (std::size_t e = 0; e < race.entrants().size(); ++e) {
        const auto& entrant = race.entrants()[e];
        const Scaling scaling = race.config().types[entrant.type]->scaling;
        Example raw = item.example(), x;
        raw.merge();
        scale(raw, race.statistics(), scaling, x);
        double known = 0, all = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            all += x.value[i] * x.value[i];
            if (race.statistics().knows(x.feature[i])) known += x.value[i] * x.value[i];
        }
        const double share = scaling == Scaling::idf && all > 0 ? std::sqrt(known / all) : 1;
        x.finish(Norm::euclidean, race.config().ranker.constant * share);
        Contestant<double>::Scratch scratch;
        entrant.learner->score(x, scratch, own.data());
        centre(own);
        const double deviation = std::sqrt(entrant.variance.value());
        if (deviation > 0)
            for (std::size_t k = 0; k < own.size(); ++k)
                mixture[k] += race.entrants().weights()[e] * own[k] / deviation;
    }
    std::vector<double> centred = mixture;
    centre(centred);
    double variance = 0;
    for (const double score : centred) variance += score * score / K;
    if (variance > std::numeric_limits<float>::min())
        for (double& score : mixture) score /= std::pow(variance, 0.375);
    return mixture;
}

void follows_the_formula(const StreamShape& shape, std::uint64_t seed) {
    Race<double> race(config_with(all_names()));
    int round = 0;
    for (const Item& item : random_stream(seed, 120, shape)) {
        const Note note("seed ", seed, ", round ", round++);
        const std::vector<double> expected = naive_mixture(race, item);
        const std::vector<double> found = scores_of(race, item);
        same(found.size(), expected.size());
        for (std::size_t k = 0; k < expected.size(); ++k)
            near(found[k], expected[k], 1e-9 * std::max(1.0, std::abs(expected[k])));
        // The prediction of the round is the same one, for the labels there were.
        std::vector<double> predicted(static_cast<std::size_t>(shape.labels));
        learn_item(race, item, predicted.data());
        for (std::size_t k = 0; k < found.size(); ++k)
            near(predicted[k], found[k], 1e-9 * std::max(1.0, std::abs(found[k])));
        for (std::size_t k = found.size(); k < race.labels(); ++k)
            same(predicted[k], -std::numeric_limits<double>::infinity());
    }
}

const Test mixture{"race: scores are the weighted sum of centred scores, by d^(3/4)", [] {
                       follows_the_formula(kWords, 1);
                       follows_the_formula(kNumbers, 2);
                   }};

const Test suited{"race: after 20 rows those that do not suit the stream leave", [] {
                      for (const bool dense : {false, true}) {
                          Race<float> race(config_with(all_names()));
                          const auto items = random_stream(3, 20, dense ? kNumbers : kWords);
                          for (int t = 0; t < 19; ++t) learn_item(race, items[t]);
                          same(running(race).size(), all_names().size());
                          learn_item(race, items[19]);
                          std::set<std::string_view> expected;
                          for (const ContestantType& type : contestant_types())
                              if (type.suits == Suits::any || (type.suits == Suits::dense) == dense)
                                  expected.insert(type.name);
                          check(running(race) == expected, "others run");
                          for (std::size_t type = 0; type < race.entrants().departures().size();
                               ++type) {
                              const Departure& left = race.entrants().departures()[type];
                              same(left.happened, expected.count(all_names()[type]) == 0);
                              if (left.happened) same(left.round, std::int64_t{20});
                              check(!left.happened || left.reason == Reason::unsuited, "reason");
                          }
                      }
                  }};

const Test changing{
    "race: contestants come back when a stream becomes dense, and leave when it is sparse again",
    [] {
        Race<float> race(config_with(all_names()));
        const auto learn_all = [&](std::uint64_t seed, int count, const StreamShape& shape) {
            for (const Item& item : random_stream(seed, count, shape)) learn_item(race, item);
        };
        learn_all(4, 30, {.features = 40, .labels = 6, .length = 3});
        check(running(race).count("standard") == 0, "it is not dense yet");
        check(running(race).count("idf") == 1, "it is sparse");
        learn_all(5, 60, {.features = 40, .labels = 6, .length = 60});
        check(running(race).count("standard") == 1, "it is dense");
        check(running(race).count("idf") == 0, "it is no longer sparse");
        learn_all(6, 300, {.features = 400, .labels = 6, .length = 3});
        check(running(race).count("standard") == 0, "it is no longer dense");
        check(running(race).count("idf") == 1, "it is sparse again");
    }};

const Test negative{"race: a negative value ends the contestants for words", [] {
                        Race<float> race(config_with(all_names()));
                        for (const Item& item : random_stream(7, 60, kWords))
                            learn_item(race, item);
                        check(running(race).count("bayes-idf") == 1,
                              "words have no negative value");
                        learn_item(race, {{{3, -1}, {9, 1}}, {1}, {}});
                        check(running(race).count("bayes-idf") == 0, "a value is negative");
                        check(running(race).count("one-vs-rest-idf") == 0, "a value is negative");
                        check(running(race).count("idf") == 1, "it suits such streams");
                    }};

const Test last_ranker{
    "race: the last ranker stays, whatever the stream", [] {
        Race<float> race(
            config_with({"unit-cautious", "one-vs-rest-unit", "one-vs-rest-standard"}));
        for (const Item& item : random_stream(8, 40, kWords)) learn_item(race, item);
        check(running(race) == std::set<std::string_view>{"unit-cautious"}, "others run");
        same(race.entrants().weights() == std::vector<double>{1.0}, true);
    }};

// Each label depends on one column, and the columns differ in scale: contestants that standardise
// them see all columns.
std::vector<Item> uneven_columns(std::uint64_t seed, int count) {
    Random random(seed);
    std::vector<Item> out;
    for (int t = 0; t < count; ++t) {
        Item item;
        for (int column = 0; column < 5; ++column) {
            const double value = random.normal();
            item.pairs.emplace_back(column, std::pow(10.0, column) * value);
            if (value > 0.7) item.relevant.push_back(column);
        }
        out.push_back(item);
    }
    return out;
}

const Test beaten{
    "race: whoever is clearly worse leaves, from the 500th judged round on, every tenth", [] {
        Race<float> race(config_with(all_names()));
        double rounds = 0;
        std::size_t entrants = 0;
        bool any = false;
        for (const Item& item : uneven_columns(9, 700)) {
            entrants = race.entrants().size();
            learn_item(race, item);
            rounds = race.entrants().standings().rounds();
            if (race.rounds() <= 20 || race.entrants().size() == entrants) continue;
            any = true;
            at_most(500, rounds);
            same(std::fmod(rounds, 10), 0.0);
        }
        check(any, "nobody left");
        for (const Departure& left : race.entrants().departures()) {
            if (!left.happened || left.reason != Reason::beaten) continue;
            at_most(4, left.lead);
            check(left.winner >= 0, "nobody won");
        }
        const double total = [&] {
            double sum = 0;
            for (const double weight : race.entrants().weights()) sum += weight;
            return sum;
        }();
        near(total, 1, 1e-12);
    }};

const Test memory{
    "race: contestants that take too much memory leave, the worst first", [] {
        RaceConfig config = config_with(all_names());
        config.memory = 0;
        Race<float> race(config);
        for (const Item& item : random_stream(10, 40, kWords)) learn_item(race, item);
        at_most(static_cast<double>(race.entrants().size()), 2);
        const auto ranks = [](const auto& e) { return e.learner->ranker() != nullptr; };
        check(std::any_of(race.entrants().all().begin(), race.entrants().all().end(), ranks),
              "no ranker is left");
        check(std::any_of(race.entrants().departures().begin(), race.entrants().departures().end(),
                          [](const Departure& left) {
                              return left.happened && left.reason == Reason::memory;
                          }),
              "nobody left for its memory");
        for (const Item& item : random_stream(11, 40, kWords)) learn_item(race, item);
    }};

// Labels of an item exchanged, as if the answers had changed.
Item with_other_labels(Item item, int labels) {
    for (auto* given : {&item.relevant, &item.unknown}) {
        for (std::int32_t& label : *given) label = (label + 3) % labels;
        std::sort(given->begin(), given->end());
    }
    return item;
}

const Test drift{
    "race: when the answers change, contestants start again, at most two of a type", [] {
        Race<float> race(config_with({"unit", "idf", "bayes-idf"}));
        const StreamShape shape{.features = 60, .labels = 8, .length = 1, .binary = true};
        bool again = false;
        int round = 0;
        for (const Item& item : random_stream(12, 4000, shape)) {
            // One word and one label per item.
            Item own{item.pairs, {item.pairs[0].first % 8}, {}};
            learn_item(race, ++round <= 2000 ? own : with_other_labels(own, 8));
            std::vector<int> of_type(3, 0);
            for (const auto& entrant : race.entrants().all()) {
                again |= entrant.started > 2000;
                ++of_type[entrant.type];
                at_most(static_cast<double>(entrant.started), static_cast<double>(race.rounds()));
            }
            at_most(*std::max_element(of_type.begin(), of_type.end()), 2);
        }
        check(again, "nobody started again");
        at_most(2000, static_cast<double>(race.drift().since()));
    }};

const Test additive{"race: contributions add up to the score, for every kind and for the mixture",
                    [] {
                        std::vector<Names> races = {all_names()};
                        for (const std::string_view name : all_names())
                            races.push_back({"unit", name});
                        for (const StreamShape& shape : {kWords, kNumbers})
                            for (const Names& names : races) {
                                const Note note("contestant ", names.back());
                                Race<double> race(config_with(names));
                                const auto items = random_stream(13, 60, shape);
                                for (int t = 0; t < 15; ++t) learn_item(race, items[t]);
                                for (int t = 15; t < 25; ++t) {
                                    auto reader = reader_of(race, items[t]);
                                    const auto found = race.score(reader);
                                    const std::vector<double> scores(found.begin(), found.end());
                                    std::vector<double> parts;
                                    for (std::size_t k = 0; k < scores.size(); ++k) {
                                        race.contributions(reader, static_cast<int>(k), parts);
                                        same(parts.size(), reader.x.size());
                                        double sum = 0;
                                        for (const double part : parts) sum += part;
                                        near(sum, scores[k], 1e-9);
                                    }
                                    learn_item(race, items[t]);
                                }
                            }
                    }};

const Test labels{"race: merged and forgotten labels, and learning goes on", [] {
                      for (const StreamShape& shape : {kWords, kNumbers}) {
                          Race<double> race(config_with(all_names()));
                          const auto items = random_stream(14, 80, shape);
                          for (int t = 0; t < 40; ++t) learn_item(race, items[t]);
                          race.rebuild(Selection::of_labels({{1}, {0, 2}, {5}}, race.labels()));
                          same(race.labels(), std::size_t{3});
                          for (int t = 40; t < 80; ++t) {
                              const std::vector<double> expected = naive_mixture(race, items[t]);
                              const std::vector<double> found = scores_of(race, items[t]);
                              for (std::size_t k = 0; k < expected.size(); ++k)
                                  near(found[k], expected[k], 1e-9);
                              learn_item(race, items[t]);
                          }
                          same(race.labels(), static_cast<std::size_t>(shape.labels));
                      }
                  }};

const Test features{"race: forgotten features contribute nothing, and learning goes on", [] {
                        for (const StreamShape& shape : {kWords, kNumbers}) {
                            Race<double> race(config_with(all_names()));
                            const auto items = random_stream(15, 80, shape);
                            for (int t = 0; t < 40; ++t) learn_item(race, items[t]);
                            std::vector<char> kept;
                            std::set<std::int32_t> forgotten;
                            for (const std::int32_t feature : race.statistics().features()) {
                                kept.push_back(feature % 2 == 0);
                                if (!kept.back()) forgotten.insert(feature);
                            }
                            kept.push_back(1);
                            race.rebuild(Selection::of_rows(kept, race.rows(), race.width()));
                            for (const std::int32_t feature : forgotten)
                                check(!race.statistics().knows(feature), "it is known");
                            auto reader = reader_of(race, items[41]);
                            std::vector<double> parts;
                            race.contributions(reader, 0, parts);
                            for (std::size_t i = 0; i < parts.size(); ++i)
                                if (forgotten.count(reader.x.feature[i])) same(parts[i], 0.0);
                            for (int t = 40; t < 80; ++t) {
                                const std::vector<double> expected = naive_mixture(race, items[t]);
                                const std::vector<double> found = scores_of(race, items[t]);
                                for (std::size_t k = 0; k < expected.size(); ++k)
                                    near(found[k], expected[k], 1e-9);
                                learn_item(race, items[t]);
                            }
                        }
                    }};

const Test weightless{"race: rounds of weight 0 change nothing", [] {
                          Race<double> race(config_with(all_names()));
                          auto items = random_stream(16, 60, kWords);
                          for (int t = 0; t < 40; ++t) learn_item(race, items[t]);
                          const std::vector<double> before = race.state();
                          const std::vector<double> scores = scores_of(race, items[50]);
                          items[41].weight = 0;
                          learn_item(race, items[41]);
                          same_bits(race.state(), before);
                          same_bits(scores_of(race, items[50]), scores);
                      }};

const Test saved{"race: saved numbers are restored, others are refused", [] {
                     Race<float> race(config_with(all_names()));
                     for (const Item& item : random_stream(17, 60, kNumbers))
                         learn_item(race, item);
                     const std::vector<double> numbers = race.state();
                     const auto accepts = [&](const std::vector<double>& state) {
                         Race<float> other(config_with(all_names()));
                         if (!other.restore(state, race.labels())) return false;
                         same_bits(other.state(), state);
                         check(running(other) == running(race), "others run");
                         return true;
                     };
                     check(accepts(numbers), "valid numbers were refused");
                     for (std::size_t at = 0; at < numbers.size(); ++at) {
                         const Note note("number ", at);
                         std::vector<double> changed = numbers;
                         changed[at] = std::numeric_limits<double>::quiet_NaN();
                         check(!accepts(changed), "NaN was accepted");
                         changed[at] = -2;
                         check(!accepts(changed), "a negative number was accepted");
                     }
                     std::vector<double> longer = numbers, shorter = numbers;
                     longer.push_back(0);
                     shorter.pop_back();
                     check(!accepts(longer) && !accepts(shorter), "another length was accepted");
                     check(!accepts({}), "nothing was accepted");
                 }};

}  // namespace
}  // namespace tagalong::test::race_test
