// The Python class of LabelRanker.
#include <string>

#include "bind/label_ranker_state.hpp"
#include "bind/module.hpp"
#include "bind/one_label.hpp"
#include "bind/ranker_bind.hpp"
#include "bind/ranker_config.hpp"
#include "ranker/label_ranker.hpp"

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

void add_label_rankers(nb::module_& module) {
    add_facts<LabelCertificate>(module, "LabelCertificate")
        .def_ro("dual", &LabelCertificate::dual)
        .def_ro("penalty", &LabelCertificate::penalty)
        .def_ro("average", &LabelCertificate::average)
        .def_ro("cutoff", &LabelCertificate::cutoff)
        .def_ro("budget", &LabelCertificate::budget)
        .def_ro("temperature", &LabelCertificate::temperature)
        .def_ro("contestant", &LabelCertificate::contestant);
    add_ranker<float>(module, "LabelRanker32");
    add_ranker<double>(module, "LabelRanker64");
}

}  // namespace tagalong::bind
