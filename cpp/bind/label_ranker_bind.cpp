// LabelRanker for Python.
#include <map>
#include <string>

#include "ranker/label_ranker.hpp"
#include "bind/label_ranker_state.hpp"
#include "bind/module.hpp"
#include "bind/ranker_bind.hpp"
#include "bind/rules.hpp"

namespace tagalong::bind {

template <class Choice>
static Choice choose(const std::map<std::string, Choice>& choices, const std::string& name, const char* what) {
    const auto found = choices.find(name);
    if (found == choices.end()) throw InputError(std::string(what) + " has no choice '" + name + "'");
    return found->second;
}

static RankerConfig make_config(const nb::dict& given) {
    const auto text = [&](const char* key) { return nb::cast<std::string>(given[key]); };
    const auto number = [&](const char* key) { return nb::cast<double>(given[key]); };
    RankerConfig config;
    config.update = chosen_rule(label_rules(), given);
    config.geometry = choose<Geometry>({{"euclidean", Geometry::euclidean},
                                        {"adaptive", Geometry::adaptive},
                                        {"entropic", Geometry::entropic}},
                                       text("geometry"), "geometry");
    config.average = choose<Average>(
        {{"never", Average::never}, {"always", Average::always}, {"chosen", Average::chosen}}, text("average"),
        "average");
    config.solver = choose<Solver>({{"exact", Solver::exact}, {"interior-point", Solver::interior_point}},
                                   text("solver"), "solver");
    config.C = number("C");
    config.margin = number("margin");
    config.temperature = number("temperature");
    config.constant = number("constant");
    config.rate = number("rate");
    config.normalize = nb::cast<bool>(given["normalize"]);
    config.n_features = nb::cast<std::int64_t>(given["n_features"]);
    return config;
}

template <class T>
static void add_ranker(nb::module_& module, const char* name) {
    using Ranker = LabelRanker<T>;
    nb::class_<Ranker> type(module, name);
    type.def("__init__",
             [](Ranker* self, const nb::dict& config) { new (self) Ranker(make_config(config)); });
    add_ranker_methods<Ranker, T>(type);
    type.def("certificate", &certificate_dict<T>)
        .def("weights", &weights_dict<T>)
        .def("state", &state_dict<T>)
        .def("restore", &restore<T>)
        .def("recompute_dual",
             [](const Ranker& self) {
                 std::shared_lock lock(self.mutex());
                 return self.recompute_dual();
             })
        .def_prop_ro("bytes", [](const Ranker& self) {
            std::shared_lock lock(self.mutex());
            return self.store().bytes();
        });
}

void add_label_rankers(nb::module_& module) {
    add_ranker<float>(module, "LabelRanker32");
    add_ranker<double>(module, "LabelRanker64");
}

}  // namespace tagalong::bind
