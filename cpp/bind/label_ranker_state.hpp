// A ranker's state as a dict of arrays and numbers, and back: what is saved, pickled and shown.
#pragma once

#include <shared_mutex>

#include "bind/arrays.hpp"
#include "bind/geometry_state.hpp"
#include "ranker/label_ranker.hpp"

namespace tagalong::bind {

template <class T>
nb::dict certificate_dict(const LabelRanker<T>& self) {
    std::shared_lock lock(self.mutex());
    const Certificate c = self.certificate();
    nb::dict out;
    write_fields(c, out);
    out["rounds"] = c.rounds - c.earlier;
    out["dual"] = self.dual();
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
    write_fields(c, numbers);
    const auto& precision = self.blend_state().precision;
    arrays["blend"] = vector_array<double>(precision.size(), [&](std::size_t i) { return precision[i]; });
    write_part(self.cutoff_state(), "cutoff", arrays);
    write_part(self.calibration(), "calibration", arrays);
    write_geometry<T>(self.geometry(), c.earlier > 0, arrays, numbers);
    out["arrays"] = arrays;
    out["numbers"] = numbers;
    return out;
}

template <class T>
void restore(LabelRanker<T>& self, const nb::dict& state) {
    const auto arrays = nb::cast<nb::dict>(state["arrays"]);
    auto numbers = nb::cast<nb::dict>(state["numbers"]);
    if (!numbers.contains("earlier")) numbers["earlier"] = 0;  // in files of format 1
    const auto blend = state_vector<double>(arrays, "blend", self.blend_state().precision.size());

    std::unique_lock lock(self.mutex());
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    self.add_labels(nb::cast<std::size_t>(numbers["labels"]));
    read_geometry<T>(self.geometry(), arrays, numbers);
    read_fields(self.certificate_state(), numbers);
    std::copy_n(blend.data(), blend.shape(0), self.blend_state().precision.begin());
    read_part(self.cutoff_state(), "cutoff", arrays);
    if (arrays.contains("calibration")) read_part(self.calibration(), "calibration", arrays);  // not in format 1
}

}  // namespace tagalong::bind
