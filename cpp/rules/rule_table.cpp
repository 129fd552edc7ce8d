#include "rules/rule_table.hpp"

#include "rules/interior_point.hpp"
#include "rules/linear_pairs.hpp"
#include "rules/linear_smooth.hpp"
#include "rules/linear_water_filling.hpp"
#include "rules/one_pair.hpp"

namespace tagalong {
namespace {

// Makes a step function that owns its scratch memory. Without an Iterative class the solver has no
// effect.
template <class Exact, class Iterative = Exact>
LinearStep linear(Solver solver) {
    const auto make = [](auto found) -> LinearStep {
        return [step = std::move(found)](const Sides& sides, double q, const RuleParameters& rule,
                                         Step& out) mutable { step.step(sides, q, rule, out); };
    };
    return solver == Solver::interior_point ? make(Iterative()) : make(Exact());
}

template <class Exact, class Iterative = Exact>
EntropicStep entropic(Solver solver) {
    const auto make = [](auto found) -> EntropicStep {
        return [step = std::move(found)](const Sides& sides, const CurveOf& curve,
                                         const RuleParameters& rule,
                                         Step& out) mutable { step.step(sides, curve, rule, out); };
    };
    return solver == Solver::interior_point ? make(Iterative()) : make(Exact());
}

// Adapters from PairScheme to the two kinds of step classes.
template <PairScheme scheme>
struct LinearPairStep {
    LinearPairs pairs;
    void step(const Sides& sides, double q, const RuleParameters& rule, Step& out) {
        pairs.step(scheme, sides, q, rule, out);
    }
};

template <PairScheme scheme>
struct EntropicPairStep {
    EntropicRules rules;
    void step(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out) {
        rules.pairs(scheme, sides, curve, rule, out);
    }
};

// Adapter from a method of EntropicRules.
template <auto method>
struct EntropicMethod {
    EntropicRules rules;
    void step(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out) {
        (rules.*method)(sides, curve, rule, out);
    }
};

constexpr LabelRule kLabelRules[] = {
    {.name = "fixed",
     .description = "moves the worst pair of labels by C after a mistake",
     .paper = "P1 I",
     .linear = linear<FixedStep>,
     .entropic = entropic<FixedStep>,
     .few_labels = true,
     .bound = MistakeBound::full_step},
    {.name = "single",
     .description = "takes the best step on the worst pair of labels",
     .paper = "P1 II",
     .linear = linear<LinearSingle>,
     .entropic = entropic<EntropicMethod<&EntropicRules::single>>,
     .few_labels = true,
     .bound = MistakeBound::best_step},
    {.name = "optimal",
     .description = "takes the best step on all labels",
     .paper = "P1 III",
     .linear = linear<LinearWaterFilling, LinearInteriorPoint>,
     .entropic = entropic<EntropicMethod<&EntropicRules::optimal>, InteriorPoint<SimplexCurve>>,
     .interior_point = true,
     .bound = MistakeBound::best_step},
    {.name = "simperc",
     .description = "shares C among the pairs ranked wrongly",
     .paper = "P2 SimPerc",
     .linear = linear<LinearPairStep<kSimPerc>>,
     .entropic = entropic<EntropicPairStep<kSimPerc>>,
     .bound = MistakeBound::full_step},
    {.name = "conproj",
     .description = "averages the best steps on the pairs ranked wrongly",
     .paper = "P2 ConProj",
     .linear = linear<LinearPairStep<kConProj>>,
     .entropic = entropic<EntropicPairStep<kConProj>>,
     .bound = MistakeBound::best_step},
    {.name = "simproj",
     .description = "averages the best steps on the pairs with a positive loss",
     .paper = "P2 SimProj",
     .linear = linear<LinearPairStep<kSimProj>>,
     .entropic = entropic<EntropicPairStep<kSimProj>>},
    {.name = "simopt",
     .description = "takes the best step on all pairs as if they did not overlap",
     .paper = "P2 SimOpt",
     .linear = linear<LinearPairStep<kSimOpt>>,
     .entropic_instead = "simproj"},
    {.name = "smooth",
     .description = "takes the best step of a smoothed loss on all labels",
     .linear = linear<LinearSmooth>,
     .entropic = entropic<EntropicMethod<&EntropicRules::smooth>>,
     .bound = MistakeBound::best_step},
};

}  // namespace

std::span<const LabelRule> label_rules() { return kLabelRules; }

const LabelRule& label_rule(std::string_view name) { return find_rule(label_rules(), name); }

}  // namespace tagalong
