// Makes the contents of a CompactRanker from a ranker or a race: folds averages into the weights,
// drops small weights and rounds the others.
//
// A weight w_jk counts as n_j w_jk^2, where n_j is the number of examples with feature j. The
// smallest ones that have a given share of the sum are dropped.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compact/compact_ranker.hpp"
#include "race/race.hpp"
#include "ranker/label_ranker.hpp"

namespace tagalong {

struct CompactedPart {
    Scaling scaling = Scaling::unit;
    double factor = 1, ratio = 1;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint16_t> labels;
    std::vector<std::int8_t> values;
    std::vector<float> scales, constant, bias;

    CompactPart view() const {
        return {scaling, factor, ratio, offsets, labels, values, scales, constant, bias};
    }
};

// The weights of a linear learner.
struct LinearWeights {
    std::size_t labels = 0;
    // Writes the weights of a feature for all labels, without the bias; false if it is not known.
    std::function<bool(std::int32_t feature, double* out)> row;
    std::vector<double> bias;  // per label, or empty
};

// `counts` are the numbers of examples with each feature. Throws InputError if a weight is too
// large.
CompactedPart compacted(const LinearWeights& weights, const std::vector<std::int32_t>& features,
                        const std::vector<double>& counts, double dropped_share);

template <class T>
LinearWeights linear_weights(const LabelRanker<T>& ranker) {
    return {ranker.labels(),
            [&](std::int32_t feature, double* out) {
                const std::int32_t row = ranker.store().find(feature);
                if (row == FeatureIndex::kAbsent) return false;
                for (std::size_t k = 0; k < ranker.labels(); ++k)
                    out[k] = ranker.weight(row, static_cast<int>(k));
                return true;
            },
            {}};
}

template <class T>
LinearWeights linear_weights(const OneVsRest<T>& learner) {
    return {learner.labels(),
            [&](std::int32_t feature, double* out) {
                if (learner.store().find(feature) == FeatureIndex::kAbsent) return false;
                typename OneVsRest<T>::Scratch scratch;
                std::vector<double> part;
                const double one = 1;
                for (std::size_t k = 0; k < learner.labels(); ++k) {
                    learner.contributions({{&feature, 1}, {&one, 1}}, scratch, static_cast<int>(k),
                                          part);
                    out[k] = part[0];
                }
                return true;
            },
            {}};
}

// Complement Bayes: w_jk = log(N - N_k + .1 V) - log(N_j - N_jk + .1). The first part is the bias.
// From the second one, log(N_j + .1) is subtracted for all labels, so that only labels that had the
// word have a weight; centring removes it from the scores.
template <class T>
LinearWeights linear_weights(const ComplementBayes<T>& learner) {
    constexpr double kSmoothing = 0.1;
    const auto sums = learner.sums();
    const auto words = static_cast<double>(learner.words().size());
    LinearWeights out;
    out.labels = learner.labels();
    for (const double of_label : sums.of_labels)
        out.bias.push_back(std::log(std::max(0.0, sums.total - of_label) + kSmoothing * words));
    std::unordered_map<std::int32_t, std::size_t> places;
    for (std::size_t word = 0; word < learner.words().size(); ++word)
        places[learner.words()[word]] = word;
    out.row = [&learner, places = std::move(places)](std::int32_t feature, double* weights) {
        const auto found = places.find(feature);
        if (found == places.end()) return false;
        std::fill_n(weights, learner.labels(), 0.0);
        const double total = learner.counts().sum(found->second);
        for (const LabelCount& entry : learner.counts()[found->second])
            weights[entry.label] =
                std::log((total + kSmoothing) / (std::max(0.0, total - entry.count) + kSmoothing));
        return true;
    };
    return out;
}

}  // namespace tagalong
