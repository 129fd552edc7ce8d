// The parts of a ranker's round that depend on the geometry: one overload per geometry.
#pragma once

#include <vector>

#include "core/example.hpp"
#include "core/score_kernels.hpp"
#include "geometry/entropic.hpp"
#include "geometry/linear.hpp"
#include "rules/step.hpp"

namespace tagalong {

// Scores an example with the current weights, and with the plane of means if weights are averaged.
template <class T>
void score_round(LinearGeometry<T>& geometry, const RowView& x, bool averaged,
                 RowLookup<T>& lookup) {
    geometry.add_missing_columns(x);
    geometry.score(x, averaged, lookup);
}
template <class T>
void score_round(EntropicGeometry<T>& geometry, const RowView& x, bool /*averaged*/,
                 RowLookup<T>& lookup) {
    geometry.score(x, lookup);
}

// Scores an example with the prediction weights: the current ones minus `mean_factor` times the
// plane of means.
template <class T>
void score_prediction(const LinearGeometry<T>& geometry, const RowView& x, double mean_factor,
                      RowLookup<T>& lookup) {
    const auto factor = static_cast<T>(mean_factor);
    geometry.score(x, factor != 0, lookup);
    if (factor != 0)
        kernels::minus_scaled(lookup.sums.data(), lookup.mean_sums.data(), factor,
                              lookup.sums.data(), lookup.sums.size());
}
template <class T>
void score_prediction(const EntropicGeometry<T>& geometry, const RowView& x, double /*mean_factor*/,
                      RowLookup<T>& lookup) {
    geometry.score(x, lookup);
}

// The prediction weight of a row and a label.
template <class T>
double prediction_weight(const LinearGeometry<T>& geometry, std::int32_t row, int label,
                         double mean_factor) {
    return geometry.weight(row, label, mean_factor);
}
template <class T>
double prediction_weight(const EntropicGeometry<T>& geometry, std::int32_t row, int label,
                         double /*mean_factor*/) {
    return geometry.weight(row, label);
}

// The sum over all labels, in ascending order, of a value times the prediction weight of a row. The
// bits are those of a sum of single weights.
template <class T>
double summed_weights(const LinearGeometry<T>& geometry, std::int32_t row, double value,
                      double mean_factor, std::vector<T>& buffer) {
    const WeightStore<T>& store = geometry.store();
    const std::size_t labels = store.labels();
    buffer.assign(2 * labels, T(0));
    store.read(row, 0, buffer.data());
    if (mean_factor != 0) store.read(row, 1, buffer.data() + labels);
    const T *const theta = buffer.data(), *const means = theta + labels;
    const double scale = geometry.scale(row);
    double sum = 0;
    for (std::size_t k = 0; k < labels; ++k)
        sum +=
            value *
            ((static_cast<double>(theta[k]) - mean_factor * static_cast<double>(means[k])) * scale);
    return sum;
}
template <class T>
double summed_weights(const EntropicGeometry<T>& geometry, std::int32_t row, double value,
                      double /*mean_factor*/, std::vector<T>& /*buffer*/) {
    double sum = 0;
    for (std::size_t k = 0; k < geometry.store().labels(); ++k)
        sum += value * geometry.weight(row, static_cast<int>(k));
    return sum;
}

// Whether a feature without a row has a non-zero weight. In the entropic geometry declared features
// have one.
template <class T>
bool has_weight_without_row(const LinearGeometry<T>&, std::int32_t /*feature*/) {
    return false;
}
template <class T>
bool has_weight_without_row(const EntropicGeometry<T>& geometry, std::int32_t feature) {
    return feature < geometry.declared();
}

// Adds the new features of x to the simplex. The scores for the update include them; the prediction
// was made without them.
template <class T>
void add_features(LinearGeometry<T>&, const RowView&, RowLookup<T>&) {}
template <class T>
void add_features(EntropicGeometry<T>& geometry, const RowView& x, RowLookup<T>& lookup) {
    if (geometry.enter(x)) geometry.score(x, lookup);
}

// An upper bound of the curvature of G along x.
template <class T>
double curvature_along(const LinearGeometry<T>& geometry, const RowView& x,
                       const RowLookup<T>& lookup) {
    return geometry.squared_norm(x, lookup);
}
template <class T>
double curvature_along(const EntropicGeometry<T>& geometry, const RowView& x, const RowLookup<T>&) {
    return geometry.curvature(x);
}

// Whether a step along x can change a score.
template <class T>
bool can_move(const LinearGeometry<T>&, const RowView& x, double curvature) {
    return x.size() > 0 && curvature != 0;
}
template <class T>
bool can_move(const EntropicGeometry<T>&, const RowView& x, double /*curvature*/) {
    return x.size() > 0;
}

template <class T>
void apply_step(LinearGeometry<T>& geometry, const RowView& x, const Step& step, double curvature,
                double rounds_before, RowLookup<T>& lookup) {
    geometry.add_step_complexity(step, curvature, lookup);
    geometry.apply(x, step, rounds_before, lookup);
}
template <class T>
void apply_step(EntropicGeometry<T>& geometry, const RowView& x, const Step& step,
                double /*curvature*/, double /*rounds_before*/, RowLookup<T>& lookup) {
    geometry.apply(x, step, lookup);
}

}  // namespace tagalong
