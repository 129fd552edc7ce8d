// The setting that says whether every item has one label.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <mutex>
#include <string>

#include "bind/rules.hpp"
#include "predictions/confidence.hpp"

namespace tagalong::bind {

namespace nb = nanobind;

// Throws InputError if there is no such setting.
inline OneLabel one_label_named(const std::string& name) {
    return choose<OneLabel>(
        {{"auto", OneLabel::noticed}, {"yes", OneLabel::yes}, {"no", OneLabel::no}}, name,
        "one_label");
}

// For the rankers whose files have the setting.
template <class Ranker, class Interface>
void add_one_label_method(nb::class_<Ranker, Interface>& type) {
    type.def(
        "set_one_label",
        [](Ranker& self, const std::string& one_label) {
            const OneLabel setting = one_label_named(one_label);
            std::unique_lock lock(self.mutex());
            self.confidence().set_one_label(setting);
        },
        nb::arg("one_label"));
}

}  // namespace tagalong::bind
