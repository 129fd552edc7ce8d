// BlockQp and BlockSimplex: the optimal step on a block is feasible and satisfies the KKT
// conditions for all kinds of rows.
#include <algorithm>
#include <cmath>
#include <vector>

#include "blocks/block_matrix.hpp"
#include "blocks/quadratic_program.hpp"
#include "blocks/simplex_program.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::block_qp_test {
namespace {

struct Problem {
    std::size_t rows = 0;
    std::vector<double> Q, l, v;
    double budget = 1;

    double objective(const std::vector<double>& lambda) const {
        double sum = 0;
        for (std::size_t j = 0; j < rows; ++j) {
            sum += l[j] * lambda[j];
            for (std::size_t k = 0; k < rows; ++k)
                sum -= 0.5 * lambda[j] * lambda[k] * Q[j * rows + k];
        }
        return sum;
    }
    double gradient(const std::vector<double>& lambda, std::size_t j) const {
        double sum = l[j];
        for (std::size_t k = 0; k < rows; ++k) sum -= Q[j * rows + k] * lambda[k];
        return sum;
    }
    double spent(const std::vector<double>& lambda) const {
        double sum = 0;
        for (std::size_t j = 0; j < rows; ++j) sum += v[j] * lambda[j];
        return sum;
    }
};

enum class Kind { independent, duplicated, dependent, orthogonal };
constexpr Kind kKinds[] = {Kind::independent, Kind::duplicated, Kind::dependent, Kind::orthogonal};

Problem random_problem(Random& random, Kind kind, std::size_t rows) {
    // Dependent rows: fewer features than rows.
    const std::size_t features = kind == Kind::dependent ? 1 + rows / 3 : rows + 3;
    std::vector<double> X(rows * features, 0.0);
    for (std::size_t j = 0; j < rows; ++j)
        for (std::size_t i = 0; i < features; ++i) {
            if (kind == Kind::orthogonal)
                X[j * features + i] = i == j ? random.between(0.3, 3) : 0.0;
            else if (kind == Kind::duplicated && j % 2 == 1)
                X[j * features + i] = X[(j - 1) * features + i];
            else X[j * features + i] = random.normal();
        }
    Problem problem;
    problem.rows = rows;
    for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t k = 0; k < rows; ++k) {
            double sum = 0;
            for (std::size_t i = 0; i < features; ++i)
                sum += X[j * features + i] * X[k * features + i];
            problem.Q.push_back(sum);
        }
        problem.l.push_back(random.between(-0.5, 2));
        problem.v.push_back(random.chance(0.5) ? 1 : random.magnitude(0.2, 5));
    }
    if (kind == Kind::duplicated)
        for (std::size_t j = 1; j < rows; j += 2) problem.l[j] = problem.l[j - 1];
    problem.budget = random.magnitude(1e-4, 1e3);
    return problem;
}

// Feasible; and no row has a larger gain per unit of budget than the rows with a coefficient.
void check_conditions(const Problem& problem, const std::vector<double>& lambda) {
    same(lambda.size(), problem.rows);
    double size = 0, price = 0, product = 0;
    for (std::size_t j = 0; j < problem.rows; ++j) {
        at_most(0, lambda[j]);
        size += std::abs(problem.l[j]) * lambda[j];
        price = std::max(price, problem.gradient(lambda, j) / problem.v[j]);
        product += problem.gradient(lambda, j) * lambda[j];
    }
    at_most(problem.spent(lambda), problem.budget * (1 + 1e-10));
    near(problem.budget * price, product, 1e-8 * size);
}

const Test optimum{"block qp: feasible and optimal on all kinds of rows", [] {
                       Random random(1);
                       for (const Kind kind : kKinds)
                           for (int repeat = 0; repeat < 60; ++repeat) {
                               const auto rows = static_cast<std::size_t>(
                                   1 + random.below(repeat % 10 == 0 ? 60 : 12));
                               const Problem problem = random_problem(random, kind, rows);
                               const Note note("kind ", static_cast<int>(kind), ", repeat ", repeat,
                                               ", rows ", rows, ", budget ", problem.budget);
                               BlockQp qp;
                               std::vector<double> lambda;
                               qp.solve(problem.Q, problem.l, problem.v, problem.budget, lambda);
                               check_conditions(problem, lambda);
                               double size = 0;
                               for (std::size_t j = 0; j < rows; ++j)
                                   size += std::abs(problem.l[j]) * lambda[j];
                               at_most(qp.gap(), 1e-8 * size);
                           }
                   }};

const Test better{"block qp: no feasible point is better", [] {
                      Random random(2);
                      for (int repeat = 0; repeat < 40; ++repeat) {
                          const Problem problem = random_problem(random, kKinds[repeat % 4], 5);
                          const Note note("repeat ", repeat);
                          BlockQp qp;
                          std::vector<double> lambda;
                          qp.solve(problem.Q, problem.l, problem.v, problem.budget, lambda);
                          const double best = problem.objective(lambda);
                          for (int trial = 0; trial < 200; ++trial) {
                              // A random point near the solution, scaled back into the feasible
                              // set.
                              std::vector<double> other = lambda;
                              const double reach = problem.budget * random.magnitude(1e-6, 1);
                              for (double& value : other)
                                  value = std::max(0.0, value + reach * random.normal());
                              const double spent = problem.spent(other);
                              if (spent > problem.budget)
                                  for (double& value : other) value *= problem.budget / spent;
                              at_most(problem.objective(other), best + 1e-9 * std::abs(best));
                          }
                      }
                  }};

const Test separate{
    "block qp: orthogonal rows within the budget take their unconstrained steps", [] {
        Random random(3);
        Problem problem = random_problem(random, Kind::orthogonal, 7);
        problem.budget = 1e4;
        BlockQp qp;
        std::vector<double> lambda;
        qp.solve(problem.Q, problem.l, problem.v, problem.budget, lambda);
        for (std::size_t j = 0; j < 7; ++j)
            near(lambda[j], std::max(0.0, problem.l[j]) / problem.Q[j * 7 + j], 1e-12);
    }};

const Test warm{
    "block qp: every start leads to the same value, and an optimal start does not move", [] {
        Random random(4);
        for (int repeat = 0; repeat < 60; ++repeat) {
            const Problem problem = random_problem(random, kKinds[repeat % 4], 9);
            const Note note("repeat ", repeat);
            BlockQp qp;
            std::vector<double> cold, start(9);
            qp.solve(problem.Q, problem.l, problem.v, problem.budget, cold);
            const double best = problem.objective(cold);
            // Some starts exceed the budget: they are scaled to it.
            for (double& value : start)
                value = random.chance(0.3) ? 0 : problem.budget * random.magnitude(1e-3, 2);
            qp.solve(problem.Q, problem.l, problem.v, problem.budget, start);
            check_conditions(problem, start);
            near(problem.objective(start), best, 1e-8 * std::abs(best));
            std::vector<double> again = cold;
            at_most(qp.solve(problem.Q, problem.l, problem.v, problem.budget, again), 1);
            near(problem.objective(again), best, 1e-10 * std::abs(best));
        }
    }};

const Test reused{"block qp: a reused solver gives the results of a new one", [] {
                      Random random(5);
                      BlockQp used;
                      for (int repeat = 0; repeat < 40; ++repeat) {
                          const auto rows = static_cast<std::size_t>(1 + random.below(15));
                          const Problem problem = random_problem(random, kKinds[repeat % 4], rows);
                          BlockQp fresh;
                          std::vector<double> first, second;
                          fresh.solve(problem.Q, problem.l, problem.v, problem.budget, first);
                          used.solve(problem.Q, problem.l, problem.v, problem.budget, second);
                          same_bits(second, first);
                      }
                  }};

const Test nothing{"block qp: no rows, no losses, equal rows", [] {
                       BlockQp qp;
                       std::vector<double> lambda;
                       qp.solve({}, {}, {}, 1, lambda);
                       same(lambda.size(), 0u);
                       const std::vector<double> Q{2, 0, 0, 3}, satisfied{-1, 0}, v{1, 1};
                       qp.solve(Q, satisfied, v, 1, lambda);
                       same_bits(lambda, std::vector<double>{0, 0});
                       // Two equal rows share the step of one row.
                       const std::vector<double> equal{2, 2, 2, 2}, losses{1, 1};
                       lambda.clear();
                       qp.solve(equal, losses, v, 10, lambda);
                       near(lambda[0] + lambda[1], 0.5, 1e-12);
                   }};

// The gap is computed here from the coefficients only.
const Test simplex{"block simplex: feasible, with a duality gap of zero", [] {
                       Random random(6);
                       for (int repeat = 0; repeat < 400; ++repeat) {
                           const auto rows = static_cast<std::size_t>(1 + random.below(8));
                           constexpr std::size_t features = 15;
                           const double budget = random.magnitude(0.01, 100);
                           double margin = random.between(0.05, 0.5);
                           const Note note("repeat ", repeat, ", rows ", rows, ", budget ", budget);
                           RowBlock block;
                           std::vector<std::size_t> all;
                           std::vector<double> weights(features), v(rows), lambda;
                           for (std::size_t j = 0; j < rows; ++j) {
                               for (std::size_t i = 0; i < features; ++i)
                                   if (random.chance(0.7))
                                       block.add(static_cast<std::int32_t>(i), random.normal());
                               block.end_row();
                               all.push_back(j);
                           }
                           BlockMatrix matrix;
                           matrix.load(block, all);
                           weights.resize(matrix.features().size());
                           double total = random.chance(0.5) ? 0 : 1;
                           const double outside = total;
                           for (double& weight : weights)
                               total += weight = random.magnitude(1e-4, 1);
                           for (double& weight : weights) weight /= total;
                           for (double& value : v)
                               value = random.chance(0.5) ? 1 : random.magnitude(0.3, 3);
                           // In half of the rounds all rows are close to the margin, so that the
                           // optimum is small: it must still be accurate relative to its size.
                           if (repeat % 2) {
                               double least = 1e300;
                               for (std::size_t j = 0; j < rows; ++j) {
                                   least = std::min(least, matrix.product(j, weights));
                               }
                               margin = std::max(0.01, least + random.magnitude(1e-3, 1e-1));
                           }
                           BlockSimplexProgram solver;
                           solver.solve(matrix, weights, outside / total, v, margin, budget,
                                        lambda);

                           double spent = 0, mass = 0, top = 0;
                           std::vector<double> exponent(weights.size(), 0.0);
                           for (std::size_t j = 0; j < rows; ++j) {
                               at_most(0, lambda[j]);
                               spent += v[j] * lambda[j];
                               mass += lambda[j];
                               matrix.add(j, lambda[j], exponent);
                           }
                           at_most(spent, budget * (1 + 1e-10));
                           for (const double one : exponent) top = std::max(top, one);
                           double Z = outside / total * std::exp(-top);
                           for (std::size_t i = 0; i < weights.size(); ++i)
                               Z += weights[i] * std::exp(exponent[i] - top);
                           std::vector<double> tilted;
                           for (std::size_t i = 0; i < weights.size(); ++i)
                               tilted.push_back(weights[i] * std::exp(exponent[i] - top) / Z);
                           double price = 0, product = 0;
                           for (std::size_t j = 0; j < rows; ++j) {
                               const double gradient = margin - matrix.product(j, tilted);
                               price = std::max(price, gradient / v[j]);
                               product += gradient * lambda[j];
                           }
                           const double value = margin * mass - std::log(Z) - top;
                           at_most(budget * price - product, 1e-8 * value + 1e-15 * (1 + budget));
                       }
                   }};

}  // namespace
}  // namespace tagalong::test::block_qp_test
