// The rules for the entropic geometry, where a label's score answers along a SimplexCurve.
// The same equations as in the linear case, solved by root finding: each evaluation of a curve
// costs O(1) for a binary x and O(distinct values of x) otherwise.
#pragma once

#include <functional>
#include <vector>

#include "curves.hpp"
#include "linear_pairs.hpp"
#include "step.hpp"

namespace tagalong {

// The curve of a label, relevant or not, in the present round.
using CurveOf = std::function<SimplexCurve(int label, bool relevant)>;

class CurvedRules {
  public:
    void single(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out);
    void pairs(PairScheme scheme, const Sides& sides, const CurveOf& curve, const RuleParameters& rule,
               Step& out);
    void optimal(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out);
    void smooth(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out);

  private:
    struct Side {
        std::vector<int> labels;
        std::vector<double> scores;
        std::vector<SimplexCurve> curves;
        std::vector<double> amounts;

        void clear();
        void add(int label, double score, const SimplexCurve& curve);
        // The mass moved when every curve is filled up to the level, each amount at most cap.
        double fill(double level, double cap);
        // The level at which the mass is moved.
        double level_for(double mass, double cap);
        double lowest_start() const;
        double highest_end(double cap) const;
    };
    void collect(const Sides& sides, const CurveOf& curve, double reach);

    Side relevant_;
    Side irrelevant_;
};

}  // namespace tagalong
