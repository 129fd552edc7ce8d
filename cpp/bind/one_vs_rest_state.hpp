// The weights of a one-vs-rest learner as arrays.
#pragma once

#include <string>

#include "bind/geometry_state.hpp"
#include "bind/state_parts.hpp"
#include "race/one_vs_rest.hpp"

namespace tagalong::bind {

template <class T>
void write_state(const OneVsRest<T>& self, nb::dict& arrays, nb::dict& numbers) {
    const WeightStore<T>& store = self.store();
    const auto& columns = store.columns().of_all_labels();
    const auto& sums = self.row_sums();
    numbers["labels"] = self.labels();
    arrays["columns"] =
        vector_array<std::int32_t>(columns.size(), [&](std::size_t y) { return columns[y]; });
    arrays["features"] = feature_array(store.features());
    arrays[kFirstPlane] = packed_weights(store, 1);
    arrays["S"] = vector_array<double>(sums.size(), [&](std::size_t r) { return sums[r]; });
}

template <class T>
void read_state(OneVsRest<T>& self, const SavedState& saved) {
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    const auto columns = saved.vector<std::int32_t>("columns");
    if (static_cast<std::size_t>(saved.count("labels")) != columns.shape(0))
        SavedState::refuse(saved.name_of("labels"), "does not fit the number of columns");
    self.add_labels(columns.shape(0));
    if (!self.restore_columns({columns.data(), columns.shape(0)}))
        SavedState::refuse(saved.name_of("columns"), "does not assign a column to every label");
    const std::size_t width = self.store().width();
    const auto features = saved.features();
    const std::size_t rows = features.shape(0);
    SavedRows<T> theta(saved, rows, width, 1);
    const auto S = saved.vector<double>("S", rows, Range{.least = 1});
    for (std::size_t r = 0; r < rows; ++r) {
        theta.next();
        self.restore_row(features.data()[r], S.data()[r], theta.first());
    }
}

}  // namespace tagalong::bind
