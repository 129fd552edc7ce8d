// Writes the weights of a geometry into dicts of arrays and numbers, and reads them: part of the
// state of every learner.
#pragma once

#include "bind/arrays.hpp"
#include "bind/packed_weights.hpp"
#include "bind/state_parts.hpp"
#include "geometry/any.hpp"

namespace tagalong::bind {

// One plane of the weights, (rows, K).
template <class T>
NumPy<T> plane_array(const WeightStore<T>& store, std::size_t plane) {
    Owned<T> out({store.rows(), store.width()});
    for (std::size_t r = 0; r < store.rows(); ++r)
        store.read_columns(static_cast<std::int32_t>(r), plane, out.data + r * store.width());
    return out.array;
}

inline NumPy<std::int32_t> feature_array(const std::vector<std::int32_t>& features) {
    return vector_array<std::int32_t>(features.size(), [&](std::size_t r) { return features[r]; });
}

// `restarted`: whether the certificate was restarted, so that it is centred on other weights than
// the initial ones.
template <class T>
void write_entropic(const EntropicGeometry<T>& entropic, bool restarted, nb::dict& arrays,
                    nb::dict& numbers);
template <class T>
void write_geometry(const AnyGeometry<T>& geometry, bool restarted, nb::dict& arrays,
                    nb::dict& numbers);

// The geometry must have its labels and no rows.
template <class T>
void read_entropic(EntropicGeometry<T>& entropic, const SavedState& saved);
template <class T>
void read_geometry(AnyGeometry<T>& geometry, const SavedState& saved);

}  // namespace tagalong::bind
