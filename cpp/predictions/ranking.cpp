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

template void best_labels(std::span<const float>, std::size_t, std::vector<std::int32_t>&);
template void best_labels(std::span<const double>, std::size_t, std::vector<std::int32_t>&);

}  // namespace tagalong
