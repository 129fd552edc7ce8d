// An upper bound on the regret of a ranked list in one round (P3, Lemma 9), if the labels are
// independent and every probability is within its bounds.
//
// Let S be the number of slots, and p_j the probability of the label in slot j. The expected
// partial rank loss of a list is, up to a constant,
//
//     -V(p),  V(p) = sum over slots j of (S + 1 - j) p_j + sum over pairs i < j of p_i p_j.
//
// V grows with every probability, and the list in decreasing order of the upper bounds has the
// largest V of all lists at the upper bounds. So the best list gains at most V(upper) over V(lower)
// of the list shown.
#pragma once

#include <cstddef>

namespace tagalong {

class RankingRegret {
  public:
    explicit RankingRegret(std::size_t slots) : weight_(static_cast<double>(slots)) {}

    // Adds the label of the next slot, with the bounds of its probability.
    void add(double most, double least) {
        bound_ += weight_ * (most - least) + most * sum_of_most_ - least * sum_of_least_;
        sum_of_most_ += most;
        sum_of_least_ += least;
        weight_ -= 1;
    }
    double bound() const { return bound_; }

  private:
    double weight_;  // S + 1 - j of the next slot j
    double sum_of_most_ = 0, sum_of_least_ = 0, bound_ = 0;
};

}  // namespace tagalong
