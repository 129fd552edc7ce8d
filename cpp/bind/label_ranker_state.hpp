// A ranker's state as a dict of arrays and numbers, and back: what is saved, pickled and shown.
#pragma once

#include <shared_mutex>

#include "arrays.hpp"
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

// One plane of all rows, (rows, K).
template <class T>
nb::object plane_array(const WeightStore<T>& store, std::size_t plane) {
    Owned<T> out({store.rows(), store.labels()});
    for (std::size_t r = 0; r < store.rows(); ++r) {
        const T* row = store.row(static_cast<std::int32_t>(r), plane);
        std::copy(row, row + store.labels(), out.data + r * store.labels());
    }
    return out.object();
}

template <class V, class From>
nb::object vector_array(std::size_t count, From&& value) {
    Owned<V> out({count});
    for (std::size_t i = 0; i < count; ++i) out.data[i] = value(i);
    return out.object();
}

template <class T>
nb::object feature_array(const WeightStore<T>& store) {
    return vector_array<std::int32_t>(store.rows(), [&](std::size_t r) { return store.features()[r]; });
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
    out["features"] = feature_array(store);
    out["weights"] = weights.object();
    out["unseen"] = unseen.object();
    return out;
}

template <class T>
nb::dict state_dict(const LabelRanker<T>& self) {
    std::shared_lock lock(self.mutex());
    const WeightStore<T>& store = self.store();
    nb::dict arrays, numbers, out;
    arrays["features"] = feature_array(store);
    arrays["theta"] = plane_array(store, 0);
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
    if (const auto* linear = std::get_if<LinearGeometry<T>>(&self.geometry())) {
        const auto& rows = linear->row_state();
        if (store.planes() > 1) arrays["means"] = plane_array(store, 1);
        arrays["S"] = vector_array<double>(rows.size(), [&](std::size_t r) { return rows[r].S; });
        arrays["norm2"] = vector_array<double>(rows.size(), [&](std::size_t r) { return rows[r].norm2; });
        if (c.earlier > 0)
            arrays["base2"] = vector_array<double>(rows.size(), [&](std::size_t r) { return rows[r].base2; });
        numbers["complexity"] = linear->complexity();
    } else {
        const auto& entropic = std::get<EntropicGeometry<T>>(self.geometry());
        const auto& labels = entropic.label_state();
        arrays["Z"] = vector_array<double>(labels.size(), [&](std::size_t y) { return labels[y].Z; });
        arrays["shift"] = vector_array<double>(labels.size(), [&](std::size_t y) { return labels[y].shift; });
        arrays["updates"] =
            vector_array<std::int64_t>(labels.size(), [&](std::size_t y) { return labels[y].updates; });
        numbers["dimension"] = entropic.dimension();
        if (c.earlier > 0) {
            const auto& base = entropic.base();
            arrays["base_Z"] = vector_array<double>(base.Z.size(), [&](std::size_t y) { return base.Z[y]; });
            arrays["base_shift"] =
                vector_array<double>(base.shift.size(), [&](std::size_t y) { return base.shift[y]; });
            numbers["base_dimension"] = base.dimension;
        }
    }
    out["arrays"] = arrays;
    out["numbers"] = numbers;
    return out;
}

// A one-dimensional array of a state, with its length checked.
template <class V>
VectorOf<V> state_vector(const nb::dict& arrays, const char* name, std::size_t length) {
    auto array = nb::cast<VectorOf<V>>(arrays[name]);
    if (array.shape(0) != length)
        throw InputError(std::string("model state: '") + name + "' has " + std::to_string(array.shape(0)) +
                         " entries instead of " + std::to_string(length));
    return array;
}

template <class T>
void restore(LabelRanker<T>& self, const nb::dict& state) {
    using Plane = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    const auto arrays = nb::cast<nb::dict>(state["arrays"]);
    const auto numbers = nb::cast<nb::dict>(state["numbers"]);
    const auto integer = [&](const char* key) { return nb::cast<std::int64_t>(numbers[key]); };
    const auto real = [&](const char* key) { return nb::cast<double>(numbers[key]); };

    const auto K = static_cast<std::size_t>(integer("labels"));
    const auto features = nb::cast<VectorOf<std::int32_t>>(arrays["features"]);
    const std::size_t rows = features.shape(0);
    const auto plane = [&](const char* name) {
        auto array = nb::cast<Plane>(arrays[name]);
        if (array.shape(0) != rows || array.shape(1) != K)
            throw InputError(std::string("model state: '") + name + "' has the wrong shape");
        return array;
    };
    const Plane theta = plane("theta");
    const auto blend = state_vector<double>(arrays, "blend", self.blend_state().precision.size());
    const auto cutoff = nb::cast<VectorOf<double>>(arrays["cutoff"]);

    std::unique_lock lock(self.mutex());
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    self.add_labels(K);
    if (auto* linear = std::get_if<LinearGeometry<T>>(&self.geometry())) {
        const auto S = state_vector<double>(arrays, "S", rows);
        const auto norm2 = state_vector<double>(arrays, "norm2", rows);
        const bool restarted = arrays.contains("base2");
        const auto base2 = restarted ? state_vector<double>(arrays, "base2", rows) : norm2;
        const bool averaged = self.store().planes() > 1;
        const Plane means = averaged ? plane("means") : theta;
        for (std::size_t r = 0; r < rows; ++r) {
            T* row = linear->restore_row(features.data()[r],
                                         {S.data()[r], 1 / std::sqrt(S.data()[r]), norm2.data()[r],
                                          restarted ? base2.data()[r] : 0.0});
            std::copy_n(theta.data() + r * K, K, row);
            if (averaged) std::copy_n(means.data() + r * K, K, row + self.store().stride());
        }
        linear->restore_complexity(real("complexity"));
    } else {
        auto& entropic = std::get<EntropicGeometry<T>>(self.geometry());
        const auto Z = state_vector<double>(arrays, "Z", K);
        const auto shift = state_vector<double>(arrays, "shift", K);
        const auto updates = state_vector<std::int64_t>(arrays, "updates", K);
        std::vector<typename EntropicGeometry<T>::Label> labels;
        for (std::size_t y = 0; y < K; ++y)
            labels.push_back({Z.data()[y], shift.data()[y], updates.data()[y]});
        entropic.restore_labels(integer("dimension"), std::move(labels));
        for (std::size_t r = 0; r < rows; ++r) entropic.restore_row(features.data()[r], theta.data() + r * K);
        if (arrays.contains("base_Z")) {
            const auto base_Z = nb::cast<VectorOf<double>>(arrays["base_Z"]);
            const auto base_shift = state_vector<double>(arrays, "base_shift", base_Z.shape(0));
            entropic.restore_base({integer("base_dimension"),
                                   {base_Z.data(), base_Z.data() + base_Z.shape(0)},
                                   {base_shift.data(), base_shift.data() + base_shift.shape(0)}});
        }
    }
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
