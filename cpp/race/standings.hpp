// How well the contestants of a race did: discounted gains, from which the weights in the mixture
// follow, and comparisons of each pair, from which follows who leaves.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "predictions/state_reader.hpp"

namespace tagalong {

// The mean of a number over the last rounds, about a hundred.
class RecentMean {
  public:
    void observe(double value) {
        sum_ = kDiscount * sum_ + value;
        rounds_ = kDiscount * rounds_ + 1;
    }
    // 0 before the first round.
    double value() const { return rounds_ > 0 ? sum_ / rounds_ : 0; }

    void write(std::vector<double>& out) const { out.insert(out.end(), {sum_, rounds_}); }
    void read(StateReader& state) {
        sum_ = state.number(0, kLargest / (1 - kDiscount));
        rounds_ = state.number(0, 1 / (1 - kDiscount) + 1);
    }

    static constexpr double kLargest = 1e300;  // of an observed number

  private:
    static constexpr double kDiscount = 0.99;
    double sum_ = 0, rounds_ = 0;
};

// The gains of the contestants since the heat began. A heat begins when a contestant joins.
class Standings {
  public:
    std::size_t size() const { return gain_.size(); }
    // Judged rounds since the heat began.
    double rounds() const { return rounds_; }
    double mean_gain(std::size_t e) const { return rounds_ > 0 ? total_[e] / rounds_ : 0; }
    double discounted_gain(std::size_t e) const { return gain_[e]; }

    void begin_heat(std::size_t contestants) {
        *this = {};
        gain_.assign(contestants, 0.0);
        total_.assign(contestants, 0.0);
        squares_.assign(contestants * contestants, 0.0);
    }
    void remove(std::size_t contestant);

    // Gains of one round, each from 0 to 1.
    void observe(std::span<const double> gains);

    // The weights of the contestants in the mixture; their sum is 1.
    void weights(std::vector<double>& out) const;
    // How many standard errors the mean gain of one contestant is above that of another.
    double lead(std::size_t e, std::size_t f) const;
    // The largest amount by which the mean gain of one contestant may differ from that of another:
    // the difference so far plus two standard errors.
    double largest_difference(std::size_t e, std::size_t f) const;
    // The contestant with the highest discounted gain; the first of equals.
    std::size_t leader() const;

    void write(std::vector<double>& out) const;
    void read(StateReader& state, std::size_t contestants);

  private:
    static constexpr double kDiscount = 0.999;

    struct Difference {
        double mean, error;  // error: the standard error of the mean
    };
    Difference difference(std::size_t e, std::size_t f) const;

    double rounds_ = 0;
    std::vector<double> gain_;     // discounted sums
    std::vector<double> total_;    // sums
    std::vector<double> squares_;  // sums of the squared differences of each pair
};

}  // namespace tagalong
