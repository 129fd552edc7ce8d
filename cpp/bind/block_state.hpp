// Settings, certificate, weights and state of a BlockLearner, which may be part of another learner.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "bind/geometry_state.hpp"
#include "bind/learner_bind.hpp"
#include "bind/rules.hpp"
#include "blocks/block_learner.hpp"

namespace tagalong::bind {

inline BlockConfig make_block_config(const std::string& update, const std::string& geometry,
                                     double C, double margin, std::int64_t n_features) {
    BlockConfig config;
    config.update = chosen_rule(block_rules(), update, geometry);
    config.entropic = geometry == "entropic";
    config.C = C;
    config.margin = margin;
    config.n_features = n_features;
    return config;
}

// The certificate of a block learner. Other certificates extend it.
struct BlockFacts : BlockCertificate {
    double dual = 0;
};
struct SharedFacts : BlockFacts {
    double cutoff = 0;
};

// The functions below take no lock, because the learner may be part of another one.
template <class T>
BlockFacts certificate_of(const BlockLearner<T>& self) {
    return {self.certificate(), self.dual()};
}

// The weight of each feature, and the weight of a feature without a row.
template <class T>
FeatureWeights weights_of(const BlockLearner<T>& self) {
    const auto weight = [&](std::int32_t row) { return static_cast<T>(self.weight(row)); };
    const auto& features = self.features();
    const auto weights = vector_array<T>(
        features.size(), [&](std::size_t r) { return weight(static_cast<std::int32_t>(r)); });
    const auto unseen =
        vector_array<T>(1, [&](std::size_t) { return weight(FeatureIndex::kAbsent); });
    return {feature_array(features), NumPy<>(weights), NumPy<>(unseen)};
}

template <class T>
std::size_t bytes_of(const BlockLearner<T>& self) {
    return self.bytes();
}

template <class T>
void write_state(const BlockLearner<T>& self, nb::dict& arrays, nb::dict& numbers) {
    const BlockCertificate& c = self.certificate();
    write_fields(c, numbers);
    if (const auto* entropic = std::get_if<EntropicGeometry<T>>(&self.geometry()))
        return write_entropic(*entropic, c.restarted, arrays, numbers);
    const auto& linear = std::get<LinearVector<T>>(self.geometry());
    arrays["features"] = feature_array(linear.features());
    arrays["weights"] = vector_array<T>(linear.rows(), [&](std::size_t r) {
        return static_cast<T>(linear.weight(static_cast<std::int32_t>(r)));
    });
    numbers["base"] = linear.base();
}

template <class T>
void read_state(BlockLearner<T>& self, const SavedState& saved) {
    if (!self.features().empty())
        throw InputError("model state can only be restored into a new model");
    if (auto* linear = std::get_if<LinearVector<T>>(&self.geometry())) {
        const auto features = saved.features();
        const auto weights = saved.vector<T>("weights", features.shape(0), kWeight);
        for (std::size_t r = 0; r < features.shape(0); ++r)
            linear->restore_row(features.data()[r], weights.data()[r]);
        linear->restore_base(saved.number("base", kNotNegative));
    } else {
        read_entropic(std::get<EntropicGeometry<T>>(self.geometry()), saved);
    }
    BlockCertificate& certificate = self.certificate_state();
    saved.read_fields(certificate);
    if (!certificate.consistent()) SavedState::refuse("rounds", "contradicts the other counts");
}

}  // namespace tagalong::bind
