// PricedCutoff: price and threshold against a naive twin, the first rounds, and saved states.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "predictions/cutoff.hpp"
#include "predictions/priced_cutoff.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::priced_cutoff_test {
namespace {

using Scores = std::vector<double>;
using Labels = std::vector<int>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Round {
    Scores scores;
    Labels relevant, unknown;
};

bool in(const Labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

template <class Counter>
void observe(Counter& counter, const Round& round) {
    counter.observe(std::span<const double>(round.scores), round.relevant, round.unknown);
}

// Scores with this deviation; the higher its score, the likelier a label is relevant.
Round draw_round(Random& random, int labels, double strength, double unknown = 0) {
    Round out;
    for (int label = 0; label < labels; ++label) {
        const double score = random.normal();
        out.scores.push_back(0.5 + strength * score);
        if (random.chance(unknown)) out.unknown.push_back(label);
        else if (random.chance(1 / (1 + std::exp(4 - 3 * score)))) out.relevant.push_back(label);
    }
    return out;
}

PricedCutoff cutoff_after(std::uint64_t seed, int rounds, int labels, double factor = 1) {
    PricedCutoff cutoff;
    Random random(seed);
    for (int i = 0; i < rounds; ++i) {
        Round round = draw_round(random, labels, 1);
        for (double& score : round.scores) score *= factor;
        observe(cutoff, round);
    }
    return cutoff;
}

// Keeps all rounds, and tries every threshold.
class Twin {
  public:
    void observe(const Round& round, double cutoff) {
        hits_ *= 0.999;
        chosen_ *= 0.999;
        relevant_ *= 0.999;
        for (Seen& seen : seen_) seen.weight *= 0.999;
        relevant_ += static_cast<double>(round.relevant.size());
        for (std::size_t i = 0; i < round.scores.size(); ++i) {
            const auto label = static_cast<int>(i);
            if (in(round.unknown, label)) continue;
            const bool right = in(round.relevant, label);
            seen_.push_back({round.scores[i], 1, right});
            if (round.scores[i] < cutoff) continue;
            chosen_ += 1;
            hits_ += right;
        }
    }
    double price() const { return hits_ / (chosen_ + relevant_); }
    double gain(double threshold) const {
        double sum = 0;
        for (const Seen& seen : seen_)
            if (seen.score >= threshold) sum += seen.weight * ((seen.right ? 1 : 0) - price());
        return sum;
    }
    double best_gain() {
        std::sort(seen_.begin(), seen_.end(),
                  [](const Seen& a, const Seen& b) { return a.score > b.score; });
        double sum = 0, best = 0;
        for (const Seen& seen : seen_)
            best = std::max(best, sum += seen.weight * ((seen.right ? 1 : 0) - price()));
        return best;
    }
    double relevant() const { return relevant_; }

  private:
    struct Seen {
        double score, weight;
        bool right;
    };
    double hits_ = 100, chosen_ = 200, relevant_ = 200;
    std::vector<Seen> seen_;
};

const Test twin{
    "priced cut-off: price and threshold are those of a twin that keeps all rounds", [] {
        for (std::uint64_t seed = 31; seed < 36; ++seed) {
            const Note note("seed ", seed);
            Random random(seed);
            PricedCutoff cutoff;
            Twin twin;
            for (int i = 0; i < 400; ++i) {
                const Round round = draw_round(random, 15, 1, 0.1);
                twin.observe(round, cutoff.value());
                observe(cutoff, round);
                near(cutoff.price(), twin.price(), 1e-12);
                if (i % 50 != 49) continue;
                // Bins are narrow: little is lost by trying their lower ends only.
                at_most(twin.best_gain() - twin.gain(cutoff.value()), 0.02 * twin.relevant());
            }
        }
    }};

// The micro-averaged F1 of what is chosen before each round.
class ProgressiveF1 {
  public:
    void observe(const Round& round, double cutoff) {
        for (std::size_t i = 0; i < round.scores.size(); ++i) {
            if (round.scores[i] < cutoff) continue;
            chosen_ += 1;
            hits_ += in(round.relevant, static_cast<int>(i));
        }
        relevant_ += static_cast<double>(round.relevant.size());
    }
    double chosen() const { return chosen_; }
    double value() const { return 2 * hits_ / (chosen_ + relevant_); }

  private:
    double hits_ = 0, chosen_ = 0, relevant_ = 0;
};

const Test constants{"priced cut-off: its F1 is nearly that of the best constant cut-off", [] {
                         Random random(43);
                         PricedCutoff cutoff;
                         ProgressiveF1 found;
                         std::vector<Round> rounds;
                         for (int i = 0; i < 2000; ++i) {
                             rounds.push_back(draw_round(random, 20, 1));
                             found.observe(rounds.back(), cutoff.value());
                             observe(cutoff, rounds.back());
                         }
                         double best = 0;
                         for (double constant = -1; constant < 4; constant += 0.05) {
                             ProgressiveF1 other;
                             for (const Round& round : rounds) other.observe(round, constant);
                             best = std::max(best, other.value());
                         }
                         at_most(best - 0.01, found.value());
                         at_most(0.3, found.value());
                     }};

const Test beginning{"priced cut-off: while scores say nothing yet, it chooses few labels", [] {
                         Random random(44);
                         PricedCutoff cutoff;
                         Cutoff constant;
                         ProgressiveF1 found, other;
                         for (int i = 0; i < 60; ++i) {
                             Round round;
                             for (int label = 0; label < 20; ++label)
                                 round.scores.push_back(random.normal());
                             round.relevant = {random.below(20)};
                             found.observe(round, cutoff.value());
                             other.observe(round, constant.value());
                             observe(cutoff, round);
                             observe(constant, round);
                         }
                         at_most(found.chosen(), 60);
                         at_most(3 * found.chosen(), other.chosen());
                     }};

const Test first_rounds{"priced cut-off: it is infinite until a relevant label has a score", [] {
                            PricedCutoff cutoff;
                            same(cutoff.value(), kInfinity);
                            observe(cutoff, {{1, 2, 3}, {}, {}});
                            observe(cutoff, {{1, 2, 3}, {3}, {}});
                            same(cutoff.value(), kInfinity);
                            observe(cutoff, {{1, 2, 3}, {2}, {}});
                            check(std::isfinite(cutoff.value()), "the value is not finite");
                        }};

const Test following{"priced cut-off: it follows scores that become larger", [] {
                         Random random(53);
                         PricedCutoff cutoff;
                         const auto threshold_after = [&](int rounds, double strength) {
                             for (int i = 0; i < rounds; ++i)
                                 observe(cutoff, draw_round(random, 20, strength));
                             return (cutoff.value() - 0.5) / strength;
                         };
                         const double before = threshold_after(480, 1);
                         near(threshold_after(8000, 8), before, 0.25);
                     }};

// The scores of an item that comes again and again lie on the lower end of a bin, or near it.
const Test edges{
    "priced cut-off: rounding does not exclude the scores that the threshold is for", [] {
        Random random(54);
        for (int i = 0; i < 200; ++i) {
            Round round;
            for (int label = 0; label < 7; ++label) round.scores.push_back(random.normal());
            round.relevant = {static_cast<int>(
                std::max_element(round.scores.begin(), round.scores.end()) - round.scores.begin())};
            PricedCutoff cutoff;
            for (int again = 0; again < 3; ++again) observe(cutoff, round);
            const double relevant = round.scores[round.relevant[0]];
            at_most(cutoff.value(), relevant);
            at_most(relevant - 0.1, cutoff.value());
        }
    }};

const Test unknown_labels{
    "priced cut-off: labels of unknown relevance do not raise the threshold", [] {
        PricedCutoff cutoff;
        const Round round = {{3, 2.5, 2, 2.1, 2.2, 0, 0, 0}, {2}, {0, 1, 3, 4}};
        for (int i = 0; i < 50; ++i) observe(cutoff, round);
        at_most(cutoff.value(), 2);
        at_most(0.1, cutoff.value());
    }};

const Test scale{"priced cut-off: the scale of the scores does not matter", [] {
                     const PricedCutoff plain = cutoff_after(46, 1200, 20);
                     for (const double factor : {0x1p-64, 0x1p-8, 0x1p48}) {
                         const PricedCutoff scaled = cutoff_after(46, 1200, 20, factor);
                         same(scaled.value(), factor * plain.value());
                     }
                 }};

const Test uninformative{
    "priced cut-off: equal and infinite scores leave the threshold", [] {
        PricedCutoff cutoff = cutoff_after(48, 300, 4);
        const double before = cutoff.value(), price = cutoff.price();
        for (const Scores& scores : {Scores{}, Scores{3}, Scores{2, 2, 2, 2}, Scores{1, -kInfinity},
                                     Scores{kInfinity, 0}}) {
            observe(cutoff, {scores, {0}, {}});
            same(cutoff.value(), before);
        }
        // Their relevant labels were missed, which lowers F1.
        check(cutoff.price() < price, "missed labels do not count");
    }};

const Test new_labels{"priced cut-off: labels that are new in the round have no score", [] {
                          PricedCutoff with, without;
                          Random random(49);
                          for (int i = 0; i < 100; ++i) {
                              Round round = draw_round(random, 10, 1);
                              observe(without, round);
                              round.relevant.push_back(10);
                              round.unknown.push_back(11);
                              observe(with, round);
                          }
                          check(with.price() < without.price(), "a missed label does not count");
                          std::vector<double> expected = without.state(), found = with.state();
                          // Only price and threshold differ: the histograms have the same counts.
                          same_bits(std::vector<double>(found.begin() + 5, found.end()),
                                    std::vector<double>(expected.begin() + 5, expected.end()));
                      }};

const Test states{
    "priced cut-off: a restored state continues, states of other lengths are refused", [] {
        PricedCutoff cutoff = cutoff_after(50, 1500, 20), restored;
        check(restored.restore(cutoff.state()), "a valid state was refused");
        Random random(51);
        for (int i = 0; i < 600; ++i) {
            const Round round = draw_round(random, 20, 1);
            observe(cutoff, round);
            observe(restored, round);
        }
        same_bits(restored.state(), cutoff.state());
        for (const std::size_t length :
             {std::size_t{0}, cutoff.state().size() - 1, cutoff.state().size() + 1}) {
            check(!restored.restore(Scores(length, 1.0)), "a state of another length was accepted");
            same_bits(restored.state(), cutoff.state());
        }
        PricedCutoff fresh;
        check(fresh.restore(PricedCutoff().state()), "the state of the beginning was refused");
    }};

const Test forged{
    "priced cut-off: numbers that are out of range or contradict each other are refused", [] {
        const Scores sound = cutoff_after(52, 300, 12).state();
        const auto refuses = [&](std::size_t at, double number) {
            const Note note("number ", at, ": ", number);
            Scores changed = sound;
            changed[at] = number;
            PricedCutoff restored;
            check(!restored.restore(changed), "it was accepted");
        };
        for (std::size_t at = 0; at < sound.size(); ++at)
            refuses(at, std::numeric_limits<double>::quiet_NaN());
        // Threshold, rounds, hits, chosen, relevant; the histogram.
        for (std::size_t at = 1; at < sound.size(); ++at) refuses(at, kInfinity);
        for (const std::size_t at : {1, 2, 3, 4, 6, 7, 8}) refuses(at, -1);
        refuses(2, std::min(sound[3], sound[4]) + 1);  // more hits than chosen labels
        refuses(3, sound[2] - 1);
        refuses(4, sound[2] - 1);
    }};

// Whenever everything chosen is right and nothing is missed, three sums differ by rounding only.
const Test always_right{"priced cut-off: states of a model that is always right are sound", [] {
                            PricedCutoff cutoff;
                            for (int i = 0; i < 30000; ++i) {
                                const double height = 1 + i % 3;
                                observe(cutoff, {{height, 0, height / 2, 0, 0}, {0}, {2}});
                            }
                            near(cutoff.price(), 0.5, 1e-3);
                            PricedCutoff restored;
                            check(restored.restore(cutoff.state()), "a valid state was refused");
                        }};

}  // namespace
}  // namespace tagalong::test::priced_cutoff_test
