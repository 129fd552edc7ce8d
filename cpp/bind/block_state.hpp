// What Python knows of a BlockLearner, which may be part of another learner: settings, certificate, state.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>

#include "block_learner.hpp"
#include "geometry_state.hpp"

namespace tagalong::bind {

inline BlockConfig make_block_config(const nb::dict& given) {
    static const std::map<std::string, BlockScheme> schemes = {
        {"simperc", BlockScheme::simperc}, {"conproj", BlockScheme::conproj}, {"simproj", BlockScheme::simproj},
        {"simopt", BlockScheme::simopt},   {"max", BlockScheme::max},         {"optimal", BlockScheme::optimal}};
    BlockConfig config;
    config.scheme = schemes.at(nb::cast<std::string>(given["update"]));
    config.entropic = nb::cast<std::string>(given["geometry"]) == "entropic";
    config.C = nb::cast<double>(given["C"]);
    config.margin = nb::cast<double>(given["margin"]);
    config.n_features = nb::cast<std::int64_t>(given["n_features"]);
    return config;
}

// Without a lock: the learner may be part of another one.
template <class T>
nb::dict block_certificate(const BlockLearner<T>& self) {
    const BlockCertificate& c = self.certificate();
    nb::dict out;
    out["rounds"] = c.rounds;
    out["mistakes"] = c.mistakes;
    out["loss"] = c.loss;
    out["dual"] = self.dual();
    out["curvature"] = c.curvature;
    out["least_weight"] = c.least_weight;
    out["most_weight"] = c.most_weight;
    out["most_sets"] = c.most_sets;
    out["uneven"] = c.uneven;
    out["solver_rounds"] = c.solver_rounds;
    out["solver_iterations"] = c.solver_iterations;
    out["solver_most_iterations"] = c.solver_most_iterations;
    return out;
}

template <class T>
void write_block(const BlockLearner<T>& self, nb::dict& arrays, nb::dict& numbers) {
    const BlockCertificate& c = self.certificate();
    numbers["rounds"] = c.rounds;
    numbers["mistakes"] = c.mistakes;
    numbers["loss"] = c.loss;
    numbers["gain"] = c.gain;
    numbers["curvature"] = c.curvature;
    numbers["least_weight"] = c.least_weight;
    numbers["most_weight"] = c.most_weight;
    numbers["most_sets"] = c.most_sets;
    numbers["uneven"] = c.uneven;
    numbers["solver_rounds"] = c.solver_rounds;
    numbers["solver_iterations"] = c.solver_iterations;
    numbers["solver_most_iterations"] = c.solver_most_iterations;
    numbers["restarted"] = c.restarted;
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
void read_block(BlockLearner<T>& self, const nb::dict& arrays, const nb::dict& numbers) {
    const auto integer = [&](const char* key) { return nb::cast<std::int64_t>(numbers[key]); };
    const auto real = [&](const char* key) { return nb::cast<double>(numbers[key]); };
    if (!self.features().empty()) throw InputError("model state can only be restored into a new model");
    if (auto* linear = std::get_if<LinearVector<T>>(&self.geometry())) {
        const auto features = nb::cast<VectorOf<std::int32_t>>(arrays["features"]);
        const auto weights = state_vector<T>(arrays, "weights", features.shape(0));
        for (std::size_t r = 0; r < features.shape(0); ++r)
            linear->restore_row(features.data()[r], weights.data()[r]);
        linear->restore_base(real("base"));
    } else {
        read_entropic(std::get<EntropicGeometry<T>>(self.geometry()), arrays, numbers);
    }
    BlockCertificate& c = self.certificate_state();
    c.rounds = integer("rounds");
    c.mistakes = real("mistakes");
    c.loss = real("loss");
    c.gain = real("gain");
    c.curvature = real("curvature");
    c.least_weight = real("least_weight");
    c.most_weight = real("most_weight");
    c.most_sets = integer("most_sets");
    c.uneven = nb::cast<bool>(numbers["uneven"]);
    c.solver_rounds = integer("solver_rounds");
    c.solver_iterations = integer("solver_iterations");
    c.solver_most_iterations = integer("solver_most_iterations");
    c.restarted = nb::cast<bool>(numbers["restarted"]);
}

}  // namespace tagalong::bind
