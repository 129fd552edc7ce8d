#include "predtron/merge_decoder.hpp"

#include <algorithm>
#include <limits>

namespace tagalong {

static void sort_these(std::span<const double> scores, std::vector<int>& items) {
    std::sort(items.begin(), items.end(),
              [&](int a, int b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
}

std::span<const int> MergeDecoder::operator()(std::span<const double> scores,
                                              std::span<const int> relevant,
                                              std::span<const double> f,
                                              std::span<const double> discount) {
    above_.assign(relevant.begin(), relevant.end());
    below_.clear();
    for (int i = 0, next = 0; i < static_cast<int>(scores.size()); ++i)
        if (next < static_cast<int>(relevant.size()) && relevant[next] == i) ++next;
        else below_.push_back(i);
    sort_these(scores, above_);
    sort_these(scores, below_);

    // value[b]: the best worth of a relevant and b irrelevant items on the first a + b places.
    const std::size_t A = above_.size(), B = below_.size();
    value_.assign(B + 1, 0.0);
    took_relevant_.assign((A + 1) * (B + 1), 0);
    for (std::size_t b = 1; b <= B; ++b)
        value_[b] = value_[b - 1] + scores[below_[b - 1]] * f[b - 1];
    for (std::size_t a = 1; a <= A; ++a) {
        const double t = scores[above_[a - 1]];
        std::uint8_t* took = took_relevant_.data() + a * (B + 1);
        double before = -std::numeric_limits<double>::infinity();  // value[b - 1] of this a
        for (std::size_t b = 0; b <= B; ++b) {
            const std::size_t place = a + b - 1;
            const double with = value_[b] + (t * f[place] - discount[place]);
            const double without = b > 0 ? before + scores[below_[b - 1]] * f[place] : before;
            took[b] = without < with;
            value_[b] = before = took[b] ? with : without;
        }
    }

    order_.resize(A + B);
    for (std::size_t a = A, b = B; a + b > 0;) {
        const bool relevant_last = b == 0 || (a > 0 && took_relevant_[a * (B + 1) + b]);
        order_[a + b - 1] = relevant_last ? above_[a - 1] : below_[b - 1];
        --(relevant_last ? a : b);
    }
    return order_;
}

}  // namespace tagalong
