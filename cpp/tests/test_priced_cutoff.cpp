// RowCutoff: the threshold against a naive twin, rows of unlike strength, and saved states.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "predictions/cutoff.hpp"
#include "predictions/row_cutoff.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::row_cutoff_test {
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

double value_for(const RowCutoff& cutoff, const Scores& scores) {
    return cutoff.value_for(std::span<const double>(scores));
}

template <class Counter>
void observe(Counter& counter, const Round& round) {
    counter.observe(std::span<const double>(round.scores), round.relevant, round.unknown);
}

struct Row {
    double mean, scale;
};
Row describe(const Scores& scores) {
    const auto count = static_cast<double>(scores.size());
    double mean = 0, variance = 0;
    for (const double score : scores) mean += score / count;
    for (const double score : scores) variance += (score - mean) * (score - mean) / count;
    return {mean, std::pow(variance, 0.375)};
}

// Scores of a row with this strength; the higher its standardised score, the likelier a label is
// relevant.
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

RowCutoff cutoff_after(std::uint64_t seed, int rounds, int labels, double factor = 1) {
    RowCutoff cutoff;
    Random random(seed);
    for (int i = 0; i < rounds; ++i) {
        Round round = draw_round(random, labels, random.magnitude(0.3, 3));
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
        const Row row = describe(round.scores);
        for (std::size_t i = 0; i < round.scores.size(); ++i) {
            const auto label = static_cast<int>(i);
            if (in(round.unknown, label)) continue;
            const bool right = in(round.relevant, label);
            seen_.push_back({(round.scores[i] - row.mean) / row.scale, 1, right});
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
    "row cut-off: price and threshold are those of a twin that keeps all rounds", [] {
        for (std::uint64_t seed = 31; seed < 36; ++seed) {
            const Note note("seed ", seed);
            Random random(seed);
            RowCutoff cutoff;
            Twin twin;
            for (int i = 0; i < 400; ++i) {
                const Round round = draw_round(random, 15, random.magnitude(0.3, 3), 0.1);
                twin.observe(round, value_for(cutoff, round.scores));
                observe(cutoff, round);
                near(cutoff.price(), twin.price(), 1e-12);
                if (i % 50 != 49) continue;
                const Scores row = {0, 1, 2, 3};
                const auto [mean, scale] = describe(row);
                const double threshold = (value_for(cutoff, row) - mean) / scale;
                // Bins are narrow: little is lost by trying their lower ends only.
                at_most(twin.best_gain() - twin.gain(threshold), 0.02 * twin.relevant());
            }
        }
    }};

const Test definition{
    "row cut-off: the mean of the row plus a multiple of the deviation's power 3/4", [] {
        const RowCutoff cutoff = cutoff_after(41, 300, 20);
        Random random(42);
        const Scores row = {0, 1, 2, 3};
        const auto [mean, scale] = describe(row);
        const double threshold = (value_for(cutoff, row) - mean) / scale;
        for (int i = 0; i < 20; ++i) {
            Scores scores;
            const double strength = random.magnitude(1e-3, 1e3), shift = random.between(-9, 9);
            for (int label = 0; label < 30; ++label)
                scores.push_back(strength * random.normal() + shift);
            const auto [other_mean, other_scale] = describe(scores);
            near(value_for(cutoff, scores), other_mean + threshold * other_scale,
                 1e-9 * (std::abs(other_mean) + other_scale));
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

const Test strengths{"row cut-off: if rows differ in strength, it beats every constant cut-off",
                     [] {
                         Random random(43);
                         RowCutoff cutoff;
                         ProgressiveF1 found;
                         std::vector<Round> rounds;
                         for (int i = 0; i < 2000; ++i) {
                             rounds.push_back(draw_round(random, 20, random.magnitude(0.2, 5)));
                             found.observe(rounds.back(), value_for(cutoff, rounds.back().scores));
                             observe(cutoff, rounds.back());
                         }
                         for (double constant = -1; constant < 12; constant += 0.25) {
                             ProgressiveF1 other;
                             for (const Round& round : rounds) other.observe(round, constant);
                             at_most(other.value() + 0.05, found.value());
                         }
                     }};

const Test beginning{"row cut-off: while scores say nothing yet, it chooses few labels", [] {
                         Random random(44);
                         RowCutoff cutoff;
                         Cutoff constant;
                         ProgressiveF1 found, other;
                         for (int i = 0; i < 60; ++i) {
                             Round round;
                             for (int label = 0; label < 20; ++label)
                                 round.scores.push_back(random.normal());
                             round.relevant = {random.below(20)};
                             found.observe(round, value_for(cutoff, round.scores));
                             other.observe(round, constant.value());
                             observe(cutoff, round);
                             observe(constant, round);
                         }
                         at_most(found.chosen(), 60);
                         at_most(3 * found.chosen(), other.chosen());
                     }};

const Test typical{"row cut-off: its value is that of a typical row", [] {
                       Random random(45);
                       RowCutoff cutoff;
                       same(cutoff.value(), kInfinity);
                       const Round round = draw_round(random, 20, 1);
                       for (int i = 0; i < 50; ++i) observe(cutoff, round);
                       check(std::isfinite(cutoff.value()), "the value is not finite");
                       near(cutoff.value(), value_for(cutoff, round.scores), 1e-9);
                   }};

const Test following{"row cut-off: its value follows rows that become stronger", [] {
                         Random random(53);
                         RowCutoff cutoff;
                         const auto observe_rows = [&](int rows, double strength) {
                             for (int i = 0; i < rows; ++i)
                                 observe(cutoff, draw_round(random, 20, strength));
                             const Round round = draw_round(random, 2000, strength);
                             near(cutoff.value() / value_for(cutoff, round.scores), 1, 0.1);
                         };
                         observe_rows(480, 1);
                         observe_rows(4000, 8);
                     }};

// The scores of a row that comes again and again lie on the lower end of a bin, or near it.
const Test edges{
    "row cut-off: rounding does not exclude the scores that the threshold is for", [] {
        Random random(54);
        for (int i = 0; i < 200; ++i) {
            Round round;
            for (int label = 0; label < 7; ++label) round.scores.push_back(random.normal());
            round.relevant = {static_cast<int>(
                std::max_element(round.scores.begin(), round.scores.end()) - round.scores.begin())};
            RowCutoff cutoff;
            for (int again = 0; again < 3; ++again) observe(cutoff, round);
            const double relevant = round.scores[round.relevant[0]];
            at_most(value_for(cutoff, round.scores), relevant);
            at_most(relevant - 0.1, value_for(cutoff, round.scores));
        }
    }};

const Test unknown_labels{
    "row cut-off: labels of unknown relevance do not raise the threshold", [] {
        RowCutoff cutoff;
        const Round round = {{3, 2.5, 2, 2.1, 2.2, 0, 0, 0}, {2}, {0, 1, 3, 4}};
        for (int i = 0; i < 50; ++i) observe(cutoff, round);
        at_most(value_for(cutoff, round.scores), 2);
        at_most(0.1, value_for(cutoff, round.scores));
    }};

const Test scale{"row cut-off: the scale of the scores does not matter", [] {
                     const RowCutoff plain = cutoff_after(46, 1200, 20);
                     Random random(47);
                     const Scores scores = draw_round(random, 30, 1).scores;
                     for (const double factor : {0x1p-64, 0x1p-8, 0x1p48}) {
                         const RowCutoff scaled = cutoff_after(46, 1200, 20, factor);
                         Scores other = scores;
                         for (double& score : other) score *= factor;
                         same(value_for(scaled, other), factor * value_for(plain, scores));
                         same(scaled.value(), factor * plain.value());
                     }
                 }};

const Test uninformative{
    "row cut-off: rows of equal or infinite scores choose nothing and leave the threshold", [] {
        RowCutoff cutoff = cutoff_after(48, 300, 4);
        const Scores row = {0, 1, 2, 3};
        const double before = value_for(cutoff, row), price = cutoff.price();
        for (const Scores& scores :
             {Scores{}, Scores{3}, Scores{2, 2, 2, 2}, Scores{3, 3 + 1e-9, 3},
              Scores{1, -kInfinity}, Scores{kInfinity, 0}, Scores{1e200, 1}}) {
            same(value_for(cutoff, scores), kInfinity);
            observe(cutoff, {scores, {0}, {}});
            same(value_for(cutoff, row), before);
        }
        for (std::size_t labels = 2; labels < 40; ++labels)  // the variance is a rounding error
            same(value_for(cutoff, Scores(labels, 0.1)), kInfinity);
        // Their relevant labels were missed, which lowers F1.
        check(cutoff.price() < price, "missed labels do not count");
    }};

const Test new_labels{"row cut-off: labels that are new in the round have no score", [] {
                          RowCutoff with, without;
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
                          same_bits(std::vector<double>(found.begin() + 7, found.end()),
                                    std::vector<double>(expected.begin() + 7, expected.end()));
                      }};

const Test states{
    "row cut-off: a restored state continues, states of other lengths are refused", [] {
        RowCutoff cutoff = cutoff_after(50, 1500, 20), restored;
        check(restored.restore(cutoff.state()), "a valid state was refused");
        Random random(51);
        for (int i = 0; i < 600; ++i) {
            const Round round = draw_round(random, 20, random.magnitude(0.3, 3));
            observe(cutoff, round);
            observe(restored, round);
        }
        same_bits(restored.state(), cutoff.state());
        for (const std::size_t length :
             {std::size_t{0}, cutoff.state().size() - 1, cutoff.state().size() + 1}) {
            check(!restored.restore(Scores(length, 1.0)), "a state of another length was accepted");
            same_bits(restored.state(), cutoff.state());
        }
        RowCutoff fresh;
        check(fresh.restore(RowCutoff().state()), "the state of the beginning was refused");
    }};

const Test forged{"row cut-off: numbers that are out of range or contradict each other are refused",
                  [] {
                      const Scores sound = cutoff_after(52, 300, 12).state();
                      const auto refuses = [&](std::size_t at, double number) {
                          const Note note("number ", at, ": ", number);
                          Scores changed = sound;
                          changed[at] = number;
                          RowCutoff restored;
                          check(!restored.restore(changed), "it was accepted");
                      };
                      for (std::size_t at = 0; at < sound.size(); ++at)
                          refuses(at, std::numeric_limits<double>::quiet_NaN());
                      // Threshold, rounds, hits, chosen, relevant, mean, scale; the histogram.
                      for (std::size_t at = 1; at < sound.size(); ++at) refuses(at, kInfinity);
                      for (const std::size_t at : {1, 2, 3, 4, 6, 8, 9, 10}) refuses(at, -1);
                      refuses(2, std::min(sound[3], sound[4]) + 1);  // more hits than chosen labels
                      refuses(3, sound[2] - 1);
                      refuses(4, sound[2] - 1);
                  }};

// Whenever everything chosen is right and nothing is missed, three sums differ by rounding only.
const Test always_right{"row cut-off: states of a model that is always right are sound", [] {
                            RowCutoff cutoff;
                            for (int i = 0; i < 30000; ++i) {
                                const double height = 1 + i % 3;
                                observe(cutoff, {{height, 0, height / 2, 0, 0}, {0}, {2}});
                            }
                            near(cutoff.price(), 0.5, 1e-3);
                            RowCutoff restored;
                            check(restored.restore(cutoff.state()), "a valid state was refused");
                        }};

}  // namespace
}  // namespace tagalong::test::row_cutoff_test
