// P2's schemes (its Fig. 3) over all pairs of a relevant and an irrelevant label, for the linear
// geometries.
//
// The pair (r, s) has the loss l = gamma - (rho_r - rho_s) and the squared norm v = 2|x|^2. Each
// scheme gives it a coefficient lambda_rs >= 0. The step of a label is the sum over its pairs,
// alpha_r = sum_s lambda_rs and alpha_s = -sum_r lambda_rs:
//     SimPerc  C / |M|                 on M, the pairs ranked wrongly (rho_r <= rho_s)
//     ConProj  min(C, l/v) / |M|       on M
//     SimProj  min(C, l/v) / |Gamma|   on Gamma, the pairs with l > 0
//     SimOpt   max(0, l - kappa) / v   with the smallest kappa >= 0 such that the sum is at most C
// The active pairs of a label are those with the most violating labels of the other side. Therefore
// sorting and prefix sums give all sums in O(K log K), without a loop over the |Y| K pairs.
#pragma once

#include "rules/step.hpp"

namespace tagalong {

// Which pairs are active, and the coefficient of a pair before division by the number of pairs
// (surrogate: no division).
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
    // The scores of one side from the most to the least violating, with prefix sums.
    struct Ordered {
        std::vector<Entry> entries;
        std::vector<double> sums;
        void finish(bool descending);
        std::size_t size() const { return entries.size(); }
        double sum(std::size_t from, std::size_t to) const { return sums[to] - sums[from]; }
    };

    template <class Sum>
    double distribute(Sum&& sum, Step& out) const;
    double surrogate_level(double margin, double target) const;

    Ordered relevant_;
    Ordered irrelevant_;
};

}  // namespace tagalong
