// The Python class of GradeRanker.
#include "bind/block_state.hpp"
#include "bind/module.hpp"
#include "bind/ranker_bind.hpp"
#include "bind/statistics_state.hpp"
#include "grades/grade_ranker.hpp"

namespace tagalong::bind {

template <class T>
using BoundGrades = BoundRanker<GradeRanker<T>, T>;

template <class T>
static void write_state(const GradeRanker<T>& self, nb::dict& arrays, nb::dict& numbers) {
    write_state(self.block(), arrays, numbers);
    numbers["labels"] = self.labels();
    if (self.config().scaled)
        write_statistics(self.scaling().statistics(), "scaled_features", arrays, numbers);
    write_part(self.cutoff_state(), "cutoff", arrays);
    write_part(self.confidence(), "confidence", arrays);
}

template <class T>
static void read_state(GradeRanker<T>& self, const SavedState& saved) {
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    self.add_labels(static_cast<std::size_t>(saved.count("labels")));
    read_state(self.block(), saved);
    const auto thresholds = static_cast<std::int32_t>(self.labels()) - 1;
    for (const std::int32_t feature : self.block().features())
        if (feature < 0 || (feature >= thresholds && feature < GradeRanker<T>::kFirstFeature))
            SavedState::refuse("features", "has a threshold between grades that do not exist");
    if (self.config().scaled) read_statistics(self.scaling(), "scaled_features", saved);
    read_part(self.cutoff_state(), "cutoff", saved);
    read_confidence(self, saved);
}

template <class T>
static SharedFacts certificate_of(const GradeRanker<T>& self) {
    return {certificate_of(self.block()), self.cutoff()};
}

// The weights of features; the thresholds are not among them.
template <class T>
static FeatureWeights weights_of(const GradeRanker<T>& self) {
    std::vector<std::int32_t> features;
    std::vector<T> weights;
    for (const std::int32_t feature : self.block().features()) {
        if (feature < GradeRanker<T>::kFirstFeature) continue;
        features.push_back(feature - GradeRanker<T>::kFirstFeature);
        weights.push_back(static_cast<T>(self.block().feature_weight(feature)));
    }
    const auto values = vector_array<T>(weights.size(), [&](std::size_t i) { return weights[i]; });
    return {feature_array(features), NumPy<>(values), {}};
}

template <class T>
static std::size_t bytes_of(const GradeRanker<T>& self) {
    return self.block().bytes() +
           self.scaling().statistics().features().size() * sizeof(FeatureValues);
}

template <class T>
static void add_grade_ranker(nb::module_& module, const char* name) {
    using Ranker = BoundGrades<T>;
    nb::class_<Ranker, AnyRanker<T>> type(module, name);
    type.def(
            "__init__",
            [](Ranker* self, const std::string& update, double C, double margin, bool scaled) {
                new (self) Ranker({make_block_config(update, "euclidean", C, margin, 0), scaled});
            },
            nb::kw_only(), nb::arg("update"), nb::arg("C"), nb::arg("margin"), nb::arg("scaled"))
        // The thresholds as learnt.
        .def("thresholds", [](const Ranker& self) {
            std::vector<double> found;
            {
                std::shared_lock lock(self.mutex());
                self.thresholds(found);
            }
            return adopted(std::move(found));
        });
    add_one_example_methods(type);
    add_selection_methods(type);
    add_certificate(type);
    type.def("recompute_dual", [](const Ranker& self) {
        std::shared_lock lock(self.mutex());
        return self.block().recompute_dual();
    });
}

void add_grade_rankers(nb::module_& module) {
    add_grade_ranker<float>(module, "GradeRanker32");
    add_grade_ranker<double>(module, "GradeRanker64");
}

}  // namespace tagalong::bind
