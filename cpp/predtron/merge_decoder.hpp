// Rankings that trade scores against a loss of places.
//
// A ranking puts item i at place p(i) = 0, 1, 2, ... It is worth sum_i t_i f[p(i)], with f falling,
// so the best ranking sorts the scores. Learning asks for
//
//     argmax  sum_i t_i f[p(i)] - sum over relevant i of discount[p(i)],
//
// the ranking that scores well and loses much. Items of one kind, relevant or not, stand in the
// order of their scores, so only how the two kinds are merged is open: a dynamic programme over
// (a, b), the numbers of relevant and irrelevant items placed so far. O(|Y| (m - |Y|)).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tagalong {

class MergeDecoder {
  public:
    // `relevant` ascending; f and discount have an entry a place. Items in the order of their
    // places; of equal worth, relevant items come first.
    std::span<const int> operator()(std::span<const double> scores, std::span<const int> relevant,
                                    std::span<const double> f, std::span<const double> discount);

  private:
    std::vector<int> above_, below_, order_;
    std::vector<double> value_;
    std::vector<std::uint8_t> took_relevant_;
};

}  // namespace tagalong
