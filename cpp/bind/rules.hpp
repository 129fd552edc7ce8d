// Maps the names in settings to enumerators and update rules.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "rules/find_rule.hpp"

namespace tagalong::bind {

template <class Choice>
using Choices = std::initializer_list<std::pair<const char*, Choice>>;

// Throws InputError if no choice has this name.
template <class Choice>
Choice choose(Choices<Choice> choices, const std::string& name, const char* what) {
    for (const auto& [known, choice] : choices)
        if (name == known) return choice;
    throw InputError(std::string(what) + " has no choice '" + name + "'");
}

// Throws InputError if no rule has this name, or if the rule has no step in the given geometry.
template <class Rule>
const Rule* chosen_rule(std::span<const Rule> rules, const std::string& name,
                        const std::string& geometry) {
    const Rule& rule = find_rule(rules, name);
    if (geometry == "entropic" && rule.entropic == nullptr)
        throw InputError("update='" + name + "' does not exist for geometry='entropic'");
    return &rule;
}

}  // namespace tagalong::bind
