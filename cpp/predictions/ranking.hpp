// Rankings by score: the best k labels, and the average precision.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/score_kernels.hpp"

namespace tagalong {

// The k labels with the highest scores, best first; ties in the order of the index.
template <class T>
void best_labels(std::span<const T> scores, std::size_t k, std::vector<std::int32_t>& out);

// The order of labels with equal scores: frequent ones first, then those of the latest items, then
// by index. Empty: by index.
struct TieOrder {
    std::span<const std::int64_t> count, last;

    // Labels that were added after the order was made come last.
    bool operator()(std::int32_t a, std::int32_t b) const {
        const auto of = [](std::span<const std::int64_t> numbers, std::int32_t label) {
            return static_cast<std::size_t>(label) < numbers.size() ? numbers[label] : 0;
        };
        if (of(count, a) != of(count, b)) return of(count, a) > of(count, b);
        return of(last, a) != of(last, b) ? of(last, a) > of(last, b) : a < b;
    }
};
template <class T>
void best_labels(std::span<const T> scores, std::size_t k, const TieOrder& ties,
                 std::vector<std::int32_t>& out);

// The mean of the precision at the rank of each relevant label; ties count against the ranking.
template <class T>
class AveragePrecision {
  public:
    double operator()(std::span<const T> scores, std::span<const int> relevant,
                      std::span<const int> unknown) {
        relevant_.clear();
        for (const int label : relevant) relevant_.push_back(scores[label]);
        std::sort(relevant_.begin(), relevant_.end(), std::greater<>());
        const bool sorted = relevant.size() > 24;
        if (sorted) {
            all_.assign(scores.begin(), scores.end());
            std::sort(all_.begin(), all_.end(), std::greater<>());
        }
        double sum = 0;
        for (std::size_t i = 0; i < relevant_.size();) {
            // Labels with equal scores share the rank of the last of them.
            const T score = relevant_[i];
            std::size_t end = i + 1;
            while (end < relevant_.size() && relevant_[end] == score) ++end;
            std::int64_t rank = sorted
                                    ? rank_in_sorted(score)
                                    : kernels::count_at_least(scores.data(), score, scores.size());
            for (const int label : unknown) rank -= scores[label] >= score;
            const double precision = static_cast<double>(end) / static_cast<double>(rank);
            for (; i < end; ++i) sum += precision;
        }
        return sum / static_cast<double>(relevant_.size());
    }

  private:
    std::int64_t rank_in_sorted(T score) const {
        return std::partition_point(all_.begin(), all_.end(),
                                    [&](T other) { return other >= score; }) -
               all_.begin();
    }
    std::vector<T> relevant_;
    std::vector<T> all_;
};

}  // namespace tagalong
