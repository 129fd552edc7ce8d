// The compact ranker: scores and contributions against the race it was made from, and contents that
// contradict each other.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "compact/compaction.hpp"
#include "race/race.hpp"
#include "tests/check.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::compact_ranker_test {
namespace {

constexpr StreamShape kWords{.features = 200, .labels = 8, .length = 8, .binary = true};
constexpr auto* kRefusal = "a compact model is for predictions only: it cannot learn";
constexpr StreamShape kNumbers{.features = 8, .labels = 6, .length = 12};

CompactedPart part_of(const Race<double>& race, std::size_t entrant,
                      const std::vector<double>& counts) {
    Contestant<double>& learner = *race.entrants()[entrant].learner;
    const auto copy = [&](const LinearWeights& weights) {
        return compacted(weights, race.statistics().features(), counts, 0);
    };
    CompactedPart out;
    if (const auto* ranker = learner.ranker()) out = copy(linear_weights(*ranker));
    else if (const auto* one_vs_rest = learner.one_vs_rest())
        out = copy(linear_weights(*one_vs_rest));
    else out = copy(linear_weights(*learner.bayes()));
    out.scaling = race.entrants().type_of(entrant).scaling;
    out.factor = race.entrants().factor(entrant);
    return out;
}

// A race of a ranker and one more contestant, and its copy without dropped weights.
std::vector<Item> items_of(const StreamShape& shape) {
    Random random(5);
    std::vector<Item> out;
    for (int i = 0; i < 60; ++i) out.push_back(random_item(random, shape));
    return out;
}

void expect_same_scores(std::string_view name, const StreamShape& shape) {
    RaceConfig config;
    config.types = {&contestant_type("unit")};
    if (name != "unit") config.types.push_back(&contestant_type(name));
    config.ranker.C = 10;
    config.ranker.average = Average::chosen;
    config.ranker.constant = 0.5;
    config.ranker.rate = 3;
    Race<double> race(config);
    const auto items = items_of(shape);
    for (const Item& item : items) {
        Example x = item.example();
        race.finish(x);
        race.learn(x, item.relevant, item.unknown, item.weight, {1, nullptr, nullptr});
    }
    std::vector<double> counts;
    for (std::size_t i = 0; i < race.statistics().features().size(); ++i)
        counts.push_back(race.statistics().at(i).rows);
    std::vector<CompactedPart> made;
    std::vector<CompactPart> parts_of_copy;
    for (std::size_t e = 0; e < race.entrants().size(); ++e)
        made.push_back(part_of(race, e, counts));
    for (const CompactedPart& part : made) {
        parts_of_copy.push_back(part.view());
        check(part.view().sound(counts.size(), race.labels()), "the part is not sound");
    }

    CompactConfig plain;
    plain.constant = 0.5;
    CompactRanker compact(plain);
    compact.restore(race.labels(), race.cutoff(), race.statistics(), parts_of_copy, nullptr);
    double largest = 0, error = 0;
    for (const Item& item : items) {
        Race<double>::Reader full;
        full.x = item.example();
        race.finish(full.x);
        CompactRanker::Reader own;
        own.x = item.example();
        compact.finish(own.x);
        const auto expected = race.score(full);
        const auto found = compact.score(own);
        for (std::size_t k = 0; k < race.labels(); ++k) {
            largest = std::max(largest, std::abs(expected[k]));
            error = std::max(error, std::abs(expected[k] - static_cast<double>(found[k])));
        }
        std::vector<double> parts;
        const std::vector<float> scores(found.begin(), found.end());
        compact.contributions(own, 1, parts);
        double sum = 0;
        for (const double part : parts) sum += part;
        near(sum, static_cast<double>(scores[1]), 1e-4);
    }
    at_most(error, 0.03 * largest);
}

const Test scores{"compact ranker: scores of every contestant", [] {
                      for (const ContestantType& type : contestant_types())
                          expect_same_scores(
                              type.name, type.suits == Suits::words || type.suits == Suits::sparse
                                             ? kWords
                                             : kNumbers);
                      expect_same_scores("unit", kWords);
                  }};

const Test soundness{
    "compact ranker: contents that contradict each other", [] {
        const std::vector<std::uint32_t> offsets = {0, 2, 2, 3};
        const std::vector<std::uint16_t> labels = {0, 3, 1};
        const std::vector<std::int8_t> values = {1, -2, 3};
        const std::vector<float> scales = {1, 0, 2}, constant = {0, 0, 0, 1};
        const auto sound = [&](auto&& change) {
            auto o = offsets;
            auto l = labels;
            auto v = values;
            auto s = scales, c = constant, b = std::vector<float>();
            change(o, l, v, s, c, b);
            return CompactPart{Scaling::unit, 1, 1, o, l, v, s, c, b}.sound(3, 4);
        };
        check(sound([](auto&...) {}), "the part is sound");
        check(!sound([](auto& o, auto&...) { o[0] = 1; }), "first offset");
        check(!sound([](auto& o, auto&...) { o[3] = 4; }), "last offset");
        check(!sound([](auto& o, auto&...) { o[1] = 9; }), "descending offsets");
        check(!sound([](auto& o, auto&...) { o.pop_back(); }), "fewer offsets");
        check(!sound([](auto&, auto& l, auto&...) { l[1] = 4; }), "label out of range");
        check(!sound([](auto&, auto& l, auto&...) { l[1] = 0; }), "repeated label");
        check(!sound([](auto&, auto&, auto& v, auto&...) { v.pop_back(); }), "fewer values");
        check(!sound([](auto&, auto&, auto&, auto& s, auto&...) { s[0] = NAN; }), "NaN scale");
        check(!sound([](auto&, auto&, auto&, auto& s, auto&...) { s[0] = -1; }), "negative scale");
        check(!sound([](auto&, auto&, auto&, auto&, auto& c, auto&) { c[0] = INFINITY; }),
              "infinite constant");
        check(!sound([](auto&, auto&, auto&, auto&, auto&, auto& b) { b = {1}; }), "short bias");
    }};

const Test no_learning{"compact ranker: learning is refused", [] {
                           CompactRanker ranker{CompactConfig{}};
                           throws<InputError>([&] { ranker.learn({}, {}, {}, 1); }, kRefusal);
                           throws<InputError>([&] { ranker.add_labels(1); }, kRefusal);
                       }};

}  // namespace
}  // namespace tagalong::test::compact_ranker_test
