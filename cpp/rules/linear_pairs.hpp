// P2's schemes over all pairs of a relevant and an irrelevant label, for the linear geometries.
//
// The pair (r, s) has the loss l = gamma - (rho_r - rho_s) and the squared length v = 2|x|^2.
// Each scheme gives it a coefficient lambda_rs, and a label's step is the sum over its pairs:
//     SimPerc  C / |M|                 on M, the pairs ranked wrongly (rho_r <= rho_s)
//     ConProj  min(C, l/v) / |M|       on M
//     SimProj  min(C, l/v) / |Gamma|   on Gamma, the pairs with l > 0
//     SimOpt   max(0, l - kappa) / v   with the smallest kappa >= 0 that keeps the sum within C
// For a label the pairs in play are those with the best scores of the other side, so sorting
// and prefix sums give all sums in O(K log K), without touching the |Y| K pairs.
#pragma once

#include "rules/step.hpp"

namespace tagalong {

// Which pairs take part, and what a pair is given before it is divided by their number.
struct PairScheme {
    enum class Pairs { mistaken, losing } pairs;
    enum class Amount { budget, own_step, surrogate } amount;

    bool operator==(const PairScheme&) const = default;
};

inline constexpr PairScheme kSimPerc{PairScheme::Pairs::mistaken, PairScheme::Amount::budget};
inline constexpr PairScheme kConProj{PairScheme::Pairs::mistaken, PairScheme::Amount::own_step};
inline constexpr PairScheme kSimProj{PairScheme::Pairs::losing, PairScheme::Amount::own_step};
inline constexpr PairScheme kSimOpt{PairScheme::Pairs::losing, PairScheme::Amount::surrogate};

class LinearPairs {
  public:
    void step(PairScheme scheme, const Sides& sides, double q, const RuleParameters& rule,
              Step& out);

  private:
    struct Entry {
        double score;
        int label;
    };
    // Scores of one side from the most to the least violating, with their prefix sums.
    struct Ordered {
        std::vector<Entry> entries;
        std::vector<double> sums;
        void finish(bool descending);
        std::size_t size() const { return entries.size(); }
        double sum(std::size_t from, std::size_t to) const { return sums[to] - sums[from]; }
    };

    template <class Sum>
    void distribute(Sum&& sum, Step& out) const;
    double surrogate_level(double margin, double target) const;

    Ordered relevant_;
    Ordered irrelevant_;
};

}  // namespace tagalong
