// The tables of update rules, as tuples of read-only objects.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <span>

#include "bind/module.hpp"
#include "blocks/rule_table.hpp"
#include "predtron/rule_table.hpp"
#include "rules/rule_table.hpp"

namespace nb = nanobind;

namespace tagalong::bind {

// The name of a kind of mistake bound in tagalong.learning.update_rules.
static const char* bound_name(MistakeBound bound) {
    switch (bound) {
        case MistakeBound::full_step:
            return "step given";
        case MistakeBound::best_step:
            return "step chosen";
        default:
            return "none";
    }
}

// The rows live as long as the module does.
template <class Rule>
static nb::typed<nb::tuple, Rule, nb::ellipsis> rows(std::span<const Rule> rules) {
    nb::list out;
    for (const Rule& rule : rules) out.append(nb::cast(&rule, nb::rv_policy::reference));
    return nb::tuple(out);
}

// The columns that rules over labels and over blocks have in common.
template <class Rule>
static nb::class_<Rule> add_rule(nb::module_& module, const char* name) {
    return nb::class_<Rule>(module, name)
        .def_ro("name", &Rule::name)
        .def_ro("description", &Rule::description)
        .def_ro("paper", &Rule::paper)
        .def_prop_ro("entropic", [](const Rule& rule) { return rule.entropic != nullptr; })
        .def_prop_ro("bound", [](const Rule& rule) { return bound_name(rule.bound); });
}

void add_update_rules(nb::module_& module) {
    add_rule<LabelRule>(module, "LabelRule")
        .def_ro("entropic_instead", &LabelRule::entropic_instead)
        .def_ro("few_labels", &LabelRule::few_labels)
        .def_ro("interior_point", &LabelRule::interior_point);
    add_rule<BlockRule>(module, "BlockRule")
        .def_prop_ro("worst_row_only",
                     [](const BlockRule& rule) { return rule.rows == ActiveRows::worst; });
    nb::class_<PredtronUpdate>(module, "PredtronUpdate")
        .def_ro("name", &PredtronUpdate::name)
        .def_ro("description", &PredtronUpdate::description)
        .def_ro("by_loss", &PredtronUpdate::by_loss);
    module.def("label_rules", [] { return rows(label_rules()); });
    module.def("block_rules", [] { return rows(block_rules()); });
    module.def("predtron_updates",
               [] { return rows(std::span<const PredtronUpdate>(kPredtronUpdates)); });
}

}  // namespace tagalong::bind
