// A ranker's state as a dict of arrays and numbers, and back: what is saved, pickled and shown.
#pragma once

#include <shared_mutex>

#include "arrays.hpp"
#include "geometry_state.hpp"
#include "label_ranker.hpp"

namespace tagalong::bind {

template <class T>
nb::dict certificate_dict(const LabelRanker<T>& self) {
    std::shared_lock lock(self.mutex());
    const Certificate c = self.certificate();
    nb::dict out;
    out["rounds"] = c.rounds - c.earlier;
    out["mistakes"] = c.mistakes;
    out["loss"] = c.loss;
    out["dual"] = self.dual();
    out["curvature"] = c.curvature;
    out["least_weight"] = c.least_weight;
    out["most_weight"] = c.most_weight;
    out["solver_rounds"] = c.solver_rounds;
    out["solver_iterations"] = c.solver_iterations;
    out["solver_most_iterations"] = c.solver_most_iterations;
    out["average"] = self.blend_share();
    out["cutoff"] = self.cutoff();
    return out;
}

// The weights that predict: features, (rows, K), and the weight of features without a row.
template <class T>
nb::dict weights_dict(const LabelRanker<T>& self) {
    std::shared_lock lock(self.mutex());
    const WeightStore<T>& store = self.store();
    const std::size_t K = store.labels();
    Owned<T> weights({store.rows(), K});
    for (std::size_t r = 0; r < store.rows(); ++r)
        for (std::size_t k = 0; k < K; ++k)
            weights.data[r * K + k] =
                static_cast<T>(self.weight(static_cast<std::int32_t>(r), static_cast<int>(k)));
    Owned<T> unseen({K});
    for (std::size_t k = 0; k < K; ++k)
        unseen.data[k] = static_cast<T>(self.weight(FeatureIndex::kAbsent, static_cast<int>(k)));
    nb::dict out;
    out["features"] = feature_array(store.features());
    out["weights"] = weights.object();
    out["unseen"] = unseen.object();
    return out;
}

template <class T>
nb::dict state_dict(const LabelRanker<T>& self) {
    std::shared_lock lock(self.mutex());
    const WeightStore<T>& store = self.store();
    nb::dict arrays, numbers, out;
    const Certificate c = self.certificate();
    numbers["labels"] = store.labels();
    numbers["rounds"] = c.rounds;
    numbers["earlier"] = c.earlier;
    numbers["mistakes"] = c.mistakes;
    numbers["loss"] = c.loss;
    numbers["gain"] = c.gain;
    numbers["curvature"] = c.curvature;
    numbers["least_weight"] = c.least_weight;
    numbers["most_weight"] = c.most_weight;
    numbers["solver_rounds"] = c.solver_rounds;
    numbers["solver_iterations"] = c.solver_iterations;
    numbers["solver_most_iterations"] = c.solver_most_iterations;
    const auto& precision = self.blend_state().precision;
    arrays["blend"] = vector_array<double>(precision.size(), [&](std::size_t i) { return precision[i]; });
    const auto cutoff = self.cutoff_state().state();
    arrays["cutoff"] = vector_array<double>(cutoff.size(), [&](std::size_t i) { return cutoff[i]; });
    const auto calibration = self.calibration().state();
    arrays["calibration"] =
        vector_array<double>(calibration.size(), [&](std::size_t i) { return calibration[i]; });
    write_geometry<T>(self.geometry(), c.earlier > 0, arrays, numbers);
    out["arrays"] = arrays;
    out["numbers"] = numbers;
    return out;
}

template <class T>
void restore(LabelRanker<T>& self, const nb::dict& state) {
    const auto arrays = nb::cast<nb::dict>(state["arrays"]);
    const auto numbers = nb::cast<nb::dict>(state["numbers"]);
    const auto integer = [&](const char* key) { return nb::cast<std::int64_t>(numbers[key]); };
    const auto real = [&](const char* key) { return nb::cast<double>(numbers[key]); };
    const auto blend = state_vector<double>(arrays, "blend", self.blend_state().precision.size());
    const auto cutoff = nb::cast<VectorOf<double>>(arrays["cutoff"]);

    std::unique_lock lock(self.mutex());
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    self.add_labels(static_cast<std::size_t>(integer("labels")));
    read_geometry<T>(self.geometry(), arrays, numbers);
    Certificate& c = self.certificate_state();
    c.rounds = integer("rounds");
    c.earlier = numbers.contains("earlier") ? integer("earlier") : 0;
    c.mistakes = integer("mistakes");
    c.loss = real("loss");
    c.gain = real("gain");
    c.curvature = real("curvature");
    c.least_weight = real("least_weight");
    c.most_weight = real("most_weight");
    c.solver_rounds = integer("solver_rounds");
    c.solver_iterations = integer("solver_iterations");
    c.solver_most_iterations = integer("solver_most_iterations");
    std::copy_n(blend.data(), blend.shape(0), self.blend_state().precision.begin());
    if (!self.cutoff_state().restore({cutoff.data(), cutoff.shape(0)}))
        throw InputError("model state: 'cutoff' has the wrong length");
    if (!arrays.contains("calibration")) return;  // in files of format 1
    const auto calibration = nb::cast<VectorOf<double>>(arrays["calibration"]);
    if (!self.calibration().restore({calibration.data(), calibration.shape(0)}))
        throw InputError("model state: 'calibration' has the wrong length");
}

}  // namespace tagalong::bind
