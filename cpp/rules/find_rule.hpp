// What the tables of update rules share: how a row is found by its name, and which bound holds.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/errors.hpp"

namespace tagalong {

// How the dual gain of a mistake depends on the step c that the rule takes on it.
enum class MistakeBound {
    none,
    step_given,   // c = C, whether that helps or not
    step_chosen,  // c = min(C, gamma / 2B)
};

template <class Rule>
const Rule& find_rule(std::span<const Rule> rules, std::string_view name) {
    for (const Rule& rule : rules)
        if (rule.name == name) return rule;
    throw InputError("update has no choice '" + std::string(name) + "'");
}

}  // namespace tagalong
