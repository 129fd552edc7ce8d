// The best step on a block of rows in the entropic geometry:
//     max  gamma sum_j lambda_j - log sum_i w_i exp(sum_j lambda_j x_ji),
//     lambda >= 0,  sum_j v_j lambda_j <= C,
// the dual of  min_w KL(w || w_t) + C max_j max(0, gamma - w.x_j) / v_j  over the simplex.
//
// It is smooth and concave: each turn solves the quadratic model with the covariance of the rows
// as its curvature, and follows its step as far as the objective rises enough. Near the optimum
// the objective's digits run out before the gap's, so there a smaller gap counts as progress too.
#pragma once

#include <span>
#include <vector>

#include "blocks/block_matrix.hpp"
#include "blocks/quadratic_program.hpp"

namespace tagalong {

class BlockSimplex {
  public:
    // `weights` are w_i of the matrix's features, `outside` the weight of all others.
    // Returns the number of turns.
    int solve(BlockMatrix& rows, std::span<const double> weights, double outside,
              std::span<const double> v, double margin, double budget, std::vector<double>& lambda);
    // How far the objective of the last solution can be from the optimum.
    double gap() const { return now_.gap; }
    // The weights of the matrix's features after the step.
    const std::vector<double>& tilted() const { return now_.tilted; }

  private:
    struct Problem {
        const BlockMatrix& rows;
        std::span<const double> weights;
        double outside;
        std::span<const double> v;
        double margin, budget;
    };
    // All that is known about a choice of lambda.
    struct Point {
        std::vector<double> lambda;
        std::vector<double> tilted;  // w_i exp(sum_j lambda_j x_ji), normalised
        std::vector<double> mean, gradient;
        double outside = 0;  // what is left for the other features
        double value = 0, gap = 0;
        double rounding = 0;  // of the value
    };
    static void evaluate(const Problem& problem, Point& point);

    BlockQp qp_;
    Point now_, trial_;
    std::vector<double> curvature_, linear_, target_;
};

}  // namespace tagalong
