// The best step on a block of rows (P2, "optimal"): the dual of
//     min_w 1/2 |w - w_t|^2 + C max_j max(0, gamma - w.x_j) / v_j,
// a quadratic programme in the rows' coefficients:
//     max  l.lambda - 1/2 lambda' Q lambda,   lambda >= 0,  sum_j v_j lambda_j <= C,
// with Q the products of the rows, l_j = gamma - w_t.x_j and v_j > 0.
//
// It starts from the optimum without the products of different rows, where that is any good: for
// rows that have little in common it nearly is the solution. Two kinds of steps take turns. Pair
// steps move budget from the row (or the unused rest) that gains least to the one that gains most:
// cheap, and they find out which rows matter. A Newton step then goes to the optimum over those rows, as far as no coefficient becomes negative; once
// the right rows are known, that ends it. Where rows depend on each other the step is long, and
// the first coefficient to become zero leaves. Every step raises the objective.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "blocks/update_rules.hpp"

namespace tagalong {

class BlockQp {
  public:
    // Q is m x m, symmetric, row by row. `lambda` is where to start, if it has m entries, and the
    // result. Returns how often both kinds of steps were taken.
    int solve(std::span<const double> Q, std::span<const double> l, std::span<const double> v,
              double budget, std::vector<double>& lambda);

    // C max_j max(0, g_j) / v_j - g.lambda of the last solution, g the gradient: how far its
    // objective can be from the optimum.
    double gap() const { return gap_; }

  private:
    void load(std::span<const double> Q, std::span<const double> l, std::span<const double> v);
    double measure_gap() const;
    bool pair_step();
    enum class Newton { whole, part, none };
    Newton newton_step();
    struct StepLength {
        double length;
        std::size_t
            blocking;  // the place in free_ of the coefficient that becomes zero; their number if none does
        bool fills;  // whether the budget is used up
    };
    StepLength longest_step(double spending) const;
    bool choose_free_rows();
    void move(std::size_t j, double amount);
    void move_together(std::span<const std::size_t> rows, std::span<const double> amounts);
    void take_from_gradient(std::span<const double> amounts);
    void start(std::span<const double> l, std::span<const double> v,
               const std::vector<double>& lambda);
    bool separate_start(std::span<const double> l, std::span<const double> v);
    void find_direction();
    void factorise();

    // In units of budget: u_j = v_j lambda_j, so that the constraint is sum_j u_j <= C.
    std::size_t m_ = 0;
    std::span<const double> Q_;
    std::vector<double> scaled_;  // Q_, if the v_j are not all 1
    std::vector<double> u_;
    std::vector<double> g_;  // the gradient
    std::vector<BlockRow> separate_;
    double budget_ = 0;
    double unused_ = 0;
    double gap_ = 0;
    // Scratch of a Newton step.
    std::vector<std::size_t> rows_now_;
    std::vector<std::size_t> in_use_;  // the rows that factor_ belongs to, ascending
    std::vector<std::size_t> free_;    // the same rows, the largest coefficient last
    bool tight_ = false;               // whether factor_ is that of the whole budget
    std::vector<double> factor_, direction_, amounts_, with_last_;
};

}  // namespace tagalong
