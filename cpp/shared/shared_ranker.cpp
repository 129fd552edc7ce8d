#include "shared/shared_ranker.hpp"

#include <algorithm>
#include <limits>

namespace tagalong {

template <class T>
void SharedRanker<T>::score(const LabelBlock<T>& phi, std::vector<T>& out) const {
    out.assign(phi.labels, T(0));
    for (std::size_t i = 0; i < phi.features.size(); ++i) {
        const auto weight = static_cast<T>(block_.feature_weight(phi.features[i]));
        if (weight == 0) continue;
        const T* row = phi.row(i);
        T* sums = out.data();
#pragma omp simd
        for (std::size_t r = 0; r < phi.labels; ++r) sums[r] += weight * row[r];
    }
}

template <class T>
std::span<const T> SharedRanker<T>::score(Reader& reader) const {
    affinity_.compute(reader.x, reader.phi);
    score(reader.phi, reader.sums);
    return reader.sums;
}

template <class T>
std::span<const std::int32_t> SharedRanker<T>::rank(Reader& reader, std::size_t k) const {
    best_labels(score(reader), k, reader.best);
    return reader.best;
}

template <class T>
void SharedRanker<T>::judge(Reader& reader, std::size_t k, const TieOrder& ties,
                            Judgement& out) const {
    const std::span<const T> scores = score(reader);
    confidence_.judge<T>({scores, cutoff(), reader.phi.known()}, k, ties, out);
}

template <class T>
void SharedRanker<T>::contributions(const LabelBlock<T>& phi, int label,
                                    std::vector<double>& out) const {
    out.clear();
    for (std::size_t i = 0; i < phi.features.size(); ++i)
        out.push_back(static_cast<double>(phi.row(i)[label]) *
                      block_.feature_weight(phi.features[i]));
}

template <class T>
void SharedRanker<T>::contributions(Reader& reader, int label, std::vector<double>& out) const {
    affinity_.compute(reader.x, reader.phi);
    contributions(reader.phi, label, out);
}

// Makes the rows that the update rule needs: the pairs with a positive loss; all pairs for
// `optimal`, where the step on one pair can increase the loss of another; only the pair with the
// largest loss for `max`.
template <class T>
void SharedRanker<T>::make_rows(const LabelBlock<T>& phi) {
    const BlockConfig& config = block_.config();
    const std::vector<T>& score = scratch_.sums;
    rows_.clear();
    const auto add = [&](int r, int s) {
        phi.difference(static_cast<std::size_t>(r), static_cast<std::size_t>(s), rows_);
    };
    if (config.update->rows == ActiveRows::worst && !round_.relevant.empty() &&
        !irrelevant_.empty()) {
        const auto lower = [&](int a, int b) { return score[a] < score[b]; };
        add(*std::min_element(round_.relevant.begin(), round_.relevant.end(), lower),
            *std::max_element(irrelevant_.begin(), irrelevant_.end(), lower));
    } else {
        const bool all = config.update->rows == ActiveRows::all;
        for (const int r : round_.relevant)
            for (const int s : irrelevant_)
                if (all ||
                    static_cast<double>(score[r]) - static_cast<double>(score[s]) < config.margin)
                    add(r, s);
    }
}

template <class T>
std::size_t SharedRanker<T>::labels_with(std::span<const std::int32_t> relevant,
                                         std::span<const std::int32_t> unknown) const {
    std::size_t count = labels();
    for (const auto& given : {relevant, unknown})
        for (const std::int32_t label : given)
            count = std::max(count, static_cast<std::size_t>(label) + 1);
    return count;
}

template <class T>
void SharedRanker<T>::take_labels(std::span<const std::int32_t> relevant,
                                  std::span<const std::int32_t> unknown) {
    round_.take(relevant, unknown);
    if (round_.needed() > labels()) add_labels(round_.needed() - labels());
}

// Scores the labels, updates the cut-off and the confidence if the round is judged, and learns.
// Returns whether the round had a positive weight.
template <class T>
bool SharedRanker<T>::learn_block(const LabelBlock<T>& phi, std::size_t labels_before,
                                  double weight, const RoundOptions<T>& options) {
    score(phi, scratch_.sums);
    const std::span<const T> predicted = scratch_.sums;
    if (options.scores) {
        std::copy(predicted.begin(), predicted.end(), options.scores);
        std::fill(options.scores + labels_before, options.scores + labels(),
                  -std::numeric_limits<T>::infinity());
    }
    if (!(weight > 0)) return false;
    if (options.stands_for > 0) {
        const double cutoff_before = cutoff();
        cutoff_.observe(predicted, std::span<const int>(round_.relevant),
                        std::span<const int>(round_.unknown));
        confidence_.observe<T>({predicted.first(labels_before), cutoff_before, phi.known()},
                               round_.relevant, round_.unknown, options.stands_for,
                               options.judgement);
    }
    irrelevant_.clear();
    for (int label = 0; label < static_cast<int>(labels()); ++label)
        if (!std::binary_search(round_.relevant.begin(), round_.relevant.end(), label) &&
            !std::binary_search(round_.unknown.begin(), round_.unknown.end(), label))
            irrelevant_.push_back(label);
    make_rows(phi);
    block_.learn(rows_, {}, {}, weight);
    return true;
}

template <class T>
void SharedRanker<T>::learn(Example& x, std::span<const std::int32_t> relevant,
                            std::span<const std::int32_t> unknown, double weight,
                            const RoundOptions<T>& options) {
    const std::size_t labels_before = labels();
    take_labels(relevant, unknown);
    affinity_.compute(x, scratch_.phi);
    if (learn_block(scratch_.phi, labels_before, weight, options))
        affinity_.learn(x, round_.relevant);
}

template <class T>
void SharedRanker<T>::learn(const LabelBlock<T>& phi, std::span<const std::int32_t> relevant,
                            std::span<const std::int32_t> unknown, double weight,
                            const RoundOptions<T>& options) {
    const std::size_t labels_before = labels();
    take_labels(relevant, unknown);
    learn_block(phi, labels_before, weight, options);
}

template class SharedRanker<float>;
template class SharedRanker<double>;

}  // namespace tagalong
