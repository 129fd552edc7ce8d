// The precision of a ranking at the rank of each relevant label, and their mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/score_kernels.hpp"

namespace tagalong {

// Scores in descending order, without those that are not numbers.
template <class T>
class SortedScores {
  public:
    void add(T score) {
        if (!std::isnan(score)) scores_.push_back(score);
    }
    void sort() { std::sort(scores_.begin(), scores_.end(), std::greater<>()); }
    // The scores that reach this one. A score that is not a number reaches nothing, and nothing
    // reaches it.
    std::ptrdiff_t reaching(T score) const {
        return std::partition_point(scores_.begin(), scores_.end(),
                                    [&](T other) { return other >= score; }) -
               scores_.begin();
    }

  private:
    std::vector<T> scores_;
};

// Writes the share of relevant labels among those that score at least as much as relevant label i
// to precisions[i]. Returns the average precision; NaN if no label is relevant, or none is
// irrelevant. Both label sets are sorted. A relevant label without a score is ranked last.
template <class T>
double rank_precisions(std::span<const T> scores, std::span<const int> relevant,
                       std::span<const int> unknown, std::vector<double>& precisions) {
    const auto score_of = [&](int label) {
        return static_cast<std::size_t>(label) < scores.size()
                   ? scores[label]
                   : -std::numeric_limits<T>::infinity();
    };
    precisions.resize(relevant.size());
    std::size_t scored = scores.size();
    for (const int label : unknown) scored -= static_cast<std::size_t>(label) < scores.size();
    for (const int label : relevant) scored -= static_cast<std::size_t>(label) < scores.size();
    if (relevant.empty() || scored == 0) {
        std::fill(precisions.begin(), precisions.end(), 1.0);
        return std::numeric_limits<double>::quiet_NaN();
    }
    // Many relevant labels would be compared with all labels: sorted scores are faster.
    constexpr std::size_t kMany = 64;
    SortedScores<T> sorted_relevant, sorted_all;
    const bool many = relevant.size() > kMany;
    if (many) {
        for (const int label : relevant) {
            sorted_relevant.add(score_of(label));
            if (static_cast<std::size_t>(label) >= scores.size()) sorted_all.add(score_of(label));
        }
        auto next_unknown = unknown.begin();
        for (std::size_t k = 0; k < scores.size(); ++k) {
            if (next_unknown != unknown.end() && static_cast<std::size_t>(*next_unknown) == k)
                ++next_unknown;
            else sorted_all.add(scores[k]);
        }
        sorted_relevant.sort();
        sorted_all.sort();
    }
    double sum = 0;
    for (std::size_t i = 0; i < relevant.size(); ++i) {
        const T score = score_of(relevant[i]);
        const auto reaches = [&](int label) { return score_of(label) >= score; };
        std::ptrdiff_t right, all;
        if (many) {
            right = sorted_relevant.reaching(score);
            all = sorted_all.reaching(score);
        } else {
            right = std::count_if(relevant.begin(), relevant.end(), reaches);
            all = kernels::count_at_least(scores.data(), score, scores.size());
            for (const int label : unknown)
                all -= static_cast<std::size_t>(label) < scores.size() && reaches(label);
            for (const int label : relevant)  // counted besides those with scores
                all += static_cast<std::size_t>(label) >= scores.size() && reaches(label);
        }
        // A score that is not a number reaches nothing, not even itself.
        precisions[i] = all > 0 ? static_cast<double>(right) / static_cast<double>(all) : 0;
        sum += precisions[i];
    }
    return sum / static_cast<double>(relevant.size());
}

}  // namespace tagalong
