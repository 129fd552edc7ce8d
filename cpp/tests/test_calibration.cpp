// Calibration: probabilities from scores and ranks are monotone, between 0 and 1, and match
// frequencies. Cutoff and ScoreHistogram: their saved states.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "predictions/calibration.hpp"
#include "predictions/cutoff.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::calibration_test {
namespace {

using Scores = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Scores probabilities(const Calibration& calibration, const Scores& scores) {
    Scores out(scores.size());
    calibration.probabilities(std::span<const double>(scores), out.data());
    return out;
}

// The probability of the best of ten labels.
double probability_of_best(const Calibration& calibration, double score) {
    Scores scores(10, score - 1);
    scores[0] = score;
    return probabilities(calibration, scores)[0];
}

double true_probability(double score) { return 1 / (1 + std::exp(1.5 - 3 * score)); }

Scores random_scores(Random& random, int labels) {
    Scores scores;
    for (int y = 0; y < labels; ++y) scores.push_back(random.between(-1.5, 1.5));
    return scores;
}

std::vector<int> draw_relevant(Random& random, const Scores& scores) {
    std::vector<int> relevant;
    for (std::size_t y = 0; y < scores.size(); ++y)
        if (random.chance(true_probability(scores[y]))) relevant.push_back(static_cast<int>(y));
    return relevant;
}

// A counter after random rounds in which each label is relevant with true_probability(score).
template <class Counter>
Counter counter_after(std::uint64_t seed, int rounds, int labels, double scale = 1) {
    Counter counter;
    Random random(seed);
    for (int round = 0; round < rounds; ++round) {
        Scores scores = random_scores(random, labels);
        const std::vector<int> relevant = draw_relevant(random, scores);
        for (double& score : scores) score *= scale;
        counter.observe(std::span<const double>(scores), relevant, {});
    }
    return counter;
}

const Test empty{"probabilities: before the first observation all scores have the same probability",
                 [] {
                     const auto found = probabilities({}, {-1e300, -1, 0, 1, 1e300});
                     for (const double p : found) {
                         same(p, found[0]);
                         at_most(0, p);
                         at_most(p, 1);
                     }
                     same(probabilities({}, {}).size(), 0u);
                 }};

const Test between{
    "probabilities: between 0 and 1 for any score, exclusively once both outcomes were observed",
    [] {
        for (const int rounds : {1, 2, 10, 100, 1500})
            for (std::uint64_t seed = 61; seed < 66; ++seed) {
                const Note note("rounds ", rounds, ", seed ", seed);
                const auto calibration = counter_after<Calibration>(seed, rounds, 60);
                Random random(seed + 100);
                for (int item = 0; item < 20; ++item) {
                    Scores scores = random_scores(random, 30);
                    scores.insert(scores.end(),
                                  {-kInfinity, kInfinity, -1e300, 1e300, 5e-324, 0.0});
                    for (const double p : probabilities(calibration, scores)) {
                        check(p >= 0 && p <= 1, "probability " + text(p));
                        check(rounds < 100 || (p > 0 && p < 1), "probability " + text(p));
                    }
                }
            }
    }};

const Test falling{"probabilities: they decrease with the rank", [] {
                       for (const int rounds : {1, 2, 10, 100, 1500})
                           for (std::uint64_t seed = 61; seed < 66; ++seed) {
                               const Note note("rounds ", rounds, ", seed ", seed);
                               const auto calibration =
                                   counter_after<Calibration>(seed, rounds, 40);
                               Random random(seed + 200);
                               for (int item = 0; item < 20; ++item) {
                                   Scores scores = random_scores(random, 40);
                                   std::sort(scores.begin(), scores.end(), std::greater<>());
                                   const auto found = probabilities(calibration, scores);
                                   double most = 0;  // the largest increase
                                   for (std::size_t i = 1; i < found.size(); ++i)
                                       most = std::max(most, found[i] - found[i - 1]);
                                   at_most(most, 1e-12);
                               }
                           }
                   }};

const Test rising{"probabilities: at a given rank they increase with the score", [] {
                      for (const int rounds : {1, 10, 100, 1500})
                          for (std::uint64_t seed = 61; seed < 66; ++seed) {
                              const Note note("rounds ", rounds, ", seed ", seed);
                              const auto calibration = counter_after<Calibration>(seed, rounds, 10);
                              double most = 0, last = 0;  // the largest decrease
                              for (double score = -3; score < 3; score += 0.003) {
                                  const double p = probability_of_best(calibration, score);
                                  most = std::max(most, last - p);
                                  last = p;
                              }
                              at_most(most, 1e-12);
                          }
                  }};

// The best label is usually irrelevant at score 0.1 and relevant half of the time around 0.5. The
// only observation at a much higher score was relevant.
const Test rare{
    "probabilities: a rare high score has at least the probability of a frequent lower one", [] {
        Calibration calibration;
        Random random(66);
        const auto round = [&](double score, bool right) {
            const Scores scores = {score, -1, -1};
            calibration.observe(std::span<const double>(scores),
                                right ? std::vector<int>{0} : std::vector<int>{}, {});
        };
        for (int i = 0; i < 400; ++i) {
            const bool high = random.chance(0.2);
            round(high ? random.between(0.45, 0.55) : 0.1, high && random.chance(0.5));
        }
        round(0.9, true);
        const double frequent = probability_of_best(calibration, 0.5);
        near(frequent, 0.5, 0.15);
        at_most(frequent, probability_of_best(calibration, 0.9));
    }};

const Test calibrated{"probabilities: they match the frequency of relevance", [] {
                          const auto calibration = counter_after<Calibration>(67, 3000, 60);
                          Random random(68);
                          double error = 0, count = 0;
                          std::vector<double> predicted(10, 0), observed(10, 0);
                          for (int item = 0; item < 200; ++item) {
                              const Scores scores = random_scores(random, 60);
                              const auto found = probabilities(calibration, scores);
                              for (std::size_t y = 0; y < scores.size(); ++y) {
                                  error += std::abs(found[y] - true_probability(scores[y]));
                                  ++count;
                                  const auto tenth = std::min<std::size_t>(
                                      9, static_cast<std::size_t>(10 * found[y]));
                                  predicted[tenth] += found[y];
                                  observed[tenth] += true_probability(scores[y]);
                              }
                          }
                          at_most(error / count, 0.04);
                          double expected_error = 0;
                          for (std::size_t i = 0; i < 10; ++i)
                              expected_error += std::abs(predicted[i] - observed[i]) / count;
                          at_most(expected_error, 0.03);
                      }};

// Observes rounds in which each of the first five labels, which have high scores, is relevant with
// probability `chance`.
void observe_rounds(Calibration& calibration, Random& random, int rounds, double chance,
                    double width) {
    for (int round = 0; round < rounds; ++round) {
        Scores scores;
        std::vector<int> relevant;
        for (int y = 0; y < 10; ++y) {
            scores.push_back((y < 5 ? 1 : -1) + random.between(-width, width));
            if (y < 5 && random.chance(chance)) relevant.push_back(y);
        }
        calibration.observe(std::span<const double>(scores), relevant, {});
    }
}

const Test adapting{"probabilities: they adapt when the distribution changes", [] {
                        Calibration calibration;
                        Random random(68);
                        const Scores scores = {1.1, 1.05, 1, 0.95, 0.9, -1, -1, -1, -1, -1};
                        const auto all_near = [&](double chance, double distance) {
                            const auto found = probabilities(calibration, scores);
                            for (std::size_t y = 0; y < 10; ++y)
                                near(found[y], y < 5 ? chance : 0, distance);
                        };
                        observe_rounds(calibration, random, 1000, 0.9, 0.2);
                        all_near(0.9, 0.1);
                        observe_rounds(calibration, random, 6000, 0.3, 0.2);
                        all_near(0.3, 0.15);
                    }};

// The best label scores 1 and is relevant nine times out of ten; or it scores -1 and is irrelevant.
const Test repeated{"probabilities: they are calibrated for repeated scores", [] {
                        Calibration calibration;
                        Random random(72);
                        for (int round = 0; round < 1000; ++round) {
                            const bool high = random.chance(0.5);
                            const Scores scores = {high ? 1.0 : -1.0, -2, -2};
                            const bool right = high && random.chance(0.9);
                            calibration.observe(std::span<const double>(scores),
                                                right ? std::vector<int>{0} : std::vector<int>{},
                                                {});
                        }
                        near(probability_of_best(calibration, 1), 0.9, 0.05);
                        near(probability_of_best(calibration, -1), 0, 0.05);
                    }};

const Test scale{
    "probabilities: the scale of the scores does not matter", [] {
        Random random(69);
        const Scores scores = random_scores(random, 30);
        const auto expected = probabilities(counter_after<Calibration>(69, 1200, 20), scores);
        for (const double factor : {0x1p-60, 0x1p-3, 0x1p50}) {
            Scores scaled = scores;
            for (double& score : scaled) score *= factor;
            same_bits(probabilities(counter_after<Calibration>(69, 1200, 20, factor), scaled),
                      expected);
        }
    }};

const Test open_labels{
    "probabilities: labels of unknown relevance have no effect", [] {
        Calibration without, with;
        Random random(70);
        for (int round = 0; round < 600; ++round) {
            Scores scores = random_scores(random, 15);
            const std::vector<int> relevant = draw_relevant(random, scores);
            without.observe(std::span<const double>(scores), relevant, {});
            for (int open = 0; open < 2; ++open)
                scores.push_back(-1.5 - random.uniform());  // lower than all other scores
            with.observe(std::span<const double>(scores), relevant, std::vector<int>{16, 15});
        }
        const Scores scores = random_scores(random, 15);
        const auto expected = probabilities(without, scores), found = probabilities(with, scores);
        for (std::size_t i = 0; i < expected.size(); ++i) near(found[i], expected[i], 1e-9);
    }};

template <class Counter>
void continues_from_its_state() {
    Random random(71);
    auto counter = counter_after<Counter>(71, 1500, 20);
    Counter restored;
    check(restored.restore(counter.state()), "a valid state was refused");
    for (int round = 0; round < 600; ++round) {
        const Scores scores = random_scores(random, 20);
        const std::vector<int> relevant = draw_relevant(random, scores);
        counter.observe(std::span<const double>(scores), relevant, {});
        restored.observe(std::span<const double>(scores), relevant, {});
    }
    same_bits(restored.state(), counter.state());
    for (const std::size_t length :
         {std::size_t{0}, counter.state().size() - 1, counter.state().size() + 1}) {
        check(!restored.restore(Scores(length, 1.0)), "a state of the wrong length was accepted");
        same_bits(restored.state(), counter.state());
    }
}

const Test batched_counts{
    "score histogram: counting scores in a batch equals counting them one by one", [] {
        Random random(12);
        ScoreHistogram<64> batched, one_by_one;
        std::vector<float> scores(45);
        for (int round = 0; round < 200; ++round) {
            for (float& score : scores) score = static_cast<float>(random.normal());
            const std::vector<int> but = {3, 17, 44};
            for (auto* histogram : {&batched, &one_by_one}) {
                histogram->discount(0.99);
                histogram->add_relevant(static_cast<double>(scores[0]));
            }
            batched.add_all(std::span<const float>(scores), but);
            for (int i = 0; i < 45; ++i)
                if (i != 3 && i != 17 && i != 44)
                    one_by_one.add(static_cast<double>(scores[static_cast<std::size_t>(i)]));
        }
        near(batched.below(), one_by_one.below(), 1e-12 * one_by_one.below());
        for (std::size_t bin = 0; bin < 64; ++bin)
            near(batched.all(bin), one_by_one.all(bin), 1e-12 * one_by_one.all(bin));
    }};

const Test states{
    "cut-off and calibration: a restored state continues, states of other lengths are refused", [] {
        continues_from_its_state<Cutoff>();
        continues_from_its_state<Calibration>();
    }};

template <class Counter>
void refuses_forged_numbers() {
    const Scores sound = counter_after<Counter>(72, 300, 12).state();
    for (std::size_t at = 0; at < sound.size(); ++at) {
        Scores forged = sound;
        forged[at] = std::numeric_limits<double>::quiet_NaN();
        Counter restored;
        check(!restored.restore(forged), "NaN was accepted");
    }
}

const Test forged_states{"cut-off and calibration: numbers out of range are refused", [] {
                             refuses_forged_numbers<Cutoff>();
                             refuses_forged_numbers<Calibration>();
                             // Value, rounds, low, width, unit, counts: a negative width would
                             // never hold a score.
                             const Scores sound = counter_after<Cutoff>(72, 300, 12).state();
                             const double infinity = std::numeric_limits<double>::infinity();
                             for (const auto& [at, number] : {std::pair<std::size_t, double>{1, -1},
                                                              {1, infinity},
                                                              {2, infinity},
                                                              {3, -1},
                                                              {3, infinity},
                                                              {4, 0},
                                                              {4, -1},
                                                              {4, 1e10},
                                                              {5, -1},
                                                              {sound.size() - 1, -1}}) {
                                 Scores forged = sound;
                                 forged[at] = number;
                                 Cutoff restored;
                                 check(!restored.restore(forged),
                                       "a number out of range was accepted");
                             }
                         }};

const Test contradicting_counts{
    "calibration: more relevant labels than labels give no probability above 1", [] {
        Scores forged = counter_after<Calibration>(74, 300, 12).state();
        forged[4] = 1e6;  // rounds; low, width, unit and relevant counts of the first group
        Calibration restored;
        check(restored.restore(forged), "counts within their ranges were refused");
        Random random(75);
        for (const double p : probabilities(restored, random_scores(random, 12)))
            check(p >= 0 && p <= 1, "a probability is not within 0 and 1");
    }};

const Test narrowest_range{"score histogram: equal scores never narrow the range to nothing", [] {
                               ScoreHistogram<64> histogram;
                               for (int round = 0; round < 3000; ++round) {
                                   histogram.add_relevant(1.0);
                                   histogram.add(1.0);
                                   histogram.narrow();
                               }
                               check(histogram.width() > 0, "the bins have no width");
                               check(histogram.low() + histogram.width() > histogram.low(),
                                     "the bins are not distinct");
                               check(histogram.low() <= 1.0, "the range does not hold the scores");
                           }};

}  // namespace
}  // namespace tagalong::test::calibration_test
