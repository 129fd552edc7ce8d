// Common parts of the two tables of update rules: the look-up by name and the kinds of mistake
// bounds.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/errors.hpp"

namespace tagalong {

// A mistake increases the dual value by at least gamma c - B c^2, where B bounds the curvature of G
// (P1). The kinds differ in the step size c.
enum class MistakeBound {
    none,
    full_step,  // c = C: the rule takes the full step, even if that decreases the dual
    best_step,  // c = min(C, gamma / (2B)): the rule takes the best step
};

template <class Rule>
const Rule& find_rule(std::span<const Rule> rules, std::string_view name) {
    for (const Rule& rule : rules)
        if (rule.name == name) return rule;
    throw InputError("update has no choice '" + std::string(name) + "'");
}

}  // namespace tagalong
