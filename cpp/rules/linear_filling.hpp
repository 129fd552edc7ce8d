// P1's Update III (Sopopo in P2) for the linear geometries, exactly, by water-filling.
//
//     max  gamma m - sum_y (rho_y alpha_y + |x|^2 alpha_y^2 / 2)
//     s.t. alpha >= 0 on Y, <= 0 elsewhere, both sides summing to m <= C
//
// The relevant labels are raised to a common level u, the irrelevant ones lowered to a common
// level v, and both sides move the same mass m: until u - v = gamma or m = C. Between the
// masses at which a further label joins a side, both levels are linear in m.
#pragma once

#include <span>
#include <vector>

#include "rules/step.hpp"

namespace tagalong {

class LinearFilling {
  public:
    void step(const Sides& sides, double q, const RuleParameters& rule, Step& out);

  private:
    // One side, with the sign that makes "raise the lowest" the move on both: scores of
    // relevant labels, negated scores of irrelevant ones.
    struct Side {
        struct Entry {
            double height;
            int label;
        };
        std::vector<Entry> entries;  // in the order in which they join
        std::size_t joined = 0;
        double sum = 0;  // of the joined heights

        // With the first label joined, the lowest of equals.
        void start();
        void join() { sum += entries[joined++].height; }
        void join_all() {
            joined = 0;
            sum = 0;
            while (joined < entries.size()) join();
        }
        // The mass at which the next label joins.
        double next_mass(double q) const;
        double level(double mass, double q) const { return (q * mass + sum) / count(); }
        double count() const { return static_cast<double>(joined); }
    };
    // The levels that the passes came to, and whether they are the solution.
    struct Sieved {
        double u, v;
        bool settled;
    };
    Sieved sieve(const Sides& sides, double q, const RuleParameters& rule);
    double solve(const Sides& sides, double q, const RuleParameters& rule);
    std::span<const double> keep(const Sides& sides, double bound);
    void enter(const Sides& sides, double bound);
    double fill(double q, const RuleParameters& rule);

    Side relevant_;
    Side irrelevant_;
    std::size_t kept_count_ = 0;
    std::vector<int> kept_;            // irrelevant labels that the sieve has left ...
    std::vector<double> kept_scores_;  // ... and their scores; both have room for all
};

}  // namespace tagalong
