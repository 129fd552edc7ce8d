#include "shared_ranker.hpp"

#include <algorithm>
#include <limits>

namespace tagalong {

template <class T>
std::span<const T> SharedRanker<T>::score(Reader& reader) const {
    affinity_.look(reader.x, reader.phi);
    const LabelBlock& phi = reader.phi;
    reader.sums.assign(phi.labels, T(0));
    for (std::size_t i = 0; i < phi.features.size(); ++i) {
        const auto weight = static_cast<T>(block_.feature_weight(phi.features[i]));
        if (weight == 0) continue;
        const float* row = phi.row(i);
        T* sums = reader.sums.data();
#pragma omp simd
        for (std::size_t r = 0; r < phi.labels; ++r) sums[r] += weight * static_cast<T>(row[r]);
    }
    return reader.sums;
}

template <class T>
std::span<const std::int32_t> SharedRanker<T>::rank(Reader& reader, std::size_t k) const {
    best_labels(score(reader), k, reader.best);
    return reader.best;
}

template <class T>
void SharedRanker<T>::contributions(Reader& reader, int label, std::vector<double>& out) const {
    affinity_.look(reader.x, reader.phi);
    out.clear();
    for (std::size_t i = 0; i < reader.phi.features.size(); ++i)
        out.push_back(static_cast<double>(reader.phi.row(i)[label]) *
                      block_.feature_weight(reader.phi.features[i]));
}

// The rows of the pairs that lose; of all pairs for the optimum, where moving one can make another
// lose; of the pair that loses most where no other counts.
template <class T>
void SharedRanker<T>::make_rows() {
    const BlockConfig& config = block_.config();
    const std::vector<T>& score = now_.sums;
    rows_.clear();
    const auto add = [&](int r, int s) {
        now_.phi.difference(static_cast<std::size_t>(r), static_cast<std::size_t>(s), rows_);
    };
    if (config.scheme == BlockScheme::max && !relevant_.empty() && !irrelevant_.empty()) {
        const auto lower = [&](int a, int b) { return score[a] < score[b]; };
        add(*std::min_element(relevant_.begin(), relevant_.end(), lower),
            *std::max_element(irrelevant_.begin(), irrelevant_.end(), lower));
    } else {
        const bool all = config.scheme == BlockScheme::optimal;
        for (const int r : relevant_)
            for (const int s : irrelevant_)
                if (all || static_cast<double>(score[r]) - static_cast<double>(score[s]) < config.margin) add(r, s);
    }
}

template <class T>
void SharedRanker<T>::learn(Example& x, std::span<const std::int32_t> relevant,
                            std::span<const std::int32_t> unknown, double weight, T* scores) {
    relevant_.assign(relevant.begin(), relevant.end());
    unknown_.assign(unknown.begin(), unknown.end());
    std::sort(relevant_.begin(), relevant_.end());
    std::sort(unknown_.begin(), unknown_.end());
    const std::size_t labels_before = labels();
    const int last = std::max(relevant_.empty() ? -1 : relevant_.back(), unknown_.empty() ? -1 : unknown_.back());
    if (last >= static_cast<int>(labels())) add_labels(static_cast<std::size_t>(last) + 1 - labels());
    now_.x.feature.assign(x.feature.begin(), x.feature.end());
    now_.x.value.assign(x.value.begin(), x.value.end());
    const std::span<const T> predicted = score(now_);
    if (scores) {
        std::copy(predicted.begin(), predicted.end(), scores);
        std::fill(scores + labels_before, scores + labels(), -std::numeric_limits<T>::infinity());
    }
    if (!(weight > 0)) return;
    cutoff_.observe(predicted, std::span<const int>(relevant_), std::span<const int>(unknown_));
    calibration_.observe(predicted, std::span<const int>(relevant_), std::span<const int>(unknown_));
    irrelevant_.clear();
    for (int label = 0; label < static_cast<int>(labels()); ++label)
        if (!std::binary_search(relevant_.begin(), relevant_.end(), label) &&
            !std::binary_search(unknown_.begin(), unknown_.end(), label))
            irrelevant_.push_back(label);
    make_rows();
    block_.learn(rows_, {}, {}, weight);
    affinity_.learn(x, relevant_);
}

template class SharedRanker<float>;
template class SharedRanker<double>;

}  // namespace tagalong
