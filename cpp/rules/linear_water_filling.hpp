// P1's Update III (Eq. 11; Sopopo in P2) for the linear geometries: an exact solution by
// water-filling.
//
//     max  gamma m - sum_y (rho_y alpha_y + q alpha_y^2 / 2),   q = |x|^2,
//     s.t. alpha >= 0 on Y, alpha <= 0 elsewhere, sum_Y |alpha| = sum_notY |alpha| = m <= C
//
// The input is the scores rho; the step receives alpha and the mass m. The solution raises the
// scores of the lowest relevant labels to a common level u and lowers the highest irrelevant ones
// to a common level v, with the same mass m on both sides, until u - v = gamma or m = C. The levels
// are piecewise linear in m, with a kink where another label joins its side.
#pragma once

#include <span>
#include <vector>

#include "rules/step.hpp"

namespace tagalong {

class LinearWaterFilling {
  public:
    void step(const Sides& sides, double q, const RuleParameters& rule, Step& out);

  private:
    // One side of the problem. Heights are the scores of relevant labels or the negated scores of
    // irrelevant ones, so that both sides raise their lowest heights.
    struct Side {
        struct Entry {
            double height;
            int label;
        };
        std::vector<Entry> entries;  // in the order in which they join
        std::size_t joined = 0;      // the number of labels that have joined
        double sum = 0;              // the sum of the heights of these labels

        // Sorts the entries and joins the first one.
        void start();
        void join() { sum += entries[joined++].height; }
        void join_all() {
            joined = 0;
            sum = 0;
            while (joined < entries.size()) join();
        }
        // The mass at which the next label joins; infinity if there is none.
        double next_mass(double q) const;
        double level(double mass, double q) const { return (q * mass + sum) / count(); }
        double count() const { return static_cast<double>(joined); }
    };
    // The levels after the last pass of find_moving_labels(), and whether they are the solution.
    struct Levels {
        double u, v;
        bool converged;
    };
    Levels find_moving_labels(const Sides& sides, double q, const RuleParameters& rule);
    double solve(const Sides& sides, double q, const RuleParameters& rule);
    std::span<const double> collect_above(const Sides& sides, double bound);
    void add_irrelevant_above(const Sides& sides, double bound);
    double fill_sorted(double q, const RuleParameters& rule);

    Side relevant_;
    Side irrelevant_;
    std::size_t collected_count_ = 0;
    std::vector<int> collected_;            // the remaining irrelevant labels ...
    std::vector<double> collected_scores_;  // ... and their scores; both have room for all labels
};

}  // namespace tagalong
