// The optimal step on a block of rows in the Euclidean geometry (rule `optimal`; P2, Eqs. 2 and 3):
//     min_w 1/2 |w - w_t|^2 + C max_j max(0, gamma - w.x_j) / v_j.
// Its dual is a quadratic programme in the coefficients of the rows:
//     max  l.lambda - 1/2 lambda' Q lambda   s.t.  lambda >= 0,  sum_j v_j lambda_j <= C,
// with Q the Gram matrix of the rows, l_j = gamma - w_t.x_j and v_j > 0.
//
// An active-set method. It starts from the optimum for diagonal Q, if that is good enough: for
// nearly orthogonal rows it is nearly the solution. Then two kinds of steps alternate:
// - Pair steps move budget from the row (or the unused budget) with the smallest gradient to the
//   row with the largest. They are cheap and identify the rows with positive coefficients, called
//   free.
// - Newton steps go towards the optimum over the free rows, as far as no coefficient becomes
//   negative. If a coefficient becomes zero, its row is no longer free; this happens often if rows
//   are linearly dependent. With the right free rows, one full step reaches the solution.
// Every step increases the objective.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "blocks/update_rules.hpp"

namespace tagalong {

class BlockQp {
  public:
    // Q is a symmetric m x m matrix in row-major order. `lambda` receives the solution; if it has m
    // entries, it is also the starting point (warm start). Returns the number of iterations, each
    // of which consists of both kinds of steps.
    int solve(std::span<const double> Q, std::span<const double> l, std::span<const double> v,
              double budget, std::vector<double>& lambda);

    // The duality gap C max_j max(0, g_j) / v_j - g.lambda of the last solution, with g the
    // gradient: an upper bound of the distance of its objective from the optimum.
    double gap() const { return gap_; }
    // Whether it needed fewer iterations than the limit. The solution is feasible in any case.
    bool solved() const { return solved_; }

  private:
    void load(std::span<const double> Q, std::span<const double> l, std::span<const double> v);
    double measure_gap() const;
    bool pair_step();
    enum class Newton { whole, part, none };
    Newton newton_step();
    struct StepLength {
        double length;
        std::size_t blocking;  // index in free_ of the row that becomes zero; free_.size() if none
        bool fills;            // whether the budget is used up
    };
    StepLength longest_step(double spending) const;
    bool choose_free_rows();
    void move(std::size_t j, double amount);
    void move_together(std::span<const std::size_t> rows, std::span<const double> amounts);
    void subtract_from_gradient(std::span<const double> amounts);
    void start(std::span<const double> l, std::span<const double> v,
               const std::vector<double>& lambda);
    bool surrogate_start(std::span<const double> l, std::span<const double> v);
    void find_direction();
    void factorise();

    // The variables are scaled to u_j = v_j lambda_j, so that the constraint is sum_j u_j <= C.
    std::size_t m_ = 0;
    std::span<const double> Q_;
    std::vector<double> scaled_;  // storage of Q_ if the v_j are not all 1
    std::vector<double> u_;
    std::vector<double> g_;  // gradient with respect to u
    std::vector<BlockRow> surrogate_rows_;
    double budget_ = 0;
    double unused_ = 0;
    double gap_ = 0;
    bool solved_ = true;
    // Scratch memory of a Newton step.
    std::vector<std::size_t> current_rows_;
    std::vector<std::size_t> factored_rows_;  // the free rows of factor_, ascending
    std::vector<std::size_t> free_;           // the same rows with the largest coefficient last
    bool tight_ = false;  // whether factor_ assumes that the whole budget is used
    std::vector<double> factor_, direction_, amounts_, with_last_;
};

}  // namespace tagalong
