// The optimal step on a block of rows in the entropic geometry (rule `optimal`; P2, Eq. 21):
//     max   gamma sum_j lambda_j - log sum_i w_i exp(sum_j lambda_j x_ji)
//     s.t.  lambda >= 0,  sum_j v_j lambda_j <= C,
// the dual of  min_w KL(w || w_t) + C max_j max(0, gamma - w.x_j) / v_j  over the simplex (Eq. 20).
//
// The objective is smooth and concave. Sequential quadratic programming: each iteration maximises
// the quadratic model, whose curvature is the covariance of the rows, and backtracks until the
// objective increases enough. Near the optimum the objective loses precision before the duality gap
// does, so near the optimum a smaller gap also counts as progress.
#pragma once

#include <span>
#include <vector>

#include "blocks/block_matrix.hpp"
#include "blocks/quadratic_program.hpp"

namespace tagalong {

class BlockSimplexProgram {
  public:
    // `weights` are w_i of the features of the matrix, `outside` is the total weight of all other
    // features. `lambda` receives the solution. Returns the number of iterations.
    int solve(BlockMatrix& rows, std::span<const double> weights, double outside,
              std::span<const double> v, double margin, double budget, std::vector<double>& lambda);
    // The duality gap of the last solution.
    double gap() const { return current_.gap; }
    // Whether it needed fewer iterations than the limit. The solution is feasible in any case.
    bool solved() const { return solved_; }
    // The weights of the features of the matrix after the step.
    const std::vector<double>& tilted() const { return current_.tilted; }

  private:
    struct Problem {
        const BlockMatrix& rows;
        std::span<const double> weights;
        double outside;
        std::span<const double> v;
        double margin, budget;
    };
    // A point lambda with its objective and derivatives.
    struct Point {
        std::vector<double> lambda;
        std::vector<double> tilted;  // weights w_i exp(sum_j lambda_j x_ji), normalised
        std::vector<double> mean, gradient;
        double outside = 0;  // normalised total weight of the other features
        double value = 0, gap = 0;
        double rounding = 0;  // bound of the rounding error of `value`
    };
    static void evaluate(const Problem& problem, Point& point);

    BlockQp qp_;
    Point current_, trial_;
    bool solved_ = true;
    std::vector<double> curvature_, linear_, target_;
};

}  // namespace tagalong
