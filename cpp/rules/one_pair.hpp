// The rules that move a single pair: the lowest relevant and the highest irrelevant label.
#pragma once

#include "rules/curved.hpp"
#include "rules/pair_step.hpp"
#include "rules/step.hpp"

namespace tagalong {

// P1's Update I: the whole budget after a mistake, in any geometry.
struct FixedStep {
    void step(const Sides& sides, double, const RuleParameters& rule, Step& out) {
        move(sides, rule, out);
    }
    void step(const Sides& sides, const CurveOf&, const RuleParameters& rule, Step& out) {
        move(sides, rule, out);
    }

  private:
    static void move(const Sides& sides, const RuleParameters& rule, Step& out) {
        if (sides.mistake()) out.set_pair(sides.lowest, sides.highest, rule.budget);
    }
};

// P1's Update II for the linear geometries; CurvedRules::single is the entropic one.
struct LinearSingle {
    void step(const Sides& sides, double q, const RuleParameters& rule, Step& out) {
        const LinearCurve raised{sides.low, q}, lowered{-sides.below[sides.highest], q};
        out.set_pair(sides.lowest, sides.highest,
                     pair_step(raised, lowered, rule.margin, rule.budget));
    }
};

}  // namespace tagalong
