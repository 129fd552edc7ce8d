// Standings against sums over all rounds.
#include <cmath>
#include <limits>
#include <vector>

#include "race/standings.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::standings_test {
namespace {

using Gains = std::vector<double>;

std::vector<Gains> random_gains(std::uint64_t seed, int rounds, int contestants) {
    Random random(seed);
    std::vector<Gains> out;
    for (int t = 0; t < rounds; ++t) {
        const double common = random.uniform();
        Gains gains;
        for (int e = 0; e < contestants; ++e)
            gains.push_back((common + random.uniform() + 0.1 * e) / (2.1 + 0.1 * contestants));
        out.push_back(gains);
    }
    return out;
}

Standings standings_of(const std::vector<Gains>& rounds) {
    Standings out;
    out.begin_heat(rounds.front().size());
    for (const Gains& gains : rounds) out.observe(gains);
    return out;
}

struct Pair {
    double mean, error;
};
Pair naive_pair(const std::vector<Gains>& rounds, std::size_t e, std::size_t f) {
    const auto n = static_cast<double>(rounds.size());
    double mean = 0, variance = 0;
    for (const Gains& gains : rounds) mean += (gains[e] - gains[f]) / n;
    for (const Gains& gains : rounds) {
        const double off = gains[e] - gains[f] - mean;
        variance += off * off / n;
    }
    return {mean, std::sqrt(variance / n)};
}

Gains naive_weights(const std::vector<Gains>& rounds, const std::vector<std::size_t>& running) {
    Gains discounted(running.size(), 0.0);
    double remembered = 0;
    for (const Gains& gains : rounds) {
        remembered = 0.999 * remembered + 1;
        for (std::size_t i = 0; i < running.size(); ++i)
            discounted[i] = 0.999 * discounted[i] + gains[running[i]];
    }
    const double rate =
        std::sqrt(8 * std::log(static_cast<double>(running.size())) / std::max(1.0, remembered));
    double sum = 0;
    for (const double gain : discounted) sum += std::exp(rate * (gain - discounted[0]));
    Gains out;
    for (const double gain : discounted)
        out.push_back(std::exp(rate * (gain - discounted[0])) / sum);
    return out;
}

void compare(const Standings& standings, const std::vector<Gains>& rounds,
             const std::vector<std::size_t>& running) {
    same(standings.size(), running.size());
    same(standings.rounds(), static_cast<double>(rounds.size()));
    Gains weights;
    standings.weights(weights);
    const Gains expected = naive_weights(rounds, running);
    double sum = 0;
    for (std::size_t e = 0; e < running.size(); ++e) {
        near(weights[e], expected[e], 1e-11);
        sum += weights[e];
        for (std::size_t f = 0; f < running.size(); ++f) {
            if (e == f) continue;
            const auto [mean, error] = naive_pair(rounds, running[e], running[f]);
            near(standings.lead(e, f), mean / error, 1e-7 * std::abs(mean / error));
            near(standings.largest_difference(e, f), std::abs(mean) + 2 * error, 1e-10);
        }
    }
    near(sum, 1, 1e-14);
}

const Test definition{"standings: weights, leads and differences are those of all rounds", [] {
                          for (const int rounds : {1, 2, 30, 1500}) {
                              const Note note(rounds, " rounds");
                              const auto gains = random_gains(21, rounds, 5);
                              if (rounds > 1) compare(standings_of(gains), gains, {0, 1, 2, 3, 4});
                              double best = 0;
                              Standings standings = standings_of(gains);
                              for (std::size_t e = 0; e < 5; ++e)
                                  best = std::max(best, standings.discounted_gain(e));
                              same(standings.discounted_gain(standings.leader()), best);
                          }
                      }};

const Test removed{"standings: after some have left, the others are compared as before", [] {
                       const auto gains = random_gains(22, 400, 5);
                       Standings standings = standings_of(gains);
                       standings.remove(3);
                       compare(standings, gains, {0, 1, 2, 4});
                       standings.remove(0);
                       compare(standings, gains, {1, 2, 4});
                       for (std::size_t e = 0; e < 3; ++e) {
                           double sum = 0;
                           for (const Gains& g : gains) sum += g[std::vector{1, 2, 4}[e]];
                           near(standings.mean_gain(e), sum / 400, 1e-12);
                       }
                       standings.remove(1);
                       standings.remove(1);
                       Gains weights;
                       standings.weights(weights);
                       same(weights == Gains{1.0}, true);
                   }};

const Test equals{"standings: contestants that are always equal do not lead each other", [] {
                      Standings standings;
                      standings.begin_heat(2);
                      for (int t = 0; t < 100; ++t) standings.observe(Gains{0.3, 0.3});
                      same(standings.lead(0, 1), 0.0);
                      same(standings.lead(1, 0), 0.0);
                      same(standings.largest_difference(0, 1), 0.0);
                      same(standings.leader(), std::size_t{0});
                  }};

const Test heats{"standings: a new heat forgets the gains", [] {
                     Standings standings = standings_of(random_gains(23, 50, 3));
                     standings.begin_heat(4);
                     same(standings.size(), std::size_t{4});
                     same(standings.rounds(), 0.0);
                     same(standings.mean_gain(2), 0.0);
                     Gains weights;
                     standings.weights(weights);
                     same(weights == Gains(4, 0.25), true);
                 }};

const Test saved{
    "standings: restored ones continue with the same bits", [] {
        const auto gains = random_gains(24, 600, 4);
        Standings plain, restored;
        plain.begin_heat(4);
        for (int t = 0; t < 300; ++t) plain.observe(gains[t]);
        Gains numbers;
        plain.write(numbers);
        StateReader state(numbers);
        restored.read(state, 4);
        check(state.sound() && state.rest().empty(), "valid numbers were refused");
        for (int t = 300; t < 600; ++t) {
            plain.observe(gains[t]);
            restored.observe(gains[t]);
        }
        Gains expected, found;
        plain.write(expected);
        restored.write(found);
        same_bits(found, expected);
        for (std::size_t at = 0; at < numbers.size(); ++at)
            for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN(), 1e300}) {
                Gains changed = numbers;
                changed[at] = wrong;
                StateReader reader(changed);
                Standings other;
                other.read(reader, 4);
                check(!reader.sound(), "a wrong number was accepted");
            }
    }};

const Test recent{"recent mean: the discounted mean of the last rounds", [] {
                      RecentMean mean;
                      same(mean.value(), 0.0);
                      double sum = 0, rounds = 0;
                      for (int t = 0; t < 500; ++t) {
                          const double value = t % 7;
                          mean.observe(value);
                          sum = 0.99 * sum + value;
                          rounds = 0.99 * rounds + 1;
                          near(mean.value(), sum / rounds, 1e-12);
                      }
                      RecentMean huge;
                      for (int t = 0; t < 3000; ++t) huge.observe(RecentMean::kLargest);
                      near(huge.value() / RecentMean::kLargest, 1, 1e-9);
                      Gains numbers;
                      huge.write(numbers);
                      StateReader state(numbers);
                      RecentMean restored;
                      restored.read(state);
                      check(state.sound(), "valid numbers were refused");
                      same(restored.value(), huge.value());
                  }};

}  // namespace
}  // namespace tagalong::test::standings_test
