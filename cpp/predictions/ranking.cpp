#include "predictions/ranking.hpp"

namespace tagalong {

template <class T>
void best_labels(std::span<const T> scores, std::size_t k, std::vector<std::int32_t>& out) {
    out.clear();
    const auto before = [&](std::int32_t a, std::int32_t b) {
        return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    };
    k = std::min(k, scores.size());
    if (k == 0) return;
    if (k > 32) {
        out.resize(scores.size());
        std::iota(out.begin(), out.end(), 0);
        if (k < scores.size()) std::partial_sort(out.begin(), out.begin() + k, out.end(), before);
        else std::sort(out.begin(), out.end(), before);
        out.resize(k);
        return;
    }
    // For small k: keep the best k so far in sorted order, and skip labels that cannot enter.
    for (std::size_t y = 0; y < scores.size(); ++y) {
        if (out.size() == k) {
            y = kernels::first_above(scores.data(), scores[out.back()], y, scores.size());
            if (y == scores.size()) break;
            out.pop_back();
        }
        const auto label = static_cast<std::int32_t>(y);
        auto at = out.end();
        while (at != out.begin() && scores[label] > scores[*(at - 1)]) --at;
        out.insert(at, label);
    }
}

template <class T>
void best_labels(std::span<const T> scores, std::size_t k, const TieOrder& ties,
                 std::vector<std::int32_t>& out) {
    best_labels(scores, k, out);
    if (out.empty() || ties.count.empty()) return;
    const T least = scores[out.back()];
    bool any_tie = static_cast<std::size_t>(
                       kernels::count_at_least(scores.data(), least, scores.size())) > out.size();
    for (std::size_t i = 1; i < out.size(); ++i) any_tie |= scores[out[i]] == scores[out[i - 1]];
    if (!any_tie) return;
    const std::size_t count = out.size();
    out.clear();
    for (std::size_t y = 0; y < scores.size(); ++y)
        if (scores[y] >= least) out.push_back(static_cast<std::int32_t>(y));
    std::sort(out.begin(), out.end(), [&](std::int32_t a, std::int32_t b) {
        return scores[a] != scores[b] ? scores[a] > scores[b] : ties(a, b);
    });
    out.resize(count);
}

template void best_labels(std::span<const float>, std::size_t, std::vector<std::int32_t>&);
template void best_labels(std::span<const double>, std::size_t, std::vector<std::int32_t>&);
template void best_labels(std::span<const float>, std::size_t, const TieOrder&,
                          std::vector<std::int32_t>&);
template void best_labels(std::span<const double>, std::size_t, const TieOrder&,
                          std::vector<std::int32_t>&);

}  // namespace tagalong
