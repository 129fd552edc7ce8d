// The weights of a geometry as a dict of arrays and numbers, and back: part of every learner's state.
#pragma once

#include <cmath>
#include <string>

#include "arrays.hpp"
#include "geometry/any.hpp"

namespace tagalong::bind {

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

// A one-dimensional array of a state, with its length checked.
template <class V>
VectorOf<V> state_vector(const nb::dict& arrays, const char* name, std::size_t length) {
    auto array = nb::cast<VectorOf<V>>(arrays[name]);
    if (array.shape(0) != length)
        throw InputError(std::string("model state: '") + name + "' has " + std::to_string(array.shape(0)) +
                         " entries instead of " + std::to_string(length));
    return array;
}

// `restarted`: whether the certificate is centred on other weights than the first ones.
template <class T>
void write_geometry(const AnyGeometry<T>& geometry, bool restarted, nb::dict& arrays, nb::dict& numbers) {
    const WeightStore<T>& store =
        std::visit([](const auto& found) -> const WeightStore<T>& { return found.store(); }, geometry);
    arrays["features"] = feature_array(store);
    arrays["theta"] = plane_array(store, 0);
    if (const auto* linear = std::get_if<LinearGeometry<T>>(&geometry)) {
        const auto& rows = linear->row_state();
        if (store.planes() > 1) arrays["means"] = plane_array(store, 1);
        arrays["S"] = vector_array<double>(rows.size(), [&](std::size_t r) { return rows[r].S; });
        arrays["norm2"] = vector_array<double>(rows.size(), [&](std::size_t r) { return rows[r].norm2; });
        if (restarted)
            arrays["base2"] = vector_array<double>(rows.size(), [&](std::size_t r) { return rows[r].base2; });
        numbers["complexity"] = linear->complexity();
        return;
    }
    const auto& entropic = std::get<EntropicGeometry<T>>(geometry);
    const auto& labels = entropic.label_state();
    arrays["Z"] = vector_array<double>(labels.size(), [&](std::size_t y) { return labels[y].Z; });
    arrays["shift"] = vector_array<double>(labels.size(), [&](std::size_t y) { return labels[y].shift; });
    arrays["updates"] =
        vector_array<std::int64_t>(labels.size(), [&](std::size_t y) { return labels[y].updates; });
    numbers["dimension"] = entropic.dimension();
    if (!restarted) return;
    const auto& base = entropic.base();
    arrays["base_Z"] = vector_array<double>(base.Z.size(), [&](std::size_t y) { return base.Z[y]; });
    arrays["base_shift"] = vector_array<double>(base.shift.size(), [&](std::size_t y) { return base.shift[y]; });
    numbers["base_dimension"] = base.dimension;
}

// Into a geometry that has its labels, and no rows yet.
template <class T>
void read_geometry(AnyGeometry<T>& geometry, const nb::dict& arrays, const nb::dict& numbers) {
    using Plane = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    const WeightStore<T>& store =
        std::visit([](const auto& found) -> const WeightStore<T>& { return found.store(); }, geometry);
    const std::size_t K = store.labels();
    const auto features = nb::cast<VectorOf<std::int32_t>>(arrays["features"]);
    const std::size_t rows = features.shape(0);
    const auto plane = [&](const char* name) {
        auto array = nb::cast<Plane>(arrays[name]);
        if (array.shape(0) != rows || array.shape(1) != K)
            throw InputError(std::string("model state: '") + name + "' has the wrong shape");
        return array;
    };
    const Plane theta = plane("theta");
    if (auto* linear = std::get_if<LinearGeometry<T>>(&geometry)) {
        const auto S = state_vector<double>(arrays, "S", rows);
        const auto norm2 = state_vector<double>(arrays, "norm2", rows);
        const bool restarted = arrays.contains("base2");
        const auto base2 = restarted ? state_vector<double>(arrays, "base2", rows) : norm2;
        const bool averaged = store.planes() > 1;
        const Plane means = averaged ? plane("means") : theta;
        for (std::size_t r = 0; r < rows; ++r) {
            T* row = linear->restore_row(features.data()[r],
                                         {S.data()[r], 1 / std::sqrt(S.data()[r]), norm2.data()[r],
                                          restarted ? base2.data()[r] : 0.0});
            std::copy_n(theta.data() + r * K, K, row);
            if (averaged) std::copy_n(means.data() + r * K, K, row + store.stride());
        }
        linear->restore_complexity(nb::cast<double>(numbers["complexity"]));
        return;
    }
    auto& entropic = std::get<EntropicGeometry<T>>(geometry);
    const auto Z = state_vector<double>(arrays, "Z", K);
    const auto shift = state_vector<double>(arrays, "shift", K);
    const auto updates = state_vector<std::int64_t>(arrays, "updates", K);
    std::vector<typename EntropicGeometry<T>::Label> labels;
    for (std::size_t y = 0; y < K; ++y) labels.push_back({Z.data()[y], shift.data()[y], updates.data()[y]});
    entropic.restore_labels(nb::cast<std::int64_t>(numbers["dimension"]), std::move(labels));
    for (std::size_t r = 0; r < rows; ++r) entropic.restore_row(features.data()[r], theta.data() + r * K);
    if (!arrays.contains("base_Z")) return;
    const auto base_Z = nb::cast<VectorOf<double>>(arrays["base_Z"]);
    const auto base_shift = state_vector<double>(arrays, "base_shift", base_Z.shape(0));
    entropic.restore_base({nb::cast<std::int64_t>(numbers["base_dimension"]),
                           {base_Z.data(), base_Z.data() + base_Z.shape(0)},
                           {base_shift.data(), base_shift.data() + base_shift.shape(0)}});
}

}  // namespace tagalong::bind
