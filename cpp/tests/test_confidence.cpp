// Confidence: states are restored bit by bit or refused, labels can be merged and forgotten, and
// every judgement is in range. The Python tests compare its values with a reference.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "predictions/confidence.hpp"
#include "predictions/ranking.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::confidence_test {
namespace {

struct Answered {
    std::vector<double> scores;
    double cutoff;
    std::int32_t known;
    std::vector<int> relevant, unknown;

    ScoredItem<double> item() const { return {scores, cutoff, known}; }
};

// Scores that predict the labels fairly well; sometimes a new label, nothing known, or several.
Answered draw(Random& random, int labels, bool one_label) {
    Answered out;
    for (int label = 0; label < labels; ++label) out.scores.push_back(random.normal());
    const auto best = std::max_element(out.scores.begin(), out.scores.end()) - out.scores.begin();
    out.relevant = {random.chance(0.8) ? static_cast<int>(best) : random.below(labels + 1)};
    const int other = random.below(labels);
    if (other != out.relevant[0]) {
        if (!one_label && random.chance(0.3)) out.relevant.push_back(other);
        else if (random.chance(0.1)) out.unknown.push_back(other);
    }
    std::sort(out.relevant.begin(), out.relevant.end());
    out.cutoff = random.chance(0.1) ? std::numeric_limits<double>::infinity() : 1;
    out.known = random.chance(0.05) ? 0 : 1 + random.below(60);
    return out;
}

Confidence learnt(std::uint64_t seed, int rounds, int labels, bool one_label) {
    Random random(seed);
    Confidence confidence;
    for (int round = 0; round < rounds; ++round) {
        const Answered answered = draw(random, labels, one_label);
        confidence.observe(answered.item(), answered.relevant, answered.unknown,
                           random.chance(0.1) ? 10 : 1, nullptr);
    }
    return confidence;
}

bool equal(const Judgement& a, const Judgement& b) {
    const auto same_place = [](const Place& x, const Place& y) {
        return x.label == y.label && x.score == y.score && x.probability == y.probability &&
               x.assured == y.assured && x.chosen == y.chosen;
    };
    return a.whole == b.whole && a.known == b.known && a.in_runs == b.in_runs &&
           std::equal(a.places.begin(), a.places.end(), b.places.begin(), b.places.end(),
                      same_place);
}

const Test in_range{
    "confidence: judgements are in range, and do not increase with the place", [] {
        for (const bool one_label : {false, true})
            for (const int labels : {1, 2, 3, 9, 40}) {
                const Note note("labels ", labels, ", one label ", one_label);
                const Confidence confidence = learnt(3, 700, labels, one_label);
                Random random(8);
                for (int round = 0; round < 200; ++round) {
                    const Answered answered = draw(random, labels, one_label);
                    Judgement judged;
                    confidence.judge(answered.item(), static_cast<std::size_t>(labels), {}, judged);
                    same(judged.places.size(), static_cast<std::size_t>(labels));
                    double before = 1, sum = 0;
                    for (const Place& place : judged.places) {
                        check(place.probability >= 0 && place.probability <= before,
                              "out of order");
                        check(place.assured >= 0 && place.assured <= 1, "assured out of range");
                        before = place.probability;
                        sum += place.probability;
                    }
                    check(judged.whole >= 0 && judged.whole <= 1, "whole out of range");
                    if (one_label && labels > 1) near(sum, 1, 1e-9);
                    if (answered.known == 0 || labels == 1)
                        for (const Place& place : judged.places) same(place.assured, 0.0);
                }
            }
    }};

const Test round_trip{
    "confidence: a restored state judges and learns with the same bits", [] {
        for (const bool one_label : {false, true}) {
            Confidence original = learnt(5, 900, 12, one_label);
            Confidence restored;
            check(restored.restore(original.state(), 13), "a sound state was refused");
            check(restored.state() == original.state(), "the state differs");
            Random random(6);
            for (int round = 0; round < 100; ++round) {
                const Answered answered = draw(random, 12, one_label);
                Judgement a, b;
                original.observe(answered.item(), answered.relevant, answered.unknown, 1, &a);
                restored.observe(answered.item(), answered.relevant, answered.unknown, 1, &b);
                check(equal(a, b), "judgements differ");
            }
            check(restored.state() == original.state(), "the states after learning differ");
        }
    }};

const Test invalid{
    "confidence: invalid states are refused and change nothing", [] {
        const Confidence original = learnt(7, 300, 6, false);
        const std::vector<double> sound = original.state();
        Confidence target = learnt(9, 50, 6, false);
        const std::vector<double> before = target.state();
        std::vector<double> longer = sound;
        longer.push_back(0);
        check(!target.restore(longer, 7), "a longer state was accepted");
        check(!target.restore(std::span(sound).first(sound.size() - 1), 7), "a shorter one too");
        check(!target.restore({}, 7), "an empty one too");
        check(!target.restore(sound, 3), "labels out of range were accepted");
        for (std::size_t i = 0; i < sound.size(); ++i)
            for (const double bad :
                 {std::nan(""), std::numeric_limits<double>::infinity(), -1e300}) {
                std::vector<double> forged = sound;
                forged[i] = bad;
                check(!target.restore(forged, 7), "a number out of range was accepted");
            }
        // Behind three counts: the logistic rule of the first place, with two counts, the weights
        // of seven numbers and a constant, and the matrix P, here with an off-diagonal entry.
        std::vector<double> forged = sound;
        forged[3 + 2 + 8 + 1] = 8;
        check(!target.restore(forged, 7), "a matrix that is not positive definite was accepted");
        forged = sound;
        forged[2] = forged[0] + 1;
        check(!target.restore(forged, 7), "more answers with several labels than answers");
        check(target.state() == before, "a refused state changed the confidence");
    }};

const Test selected{
    "confidence: labels are merged and forgotten", [] {
        Confidence confidence = learnt(11, 400, 6, false);
        // Labels 0 and 3 become one, label 5 is forgotten, label 6 was new in some answer.
        confidence.select(Selection::of_labels({{0, 3}, {1}, {2}, {4}, {6}}, 7), 7);
        Confidence restored;
        check(restored.restore(confidence.state(), 5), "the state has labels out of range");
        Random random(12);
        for (int round = 0; round < 50; ++round) {
            const Answered answered = draw(random, 5, false);
            Judgement judged;
            confidence.observe(answered.item(), answered.relevant, answered.unknown, 1, &judged);
            same(judged.places.size(), std::size_t{5});
        }
    }};

const Test one_label_changes{
    "confidence: whether items have one label can be set after answers", [] {
        Confidence confidence = learnt(13, 400, 6, false);
        const std::vector<double> state = confidence.state();
        Random random(14);
        const Answered answered = draw(random, 6, false);
        const auto judged = [&](const Confidence& by) {
            Judgement out;
            by.judge(answered.item(), 6, {}, out);
            return out;
        };
        const Judgement before = judged(confidence);
        check(!confidence.has_one_label(), "answers had several labels");
        confidence.set_one_label(OneLabel::yes);
        check(confidence.has_one_label(), "items have one label, as was set");
        check(confidence.state() == state, "what was learnt has changed");
        Confidence from_the_start(OneLabel::yes);
        check(from_the_start.restore(state, 7), "the state was refused");
        const Judgement after = judged(confidence);
        check(equal(after, judged(from_the_start)), "not as if it was set from the start");
        double sum = 0;
        for (std::size_t place = 0; place < after.places.size(); ++place) {
            check(after.places[place].chosen == (place == 0), "not exactly the first is chosen");
            sum += after.places[place].probability;
        }
        near(sum, 1, 1e-9);
        confidence.set_one_label(OneLabel::noticed);
        check(equal(judged(confidence), before), "the change cannot be taken back");
    }};

const Test of_nothing{"confidence: an item without labels has no places", [] {
                          Confidence confidence;
                          Judgement judged;
                          confidence.judge<double>({{}, 0, 3}, 5, {}, judged);
                          same(judged.places.size(), std::size_t{0});
                          const std::vector<int> first = {0}, none;
                          confidence.observe<double>({{}, 0, 3}, first, none, 1, &judged);
                          same(judged.places.size(), std::size_t{0});
                          check(!confidence.has_one_label(), "noticed too early");
                      }};

const Test ties{"ranking: equal scores go to frequent labels, then to recent ones", [] {
                    const std::vector<double> scores = {1, 2, 1, 1, 0};
                    const std::vector<std::int64_t> count = {3, 0, 5, 5, 9}, last = {9, 0, 1, 2, 3};
                    std::vector<std::int32_t> best;
                    best_labels(std::span<const double>(scores), 3, TieOrder{count, last}, best);
                    check(best == std::vector<std::int32_t>{1, 3, 2}, "wrong order of ties");
                    best_labels(std::span<const double>(scores), 3, TieOrder{}, best);
                    check(best == std::vector<std::int32_t>{1, 0, 2},
                          "ties without an order go by index");
                }};

}  // namespace
}  // namespace tagalong::test::confidence_test
