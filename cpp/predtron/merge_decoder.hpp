// Loss-augmented decoding of rankings with binary relevance (P5).
//
// A ranking puts item i at position p(i) = 0, 1, 2, ... Its score is sum_i t_i f[p(i)] with f
// decreasing, so the prediction sorts the items by t. The update needs
//
//     argmax  sum_i t_i f[p(i)] - sum over relevant i of discount[p(i)],
//
// the ranking with the largest sum of score and loss. An optimal ranking has the relevant items in
// the order of their scores, and the irrelevant items too: only the merge of the two sequences has
// to be found. A dynamic programme over (a, b), the numbers of relevant and irrelevant items placed
// so far, finds it in O(|Y| (m - |Y|)).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tagalong {

class MergeDecoder {
  public:
    // `relevant` ascends; f and discount have one entry per position. Returns the items in ranked
    // order; on ties relevant items come first.
    std::span<const int> operator()(std::span<const double> scores, std::span<const int> relevant,
                                    std::span<const double> f, std::span<const double> discount);

  private:
    std::vector<int> relevant_, irrelevant_, order_;
    std::vector<double> value_;
    std::vector<std::uint8_t> took_relevant_;
};

}  // namespace tagalong
