// The update rules over labels, one row each. The label ranker, the binding, Python's checks, the
// certificate and the command line take names and properties from here and from nowhere else.
//
// A rule's step for the linear geometries is a class with
//     void step(const Sides&, double q, const RuleParameters&, Step&)
// where q is |x|^2, and for the entropic geometry one with
//     void step(const Sides&, const CurveOf&, const RuleParameters&, Step&).
// Its members are scratch that is used again from round to round.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "rules/curved.hpp"
#include "rules/find_rule.hpp"
#include "rules/step.hpp"

namespace tagalong {

enum class Solver { exact, interior_point };

using LinearStep = std::function<void(const Sides&, double q, const RuleParameters&, Step&)>;
using EntropicStep =
    std::function<void(const Sides&, const CurveOf&, const RuleParameters&, Step&)>;

struct LabelRule {
    std::string_view name;
    std::string_view description;  // one line, for help texts
    std::string_view paper =
        "";  // the paper and its name for the rule, such as "P1 II"; empty if new
    LinearStep (*linear)(Solver) = nullptr;
    EntropicStep (*entropic)(Solver) =
        nullptr;  // null if the rule has no step in the entropic geometry ...
    std::string_view entropic_instead = "";  // ... and the rule to use there instead
    bool few_labels = false;      // moves one pair a round; others move all labels that tie
    bool interior_point = false;  // whether Solver::interior_point gives its step too
    MistakeBound bound = MistakeBound::none;
};

// In the order in which they are listed to users.
std::span<const LabelRule> label_rules();
// InputError if there is none of that name.
const LabelRule& label_rule(std::string_view name);

}  // namespace tagalong
