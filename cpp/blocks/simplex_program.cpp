#include "blocks/simplex_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tagalong {
namespace {

constexpr int kMaxIterations = 200;
constexpr double kTolerance = 1e-12;

}  // namespace

void BlockSimplexProgram::evaluate(const Problem& problem, Point& point) {
    const std::size_t n = problem.weights.size(), m = problem.rows.rows();
    point.tilted.assign(n, 0.0);
    double mass = 0;
    for (std::size_t j = 0; j < m; ++j) {
        mass += point.lambda[j];
        if (point.lambda[j] != 0) problem.rows.add(j, point.lambda[j], point.tilted);
    }
    double top = problem.outside > 0 ? 0 : -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i)
        if (problem.weights[i] > 0) top = std::max(top, point.tilted[i]);
    point.outside = problem.outside > 0 ? problem.outside * std::exp(-top) : 0;
    double total = point.outside;
    for (std::size_t i = 0; i < n; ++i)
        total += point.tilted[i] =
            problem.weights[i] > 0 ? problem.weights[i] * std::exp(point.tilted[i] - top) : 0;
    for (double& weight : point.tilted) weight /= total;
    point.outside /= total;
    point.value = problem.margin * mass - std::log(total) - top;
    point.rounding =
        1e-15 * (1 + problem.margin * mass + std::abs(std::log(total)) + std::abs(top));

    point.mean.resize(m);
    point.gradient.resize(m);
    double most = 0, product = 0;
    for (std::size_t j = 0; j < m; ++j) {
        point.mean[j] = problem.rows.product(j, point.tilted);
        point.gradient[j] = problem.margin - point.mean[j];
        most = std::max(most, point.gradient[j] / problem.v[j]);
        product += point.gradient[j] * point.lambda[j];
    }
    point.gap = std::max(0.0, problem.budget * most - product);
}

int BlockSimplexProgram::solve(BlockMatrix& rows, std::span<const double> weights, double outside,
                               std::span<const double> v, double margin, double budget,
                               std::vector<double>& lambda) {
    const Problem problem{rows, weights, outside, v, margin, budget};
    const std::size_t m = rows.rows();
    current_.lambda.assign(m, 0.0);
    evaluate(problem, current_);
    int iteration = 0;
    for (; iteration < kMaxIterations; ++iteration) {
        if (current_.gap <= kTolerance * std::abs(current_.value)) break;
        rows.covariance(current_.tilted, current_.outside, current_.mean, curvature_);
        double largest = 0;
        for (std::size_t j = 0; j < m; ++j) largest = std::max(largest, curvature_[j * m + j]);
        linear_ = current_.gradient;
        for (std::size_t j = 0; j < m; ++j) {
            // A small ridge keeps the model bounded along directions without curvature.
            curvature_[j * m + j] += 1e-10 * largest + 1e-200;
            for (std::size_t k = 0; k < m; ++k)
                linear_[j] += curvature_[j * m + k] * current_.lambda[k];
        }
        target_ = current_.lambda;
        qp_.solve(curvature_, linear_, v, budget, target_);
        double slope = 0;
        for (std::size_t j = 0; j < m; ++j)
            slope += current_.gradient[j] * (target_[j] - current_.lambda[j]);
        bool accepted = false;
        for (double length = 1; length > 1e-10 && !accepted; length /= 2) {
            trial_.lambda.resize(m);
            for (std::size_t j = 0; j < m; ++j)
                trial_.lambda[j] = current_.lambda[j] + length * (target_[j] - current_.lambda[j]);
            evaluate(problem, trial_);
            accepted = trial_.value >= current_.value + 1e-4 * length * slope &&
                       trial_.value > current_.value;
            accepted |= trial_.gap < current_.gap &&
                        trial_.value >= current_.value - current_.rounding - trial_.rounding;
        }
        if (!accepted) break;
        std::swap(current_, trial_);
    }
    solved_ = iteration < kMaxIterations;
    lambda = current_.lambda;
    return iteration;
}

}  // namespace tagalong
