// The rules that move a single pair of labels: the lowest relevant one r and the highest irrelevant
// one s. They write alpha_r = t and alpha_s = -t.
#pragma once

#include "rules/entropic_rules.hpp"
#include "rules/pair_step.hpp"
#include "rules/step.hpp"

namespace tagalong {

// P1's Update I (Eq. 8), in any geometry: t = C after a mistake, no step otherwise.
struct FixedStep {
    void step(const Sides& sides, double, const RuleParameters& rule, Step& out) {
        move(sides, rule, out);
    }
    void step(const Sides& sides, const CurveOf&, const RuleParameters& rule, Step& out) {
        move(sides, rule, out);
    }

  private:
    static void move(const Sides& sides, const RuleParameters& rule, Step& out) {
        if (sides.mistake())
            out.set_pair(sides.lowest_relevant, sides.highest_irrelevant(), rule.budget);
    }
};

// P1's Update II (Eq. 9) for the linear geometries; EntropicRules::single is the entropic version.
struct LinearSingle {
    void step(const Sides& sides, double q, const RuleParameters& rule, Step& out) {
        const LinearCurve raised{sides.lowest_score, q}, lowered{-sides.highest_score, q};
        out.set_pair(sides.lowest_relevant, sides.highest_irrelevant(),
                     pair_step(raised, lowered, rule.margin, rule.budget));
    }
};

}  // namespace tagalong
