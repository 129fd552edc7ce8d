// Optimality conditions of the smooth step (rules/smooth.hpp), for any curves. Each label satisfies
//
//     T log b + k(b) = level of its side,
//
// and the levels satisfy gamma - level_1 - level_2 + T (log m + log(C - m)) = 0.
#pragma once

#include <cmath>
#include <vector>

#include "tests/check.hpp"
#include "tests/ranking_round.hpp"

namespace tagalong::test {

// Amounts below this lost precision by underflow, or are zero; they are negligible.
inline constexpr double kVanished = 1e-285;
// If log sum exp((gamma - rho_r + rho_s) / T) is below this, the step may be zero.
inline constexpr double kNoLoss = -490;

// k(label, relevant, amount) is the value of the curve.
template <class Curve>
class SmoothConditions {
  public:
    SmoothConditions(const RankingRound& round, const Step& step, const RuleParameters& rule,
                     Curve k)
        : round_(round), step_(step), rule_(rule), k_(k) {}

    void expect(double distance, const Where& where = Where::current()) const {
        expect_feasible(round_, step_, rule_.budget, 1e-9, where);
        const double m = step_.mass, C = rule_.budget, T = rule_.temperature;
        // m / C is at most the sum of the losses of the pairs.
        if (const double bound = log_loss(); bound < kNoLoss) {
            at_most(m, C * std::exp(bound) * (1 + 1e-9), where);
            return;
        }
        if (!(m > 0)) {
            check(false, "no mass moved: " + text(m), where);
            return;
        }
        const double up = level(round_.relevant, true, distance, where);
        const double down = level(round_.irrelevant, false, distance, where);
        const double size = 1 + std::abs(up) + std::abs(down) + rule_.margin;
        const double tie = rule_.margin - up - down + T * std::log(m);
        if (m < 0.9 * C) near(tie + T * std::log(C - m), 0, distance * size, where);
        // Near the budget, C - m is less accurate in m than in the equation of the levels.
        else near(m + std::exp(-tie / T), C, distance * size * C, where);
    }

    // log sum over pairs of exp((gamma - k_r(0) - k_s(0)) / T)
    double log_loss() const {
        const auto log_sum = [&](const std::vector<int>& side, bool relevant) {
            double top = -1e300, sum = 0;
            for (const int label : side) top = std::max(top, -k_(label, relevant, 0.0));
            for (const int label : side)
                sum += std::exp((-k_(label, relevant, 0.0) - top) / rule_.temperature);
            return top / rule_.temperature + std::log(sum);
        };
        return rule_.margin / rule_.temperature + log_sum(round_.relevant, true) +
               log_sum(round_.irrelevant, false);
    }

    // C T H(p) of p_rs = b_r b_s / (C m) and p_none = 1 - m / C, summed pair by pair.
    double entropy() const {
        const double m = step_.mass, C = rule_.budget;
        if (!(m > 0)) return 0;
        double sum = term(1 - m / C);
        for (const int r : round_.relevant)
            for (const int s : round_.irrelevant) sum += term(amount(r) / m * amount(s) / C);
        return C * rule_.temperature * sum;
    }

  private:
    static double term(double p) { return p > 0 ? -p * std::log(p) : 0; }
    double amount(int label) const {
        return std::abs(step_.alpha[static_cast<std::size_t>(label)]);
    }

    double level(const std::vector<int>& side, bool relevant, double distance,
                 const Where& where) const {
        const double T = rule_.temperature;
        int most = side[0];
        for (const int label : side)
            if (amount(label) > amount(most)) most = label;
        const double level = T * std::log(amount(most)) + k_(most, relevant, amount(most));
        for (const int label : side) {
            const double b = amount(label);
            if (b > kVanished) {
                const double k = k_(label, relevant, b);
                near(T * std::log(b) + k, level, distance * (1 + std::abs(level) + std::abs(k)),
                     where);
            } else {
                // T log b = level - k(b), so b is at most exp((level - k(0)) / T).
                const double log_b = (level - k_(label, relevant, 0.0)) / T;
                at_most(log_b, std::max(std::log(kVanished), std::log(amount(most)) - 50) + 1,
                        where);
            }
        }
        return level;
    }

    const RankingRound& round_;
    const Step& step_;
    const RuleParameters& rule_;
    Curve k_;
};

}  // namespace tagalong::test
