// The precision of a ranking at the rank of each relevant label, and their mean.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace tagalong {

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
    double sum = 0;
    for (std::size_t i = 0; i < relevant.size(); ++i) {
        const T score = score_of(relevant[i]);
        const auto reaches = [&](int label) { return score_of(label) >= score; };
        const auto right = std::count_if(relevant.begin(), relevant.end(), reaches);
        auto all = std::count_if(scores.begin(), scores.end(), [&](T s) { return s >= score; });
        for (const int label : unknown)
            all -= static_cast<std::size_t>(label) < scores.size() && reaches(label);
        for (const int label : relevant)  // counted besides those with scores
            all += static_cast<std::size_t>(label) >= scores.size() && reaches(label);
        // A score that is not a number reaches nothing, not even itself.
        precisions[i] = all > 0 ? static_cast<double>(right) / static_cast<double>(all) : 0;
        sum += precisions[i];
    }
    return sum / static_cast<double>(relevant.size());
}

}  // namespace tagalong
