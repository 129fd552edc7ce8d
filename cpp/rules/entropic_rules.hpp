// The update rules for the entropic geometry, where scores follow a SimplexCurve (curves.hpp):
//     single    P1's Update II (Eq. 9)
//     pairs     P2's SimPerc, ConProj and SimProj over all pairs of labels (see linear_pairs.hpp)
//     optimal   P1's Update III (Eq. 11), by water-filling
//     smooth    the proximal step of the smoothed loss (smooth.hpp)
// The equations are those of the linear geometries, solved by root finding. Each evaluation of a
// curve costs O(1) for a binary x and O(number of distinct values of x) otherwise. The answer is
// the coefficients in `out`.
#pragma once

#include <functional>
#include <vector>

#include "rules/curves.hpp"
#include "rules/linear_pairs.hpp"
#include "rules/step.hpp"

namespace tagalong {

// Returns the curve of a label in the present round.
using CurveOf = std::function<SimplexCurve(int label, bool relevant)>;

class EntropicRules {
  public:
    void single(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out);
    void pairs(PairScheme scheme, const Sides& sides, const CurveOf& curve,
               const RuleParameters& rule, Step& out);
    void optimal(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out);
    void smooth(const Sides& sides, const CurveOf& curve, const RuleParameters& rule, Step& out);

  private:
    // The labels of one side with their curves and amounts |alpha|.
    struct Side {
        std::vector<int> labels;
        std::vector<double> scores;
        std::vector<SimplexCurve> curves;
        std::vector<double> amounts;

        void clear();
        void add(int label, double score, const SimplexCurve& curve);
        const SimplexCurve& curve_of(int label) const;
    };
    // Water-filling of one side: finds the common level at which the amounts have a given sum, each
    // amount at most `cap`. Levels are log-odds of k within the range of its values (SimplexCurve).
    class WaterFilling {
      public:
        void start(Side& side, double cap, Effort& effort);
        // Sets the amounts so that they sum to `mass`. Returns k at the common level, and its
        // derivative with respect to the mass.
        ValueSlope move(double mass);
        // Whether x has more than one value; otherwise no step can change a score.
        bool can_move() const { return most_ > least_; }

      private:
        // The sum of the amounts at a level, and its derivative with respect to the level.
        ValueSlope at(double odds);
        double amount_at(std::size_t label, double odds) const;
        Side* side_ = nullptr;
        Effort* effort_ = nullptr;
        double cap_ = 0;
        double least_ = 0, most_ = 0;        // the range of k
        std::vector<double> starts_, ends_;  // log-odds at amounts 0 and cap
        double lowest_ = 0, highest_ = 0;    // the range of levels
        double last_ = 0;                    // last level, where the next search starts
    };
    template <class IsActive>
    void collect(const Sides& sides, const CurveOf& curve, IsActive&& is_active);
    void fill(const Sides& sides, const RuleParameters& rule, Step& out);
    // The effort of a step on the collected labels.
    Effort effort() const;

    Side relevant_;
    Side irrelevant_;
    WaterFilling raise_;
    WaterFilling lower_;
};

}  // namespace tagalong
