// The table of the update rules over labels, one row per rule. It is the only source of their names
// and properties for the label ranker, the binding, the parameter checks in Python, the certificate
// and the command line.
//
// A rule is implemented by a class for the linear geometries with the method
//     void step(const Sides&, double q, const RuleParameters&, Step&),
// where q is |x|^2, and by a class for the entropic geometry with the method
//     void step(const Sides&, const CurveOf&, const RuleParameters&, Step&).
// The data members of these classes are scratch memory that is reused in every round.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "rules/entropic_rules.hpp"
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
    // The paper and its name for the rule, such as "P1 II"; empty if the rule is not from a paper.
    std::string_view paper{};
    LinearStep (*linear)(Solver) = nullptr;
    // Null if the rule has no entropic version; then entropic_instead names the recommended rule.
    EntropicStep (*entropic)(Solver) = nullptr;
    std::string_view entropic_instead{};
    bool few_labels = false;      // moves one pair per round; other rules move all tied labels
    bool interior_point = false;  // whether Solver::interior_point is available
    MistakeBound bound = MistakeBound::none;
};

// All rules in the order of user-visible lists.
std::span<const LabelRule> label_rules();
// The rule of that name. Throws InputError if there is none.
const LabelRule& label_rule(std::string_view name);

}  // namespace tagalong
