#include "predtron/merge_decoder.hpp"

#include <algorithm>
#include <limits>

namespace tagalong {

static void sort_by_score(std::span<const double> scores, std::vector<int>& items) {
    std::sort(items.begin(), items.end(),
              [&](int a, int b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
}

std::span<const int> MergeDecoder::operator()(std::span<const double> scores,
                                              std::span<const int> relevant,
                                              std::span<const double> f,
                                              std::span<const double> discount) {
    relevant_.assign(relevant.begin(), relevant.end());
    irrelevant_.clear();
    for (int i = 0, next = 0; i < static_cast<int>(scores.size()); ++i)
        if (next < static_cast<int>(relevant.size()) && relevant[next] == i) ++next;
        else irrelevant_.push_back(i);
    sort_by_score(scores, relevant_);
    sort_by_score(scores, irrelevant_);

    // value_[b]: the largest objective of a relevant and b irrelevant items at the first a + b
    // positions.
    const std::size_t A = relevant_.size(), B = irrelevant_.size();
    value_.assign(B + 1, 0.0);
    took_relevant_.assign((A + 1) * (B + 1), 0);
    for (std::size_t b = 1; b <= B; ++b)
        value_[b] = value_[b - 1] + scores[irrelevant_[b - 1]] * f[b - 1];
    for (std::size_t a = 1; a <= A; ++a) {
        const double t = scores[relevant_[a - 1]];
        std::uint8_t* took = took_relevant_.data() + a * (B + 1);
        double previous = -std::numeric_limits<double>::infinity();  // value_[b - 1] for this a
        for (std::size_t b = 0; b <= B; ++b) {
            const std::size_t position = a + b - 1;
            const double if_relevant = value_[b] + (t * f[position] - discount[position]);
            const double if_irrelevant =
                b > 0 ? previous + scores[irrelevant_[b - 1]] * f[position] : previous;
            took[b] = if_irrelevant < if_relevant;
            value_[b] = previous = took[b] ? if_relevant : if_irrelevant;
        }
    }

    order_.resize(A + B);
    for (std::size_t a = A, b = B; a + b > 0;) {
        const bool last_is_relevant = b == 0 || (a > 0 && took_relevant_[a * (B + 1) + b]);
        order_[a + b - 1] = last_is_relevant ? relevant_[a - 1] : irrelevant_[b - 1];
        --(last_is_relevant ? a : b);
    }
    return order_;
}

}  // namespace tagalong
