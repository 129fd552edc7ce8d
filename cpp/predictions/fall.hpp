// Detects that the mean of a series of numbers between 0 and 1 has fallen.
//
// m is a cautious estimate of the mean so far. As long as the mean is at least m, the factors
//
//     1 + (1 - r) (m - x) / (1 - m),      0 < r < 1,
//
// have an expectation of at most 1, whatever the distribution of x. If x is 0 or 1, they are the
// likelihood ratios of the mean r m to the mean m. The evidence is the logarithm of their product,
// and starts again at 0 whenever it becomes negative: a CUSUM statistic, and an e-detector (Shin,
// Ramdas and Rinaldo, 2024). By chance it reaches a threshold h at most once in exp(h) numbers.
//
// The numbers since the evidence was 0 are the run. They count for the mean when the run ends, so a
// fall does not lower the mean that it is compared with. A run also ends after `longest` numbers: a
// level that declines this slowly has not changed suddenly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "predictions/state_reader.hpp"

namespace tagalong {

// How a series is watched.
struct Watch {
    double ratio;    // r: how far the mean falls. A fall that is much smaller is not noticed
    double noise;    // evidence up to which a fall may not have begun
    double longest;  // numbers of a run
};

class Fall {
  public:
    // More than the evidence of one number: log(1 + (1 - r) m / (1 - m)) with the highest m.
    static constexpr double kMostPerNumber = 3;

    // Whether there were too few numbers to know the mean.
    bool is_young() const { return count_ < kYoung; }
    double count() const { return count_; }
    double mean() const { return mean_; }
    // The cautious estimate m of the mean.
    double level() const { return std::min(kHighest, mean_ * count_ / (count_ + kCaution)); }

    double evidence() const { return evidence_; }
    // The round in which the last run ended.
    std::int64_t calm_until() const { return calm_until_; }
    // The round of the run from which on the evidence exceeded the noise.
    std::int64_t fallen_since() const { return fallen_since_; }

    // Takes the number x of a round, and compares it with `level`.
    void observe(double x, double level, const Watch& watch, std::int64_t round) {
        if (run_ == 0 || evidence_ < watch.noise) fallen_since_ = round;
        evidence_ += std::log1p((1 - watch.ratio) * (level - x) / (1 - level));
        run_ += 1;
        run_sum_ += x;
        if (evidence_ <= 0 || run_ >= (is_young() ? kYoung : watch.longest)) end_run(round);
    }

    // Forgets all numbers before a round.
    void restart(std::int64_t round) {
        *this = Fall{};
        calm_until_ = round;
    }

    void write(std::vector<double>& out) const {
        out.insert(out.end(),
                   {count_, mean_, evidence_, run_, run_sum_, static_cast<double>(calm_until_),
                    static_cast<double>(fallen_since_)});
    }
    void read(StateReader& state, double longest, std::int64_t rounds) {
        count_ = state.number(0, 9e15);
        mean_ = state.number(0, 1);
        evidence_ = state.number(0, kMostPerNumber * std::max(longest, kYoung));
        run_ = state.number(0, std::max(longest, kYoung));
        run_sum_ = state.number(0, run_);
        calm_until_ = static_cast<std::int64_t>(state.number(0, static_cast<double>(rounds)));
        fallen_since_ = static_cast<std::int64_t>(state.number(0, static_cast<double>(rounds)));
    }

  private:
    static constexpr double kHighest = 0.95;   // of m
    static constexpr double kCaution = 5;      // zeros that m counts besides the numbers
    static constexpr double kYoung = 10;       // numbers before m is used
    static constexpr double kLeastMemory = 5;  // numbers that the mean remembers
    static constexpr double kMostMemory = 200;

    // The mean follows about the last third of the numbers, because learners improve.
    void end_run(std::int64_t round) {
        count_ += run_;
        const double memory = std::min(kMostMemory, kLeastMemory + count_ / 3);
        mean_ += std::min(1.0, run_ / memory) * (run_sum_ / run_ - mean_);
        evidence_ = run_ = run_sum_ = 0;
        calm_until_ = round;
    }

    double count_ = 0, mean_ = 0;
    double evidence_ = 0;
    double run_ = 0, run_sum_ = 0;
    std::int64_t calm_until_ = 0, fallen_since_ = 0;
};

}  // namespace tagalong
