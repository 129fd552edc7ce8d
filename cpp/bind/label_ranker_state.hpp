// Certificate, weights and state of a LabelRanker.
#pragma once

#include <string>

#include "bind/geometry_state.hpp"
#include "bind/learner_bind.hpp"
#include "ranker/label_ranker.hpp"

namespace tagalong::bind {

struct LabelCertificate : Certificate {
    double dual = 0, penalty = 0;    // penalty: see LabelRanker::penalty
    double average = 0, cutoff = 0;  // average: the share of the mean (Blend)
    double budget = 0, temperature = 0;
    std::string contestant;  // of a race; empty for one learner
};

template <class T>
LabelCertificate certificate_of(const LabelRanker<T>& self) {
    LabelCertificate out{self.certificate(),
                         self.dual(),
                         self.penalty(),
                         self.blend_share(),
                         self.cutoff(),
                         self.config().C,
                         self.config().temperature,
                         ""};
    out.rounds -= out.earlier;
    return out;
}

template <class T>
FeatureWeights weights_of(const LabelRanker<T>& self) {
    const WeightStore<T>& store = self.store();
    const std::size_t K = store.labels();
    Owned<T> weights({store.rows(), K});
    for (std::size_t r = 0; r < store.rows(); ++r)
        for (std::size_t k = 0; k < K; ++k)
            weights.data[r * K + k] =
                static_cast<T>(self.weight(static_cast<std::int32_t>(r), static_cast<int>(k)));
    const auto unseen = vector_array<T>(K, [&](std::size_t k) {
        return static_cast<T>(self.weight(FeatureIndex::kAbsent, static_cast<int>(k)));
    });
    return {feature_array(store.features()), NumPy<>(weights.array), NumPy<>(unseen)};
}

template <class T>
std::size_t bytes_of(const LabelRanker<T>& self) {
    return self.store().bytes();
}

template <class T>
void write_state(const LabelRanker<T>& self, nb::dict& arrays, nb::dict& numbers) {
    const Certificate c = self.certificate();
    numbers["labels"] = self.labels();
    write_fields(c, numbers);
    if (c.rankers != 1) numbers["rankers"] = c.rankers;  // as in files before mixtures
    const auto& precision = self.blend_state().precision;
    arrays["blend"] =
        vector_array<double>(precision.size(), [&](std::size_t i) { return precision[i]; });
    if (self.config().cutoff) write_part(self.cutoff_state(), "cutoff", arrays);
    if (self.config().probability) write_part(self.confidence(), "confidence", arrays);
    write_geometry<T>(self.geometry(), c.earlier > 0, arrays, numbers);
}

template <class T>
void read_state(LabelRanker<T>& self, const SavedState& saved) {
    auto& precision = self.blend_state().precision;
    const auto blend = saved.vector<double>("blend", precision.size(), kNotNegative);
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    self.add_labels(static_cast<std::size_t>(saved.count("labels")));
    read_geometry<T>(self.geometry(), saved);
    Certificate& certificate = self.certificate_state();
    saved.read_fields(certificate);
    if (saved.has_number("rankers")) certificate.rankers = saved.count("rankers");
    if (!certificate.consistent()) SavedState::refuse("rounds", "contradicts the other counts");
    std::copy_n(blend.data(), blend.shape(0), precision.begin());
    if (self.config().cutoff) read_part(self.cutoff_state(), "cutoff", saved);
    if (self.config().probability) read_confidence(self, saved);
}

}  // namespace tagalong::bind
