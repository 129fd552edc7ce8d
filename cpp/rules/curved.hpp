// The rules for the entropic geometry, where a label's score answers along a SimplexCurve.
// The same equations as in the linear case, solved by root finding: each evaluation of a curve
// costs O(1) for a binary x and O(distinct values of x) otherwise.
#pragma once

#include <functional>
#include <vector>

#include "rules/curves.hpp"
#include "rules/linear_pairs.hpp"
#include "rules/step.hpp"

namespace tagalong {

// The curve of a label, relevant or not, in the present round.
using CurveOf = std::function<SimplexCurve(int label, bool relevant)>;

class CurvedRules {
  public:
    void single(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out);
    void pairs(PairScheme scheme, const Sides& sides, const CurveOf& curve,
               const RuleParameters& rule, Step& out);
    void optimal(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out);
    void smooth(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out);

  private:
    // Labels with their curves, and how much each has moved.
    struct Side {
        std::vector<int> labels;
        std::vector<double> scores;
        std::vector<SimplexCurve> curves;
        std::vector<double> amounts;

        void clear();
        void add(int label, double score, const SimplexCurve& curve);
    };
    // A side filled up to a common level, each amount at most `cap`. Levels are log-odds of k
    // within the range of its values (see SimplexCurve).
    class Filling {
      public:
        void start(Side& side, double cap);
        // Moves a mass; k at the level reached, and how fast it rises with the mass.
        ValueSlope move(double mass);
        // Whether x has more than one value, so that scores can change at all.
        bool can_move() const { return most_ > least_; }

      private:
        // The mass moved at a level, and the rate at which it grows with it.
        ValueSlope at(double odds);
        double amount_at(std::size_t label, double odds) const;
        Side* side_ = nullptr;
        double cap_ = 0;
        double least_ = 0, most_ = 0;        // the range of k
        std::vector<double> starts_, ends_;  // log-odds at amounts 0 and cap
        double lowest_ = 0, highest_ = 0;
        double last_ = 0;  // level, where the next search starts
    };
    template <class InPlay>
    void collect(const Sides& sides, const CurveOf& curve, InPlay&& in_play);
    void fill(const RuleParameters& rule, Step& out);

    Side relevant_;
    Side irrelevant_;
    Filling raise_;
    Filling lower_;
};

}  // namespace tagalong
