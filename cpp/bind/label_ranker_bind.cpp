// The Python class of LabelRanker.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <vector>

#include "bind/label_ranker_state.hpp"
#include "bind/module.hpp"
#include "bind/one_label.hpp"
#include "bind/ranker_bind.hpp"
#include "bind/ranker_config.hpp"
#include "ranker/label_ranker.hpp"
#include "ranker/mixture.hpp"

namespace tagalong::bind {

template <class Ranker>
static void construct(Ranker* self, const std::string& update, const std::string& geometry,
                      double C, double margin, double temperature, const std::string& average,
                      double constant, bool normalize, const std::string& solver, double rate,
                      std::int64_t n_features, const std::string& one_label, bool probability,
                      const std::string& relevance, bool working_set) {
    new (self) Ranker(ranker_config(update, geometry, C, margin, temperature, average, constant,
                                    normalize, solver, rate, n_features, one_label, probability,
                                    relevance, working_set));
}

template <class T>
static void add_ranker(nb::module_& module, const char* name) {
    using Ranker = BoundRanker<LabelRanker<T>, T>;
    nb::class_<Ranker, AnyRanker<T>> type(module, name);
    type.def("__init__", &construct<Ranker>, nb::kw_only(), nb::arg("update"), nb::arg("geometry"),
             nb::arg("C"), nb::arg("margin"), nb::arg("temperature"), nb::arg("average"),
             nb::arg("constant"), nb::arg("normalize"), nb::arg("solver"), nb::arg("rate"),
             nb::arg("n_features"), nb::arg("one_label"), nb::arg("probability"),
             nb::arg("relevance"), nb::arg("working_set"));
    add_one_example_methods(type);
    add_selection_methods(type);
    add_certificate(type);
    add_one_label_method(type);
    type.def("recompute_dual", [](const Ranker& self) {
        std::shared_lock lock(self.mutex());
        return self.recompute_dual();
    });
}

// A ranker to be mixed: with the numbers of its labels and of its features in the mixture.
template <class T>
using Mixed = std::tuple<const BoundRanker<LabelRanker<T>, T>*, std::vector<std::int32_t>,
                         std::vector<std::int32_t>>;

template <class T>
static MixedRanker<T> part_of(const Mixed<T>& given, std::size_t labels) {
    const auto& [ranker, label_numbers, feature_numbers] = given;
    if (!std::holds_alternative<LinearGeometry<T>>(ranker->geometry()))
        throw InputError("rankers with the entropic geometry cannot be mixed");
    const bool sound =
        label_numbers.size() == ranker->labels() &&
        std::ranges::all_of(label_numbers,
                            [&](std::int32_t label) {
                                return label >= 0 && static_cast<std::size_t>(label) < labels;
                            }) &&
        std::ranges::all_of(feature_numbers, [](std::int32_t feature) { return feature >= 0; });
    if (!sound) throw InputError("the labels or features of a ranker are not those of the mixture");
    if (!feature_numbers.empty())
        for (const std::int32_t feature : ranker->store().features())
            if (feature >= static_cast<std::int64_t>(feature_numbers.size()))
                throw InputError("a feature of a ranker has no number in the mixture");
    return {ranker, label_numbers, feature_numbers};
}

// The state of the mixture of rankers; `base` is the one they have all started from, or none. Errors
// name a ranker by `kind` and number.
template <class T>
static State mixed(const std::vector<Mixed<T>>& rankers, const std::vector<double>& factors,
                   const std::optional<Mixed<T>>& base, std::size_t labels, bool restart,
                   const std::string& kind) {
    if (rankers.empty() || factors.size() != rankers.size())
        throw InputError("there must be rankers, and one factor for each");
    std::set<ModelMutex*> mutexes;  // in the same order for all callers
    for (const Mixed<T>& one : rankers) mutexes.insert(&std::get<0>(one)->mutex());
    if (base) mutexes.insert(&std::get<0>(*base)->mutex());
    std::vector<std::shared_lock<ModelMutex>> locks;
    for (ModelMutex* mutex : mutexes) locks.emplace_back(*mutex);
    std::vector<MixedRanker<T>> parts;
    for (const Mixed<T>& one : rankers) parts.push_back(part_of<T>(one, labels));
    MixedRanker<T> start;
    if (base) start = part_of<T>(*base, labels);
    LabelRanker<T> out(parts[0].ranker->config());
    out.add_labels(labels);
    Mixture<T>(parts, factors, base ? &start : nullptr, kind).write(out);
    if (restart) out.restart_certificate();
    nb::dict arrays, numbers;
    write_state(out, arrays, numbers);
    State state;
    state["arrays"] = arrays;
    state["numbers"] = numbers;
    return state;
}

template <class T>
static void add_mixture(nb::module_& module) {
    module.def("mixed", &mixed<T>, nb::arg("rankers"), nb::arg("factors"), nb::arg("base").none(),
               nb::arg("labels"), nb::arg("restart"), nb::arg("kind"));
}

void add_label_rankers(nb::module_& module) {
    add_facts<LabelCertificate>(module, "LabelCertificate")
        .def_ro("dual", &LabelCertificate::dual)
        .def_ro("penalty", &LabelCertificate::penalty)
        .def_ro("average", &LabelCertificate::average)
        .def_ro("cutoff", &LabelCertificate::cutoff)
        .def_ro("budget", &LabelCertificate::budget)
        .def_ro("temperature", &LabelCertificate::temperature)
        .def_ro("contestant", &LabelCertificate::contestant)
        .def_ro("rankers", &LabelCertificate::rankers);
    add_ranker<float>(module, "LabelRanker32");
    add_ranker<double>(module, "LabelRanker64");
    add_mixture<float>(module);
    add_mixture<double>(module);
}

}  // namespace tagalong::bind
