// Certificate and state of a Predtron.
#pragma once

#include "bind/arrays.hpp"
#include "bind/geometry_state.hpp"
#include "bind/learner_bind.hpp"
#include "predtron/predtron.hpp"

namespace tagalong::bind {

struct PredtronCertificate : PredtronCounts {
    double spread = 0, cutoff = 0;
};

template <class T>
PredtronCertificate certificate_of(const Predtron<T>& self) {
    PredtronCertificate out{self.counts(), self.link_factor(), self.cutoff()};
    out.rounds -= out.earlier;
    return out;
}

inline void write_support(const KernelGeometry& kernel, bool averaged, nb::dict& arrays) {
    const auto& support = kernel.support();
    std::vector<std::int64_t> ends = {0};
    std::vector<std::int32_t> features;
    std::vector<double> values;
    for (const auto& one : support) {
        features.insert(features.end(), one.x.feature.begin(), one.x.feature.end());
        values.insert(values.end(), one.x.value.begin(), one.x.value.end());
        ends.push_back(static_cast<std::int64_t>(features.size()));
    }
    const auto table = [&](auto&& part) {
        Owned<double> out({support.size(), kernel.labels()});
        for (std::size_t i = 0; i < support.size(); ++i)
            std::copy(part(support[i]).begin(), part(support[i]).end(),
                      out.data + i * kernel.labels());
        return out.array;
    };
    arrays["support_ends"] =
        vector_array<std::int64_t>(ends.size(), [&](std::size_t i) { return ends[i]; });
    arrays["features"] =
        vector_array<std::int32_t>(features.size(), [&](std::size_t i) { return features[i]; });
    arrays["support_values"] =
        vector_array<double>(values.size(), [&](std::size_t i) { return values[i]; });
    arrays["support_parts"] =
        table([](const auto& one) -> const auto& { return one.coefficients; });
    if (averaged)
        arrays["support_means"] = table([](const auto& one) -> const auto& { return one.means; });
}

inline void read_support(KernelGeometry& kernel, bool averaged, const SavedState& saved) {
    const auto features = saved.vector<std::int32_t>("features", Range{.least = -1});
    const auto values = saved.vector<double>("support_values", features.shape(0), kWeight);
    const Range positions{0, static_cast<double>(features.shape(0))};
    const auto ends = saved.vector<std::int64_t>("support_ends", positions);
    if (ends.shape(0) == 0) SavedState::refuse("support_ends", "is empty");
    const std::size_t count = ends.shape(0) - 1, K = kernel.labels();
    const auto parts = saved.plane<double>("support_parts", count, K, kWeight);
    const auto means = averaged ? saved.plane<double>("support_means", count, K, kWeight) : parts;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t from = ends.data()[i], to = ends.data()[i + 1];
        if (from > to) SavedState::refuse("support_ends", "must ascend");
        for (std::int64_t j = from + 1; j < to; ++j)
            if (features.data()[j - 1] >= features.data()[j])
                SavedState::refuse("features", "must ascend within each example");
        KernelGeometry::Support one;
        one.x.feature.assign(features.data() + from, features.data() + to);
        one.x.value.assign(values.data() + from, values.data() + to);
        one.coefficients.assign(parts.data() + i * K, parts.data() + (i + 1) * K);
        if (averaged) one.means.assign(means.data() + i * K, means.data() + (i + 1) * K);
        kernel.restore(std::move(one));
    }
}

template <class T>
std::size_t bytes_of(const Predtron<T>& self) {
    return self.bytes();
}

template <class T>
void write_state(const Predtron<T>& self, nb::dict& arrays, nb::dict& numbers) {
    numbers["labels"] = self.labels();
    write_fields(self.counts(), numbers);
    if (const auto* kernel = std::get_if<KernelGeometry>(&self.geometry())) {
        write_support(*kernel, self.config().average, arrays);
    } else {
        const WeightStore<T>& store = *self.store();
        arrays["features"] = feature_array(store.features());
        arrays["theta"] = plane_array(store, 0);
        if (const auto* linear = std::get_if<LinearGeometry<T>>(&self.geometry())) {
            if (store.planes() > 1) arrays["means"] = plane_array(store, 1);
            arrays["norm2"] = vector_array<double>(
                store.rows(), [&](std::size_t r) { return linear->row_state(r).norm2; });
        } else {
            const auto& link = std::get<LinkGeometry<T>>(self.geometry());
            arrays["norm2"] = vector_array<double>(
                link.row_state().size(), [&](std::size_t r) { return link.row_state()[r].norm2; });
            numbers["unit"] = link.unit();
            if (link.averaged()) {
                arrays["means"] = plane_array(store, store.planes() - 1);
                numbers["factor_sum"] = link.factor_sum();
                numbers["summed_rounds"] = link.summed_rounds();
            }
        }
    }
    write_part(self.cutoff_state(), "cutoff", arrays);
    write_part(self.calibration(), "calibration", arrays);
    // There may be answers before the first label. Problems without labels have no answers.
    if (self.labels() > 0 || self.confidence().answers() > 0)
        write_part(self.confidence(), "confidence", arrays);
}

template <class T>
void read_rows(LinearGeometry<T>& linear, const SavedState& saved) {
    const auto features = saved.features();
    const std::size_t rows = features.shape(0), d = linear.store().labels();
    const auto norm2 = saved.vector<double>("norm2", rows, kNotNegative);
    const auto theta = saved.plane<T>("theta", rows, d, kWeight);
    const bool averaged = linear.store().planes() > 1;
    const auto means = averaged ? saved.plane<T>("means", rows, d, kWeight) : theta;
    for (std::size_t r = 0; r < rows; ++r) {
        T* row = linear.restore_row(features.data()[r], {1, norm2.data()[r], 0});
        std::copy_n(theta.data() + r * d, d, row);
        if (averaged) std::copy_n(means.data() + r * d, d, row + linear.store().stride());
    }
}

template <class T>
void read_rows(LinkGeometry<T>& link, std::int64_t rounds, const SavedState& saved) {
    const auto features = saved.features();
    const std::size_t rows = features.shape(0), d = link.store().labels();
    const auto norm2 = saved.vector<double>("norm2", rows, kNotNegative);
    const auto theta = saved.plane<T>("theta", rows, d, kWeight);
    const auto means = link.averaged() ? saved.plane<T>("means", rows, d, kWeight) : theta;
    link.restore_unit(saved.number("unit", kNotNegative));
    if (link.averaged())
        link.restore_means(saved.number("factor_sum", Range{0, kWeight.most}),
                           saved.number("summed_rounds", Range{0, static_cast<double>(rounds)}));
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::int32_t>(r);
        std::copy_n(theta.data() + r * d, d, link.restore_row(features.data()[r], norm2.data()[r]));
        link.finish_row(row);
        if (link.averaged()) std::copy_n(means.data() + r * d, d, link.restore_means(row));
    }
    if (!link.unit_fits()) SavedState::refuse("unit", "does not fit 'theta'");
}

template <class T>
void read_state(Predtron<T>& self, const SavedState& saved) {
    if (self.labels() != 0 || self.counts().rounds != 0)
        throw InputError("model state can only be restored into a new model");
    self.add_labels(static_cast<std::size_t>(saved.count("labels")));
    PredtronCounts& counts = self.counts();
    saved.read_fields(counts);
    if (!counts.consistent()) SavedState::refuse("rounds", "contradicts the other counts");
    if (counts.dimension > 0) self.set_dimension(counts.dimension);
    if (auto* kernel = std::get_if<KernelGeometry>(&self.geometry()))
        read_support(*kernel, self.config().average, saved);
    else if (auto* link = std::get_if<LinkGeometry<T>>(&self.geometry()))
        read_rows(*link, counts.rounds, saved);
    else read_rows(std::get<LinearGeometry<T>>(self.geometry()), saved);
    read_part(self.cutoff_state(), "cutoff", saved);
    read_part(self.calibration(), "calibration", saved);
    if (self.labels() > 0 || saved.has_array("confidence")) read_confidence(self, saved);
}

}  // namespace tagalong::bind
