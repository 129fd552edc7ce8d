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

inline void read_support(KernelGeometry& kernel, bool averaged, const nb::dict& arrays) {
    using Plane = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    const auto ends = nb::cast<VectorOf<std::int64_t>>(arrays["support_ends"]);
    const auto features = nb::cast<VectorOf<std::int32_t>>(arrays["features"]);
    const auto values = state_vector<double>(arrays, "support_values", features.shape(0));
    const std::size_t count = ends.shape(0) == 0 ? 0 : ends.shape(0) - 1, K = kernel.labels();
    const auto plane = [&](const char* name) {
        auto array = nb::cast<Plane>(arrays[name]);
        if (array.shape(0) != count || array.shape(1) != K)
            throw InputError(std::string("model state: '") + name + "' has the wrong shape");
        return array;
    };
    const Plane parts = plane("support_parts");
    const Plane means = averaged ? plane("support_means") : parts;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t from = ends.data()[i], to = ends.data()[i + 1];
        if (from < 0 || from > to || to > static_cast<std::int64_t>(features.shape(0)))
            throw InputError("model state: 'support_ends' does not fit");
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
        }
    }
    write_part(self.cutoff_state(), "cutoff", arrays);
    write_part(self.calibration(), "calibration", arrays);
    if (self.labels() > 0) write_part(self.confidence(), "confidence", arrays);
}

template <class T>
void restore_rows(Predtron<T>& self, const nb::dict& arrays, const nb::dict& numbers) {
    using Plane = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    const auto features = nb::cast<VectorOf<std::int32_t>>(arrays["features"]);
    const std::size_t rows = features.shape(0), d = self.scores_per_row();
    const auto norm2 = state_vector<double>(arrays, "norm2", rows);
    const auto plane = [&](const char* name) {
        auto array = nb::cast<Plane>(arrays[name]);
        if (array.shape(0) != rows || array.shape(1) != d)
            throw InputError(std::string("model state: '") + name + "' has the wrong shape");
        return array;
    };
    const Plane theta = plane("theta");
    if (auto* linear = std::get_if<LinearGeometry<T>>(&self.geometry())) {
        const bool averaged = linear->store().planes() > 1;
        const Plane means = averaged ? plane("means") : theta;
        for (std::size_t r = 0; r < rows; ++r) {
            T* row = linear->restore_row(features.data()[r], {1, norm2.data()[r], 0});
            std::copy_n(theta.data() + r * d, d, row);
            if (averaged) std::copy_n(means.data() + r * d, d, row + linear->store().stride());
        }
        return;
    }
    auto& link = std::get<LinkGeometry<T>>(self.geometry());
    link.restore_unit(nb::cast<double>(numbers["unit"]));
    for (std::size_t r = 0; r < rows; ++r) {
        std::copy_n(theta.data() + r * d, d, link.restore_row(features.data()[r], norm2.data()[r]));
        link.finish_row(static_cast<std::int32_t>(r));
    }
}

template <class T>
void read_state(Predtron<T>& self, const nb::dict& arrays, const nb::dict& numbers) {
    if (self.labels() != 0 || self.counts().rounds != 0)
        throw InputError("model state can only be restored into a new model");
    self.add_labels(nb::cast<std::size_t>(numbers["labels"]));
    PredtronCounts& c = self.counts();
    read_fields(c, numbers);
    if (c.dimension > 0) self.set_dimension(c.dimension);
    if (auto* kernel = std::get_if<KernelGeometry>(&self.geometry()))
        read_support(*kernel, self.config().average, arrays);
    else restore_rows(self, arrays, numbers);
    read_part(self.cutoff_state(), "cutoff", arrays);
    read_part(self.calibration(), "calibration", arrays);
    read_confidence(self, arrays);
}

}  // namespace tagalong::bind
