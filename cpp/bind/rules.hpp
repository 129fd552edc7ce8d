// The rule that a dictionary of settings names.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <span>
#include <string>

#include "rules/find_rule.hpp"

namespace tagalong::bind {

// InputError if there is no rule of that name, or none in the entropic geometry where that is the setting.
template <class Rule>
const Rule* chosen_rule(std::span<const Rule> rules, const nanobind::dict& settings) {
    const auto name = nanobind::cast<std::string>(settings["update"]);
    const Rule& rule = find_rule(rules, name);
    if (nanobind::cast<std::string>(settings["geometry"]) == "entropic" && rule.entropic == nullptr)
        throw InputError("update='" + name + "' does not exist for geometry='entropic'");
    return &rule;
}

}  // namespace tagalong::bind
