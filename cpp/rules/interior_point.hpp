// P1's Update III (Eq. 11) by the paper's method: a primal-dual interior point method (Eqs. 12-20)
// whose linear systems cost O(K) per iteration. Misprints in Eqs. 14 and 20 are corrected.
//
// The problem, in amounts b = |alpha| >= 0 and a slack s >= 0, is
//     min  sum_i K_i(b_i) - gamma sum_Y b     (K_i' = k_i, the curves of curves.hpp)
//     s.t. sum_Y b - sum_notY b = 0,   sum_Y b + s = C.
// With f the objective, A the matrix of the two equations, d the number of variables, multipliers
// lambda of b, s >= 0 and nu of the equations, each iteration solves
//     z_i db_i = u_i - A_i . dnu,   z = f'' + lambda / b,
//     u = -f' + 0.1 eta / (d b) - A_i . nu,   eta = lambda . b,
// for dnu such that A db = 0, and then sets lambda + dlambda = (0.1 eta / d - lambda db) / b. The
// coefficients of the step are b on Y and -b elsewhere. There are at most kMostIterations with at
// most kMostHalvings each. If the duality gap is still large then, the step is that of Update II.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rules/curves.hpp"
#include "rules/pair_step.hpp"
#include "rules/step.hpp"

namespace tagalong {

template <class Curve>
class InteriorPoint {
  public:
    // `curve` is a function (label, relevant) -> Curve.
    template <class CurveOf>
    void step(const Sides& sides, CurveOf&& curve, const RuleParameters& rule, Step& out) {
        if (sides.margin >= rule.margin) return;
        start(sides, curve, rule);
        const double tolerance = 1e-13 * rule.margin * rule.budget;
        for (out.iterations = 0; out.iterations < kMostIterations; ++out.iterations) {
            const double eta = gap();
            if (eta <= tolerance && residual(variables_, nu_, 0.0) <= 1e-10 * rule.margin) break;
            if (!iterate(eta)) break;
        }
        // Near the limits of double precision the last iterations make no progress.
        const double left = gap() + rule.budget * residual(variables_, nu_, 0.0);
        out.solved = left <= 1e-3 * rule.margin * rule.budget;
        if (!out.solved)
            return step_on_worst_pair(sides, curve_of(sides.lowest_relevant),
                                      curve_of(sides.highest_irrelevant()), rule, out);
        // Rescale: rounding errors must neither unbalance the two sides nor exceed the budget.
        double up = 0, down = 0;
        for (const Variable& v : variables_)
            if (!v.slack) (v.relevant ? up : down) += v.amount;
        out.mass = std::min({up, down, rule.budget});
        for (const Variable& v : variables_)
            if (!v.slack)
                out.set(v.label,
                        v.relevant ? v.amount * (out.mass / up) : -v.amount * (out.mass / down));
    }

  private:
    static constexpr int kMostIterations = 100;
    static constexpr int kMostHalvings = 40;

    struct Variable {
        int label = -1;
        bool relevant = false;
        bool slack = false;
        Curve curve{};
        double gamma = 0;
        double balance = 0;  // coefficient of the variable in sum_Y b - sum_notY b = 0
        double spend = 0;    // coefficient of the variable in sum_Y b + s = C
        double amount = 0;
        double lambda = 1;

        ValueSlope gradient() const {
            if (slack) return {0, 0};
            ValueSlope k = curve.at(amount);
            k.value -= gamma;
            return k;
        }
    };
    struct Pair {
        double first = 0;
        double second = 0;
    };

    template <class CurveOf>
    void start(const Sides& sides, CurveOf&& curve, const RuleParameters& rule) {
        variables_.clear();
        nu_ = {};
        const double up = rule.budget / 2 / static_cast<double>(sides.relevant.size());
        const double down = rule.budget / 2 / static_cast<double>(sides.irrelevant_count);
        for (const int r : sides.relevant)
            variables_.push_back({r, true, false, curve(r, true), rule.margin, 1, 1, up, 1});
        for (std::size_t k = 0; k < sides.irrelevant_scores.size(); ++k)
            if (sides.irrelevant_scores[k] != Sides::kNone)
                variables_.push_back({static_cast<int>(k), false, false,
                                      curve(static_cast<int>(k), false), 0, -1, 0, down, 1});
        Variable slack;
        slack.slack = true;
        slack.spend = 1;
        slack.amount = rule.budget / 2;
        variables_.push_back(slack);
    }

    // The duality gap, if the residual is 0.
    double gap() const {
        double eta = 0;
        for (const Variable& v : variables_) eta += v.lambda * v.amount;
        return eta;
    }
    const Curve& curve_of(int label) const {
        return std::find_if(variables_.begin(), variables_.end(),
                            [&](const Variable& v) { return v.label == label; })
            ->curve;
    }

    // The largest violation of stationarity and of lambda b = target; infinity if it is not finite.
    static double residual(const std::vector<Variable>& variables, const Pair& nu, double target) {
        double worst = 0;
        for (const Variable& v : variables) {
            const double r =
                v.gradient().value - v.lambda + nu.first * v.balance + nu.second * v.spend;
            const double product = v.lambda * v.amount - target;
            if (!std::isfinite(r) || !std::isfinite(product))
                return std::numeric_limits<double>::infinity();
            worst = std::max({worst, std::abs(r), std::abs(product)});
        }
        return worst;
    }

    bool iterate(double eta) {
        const std::size_t d = variables_.size();
        const double target = 0.1 * eta / static_cast<double>(d);
        inverse_.resize(d);
        right_.resize(d);
        double a11 = 0, a12 = 0, a22 = 0, r1 = 0, r2 = 0;
        for (std::size_t i = 0; i < d; ++i) {
            const Variable& v = variables_[i];
            const ValueSlope f = v.gradient();
            inverse_[i] = 1 / (f.slope + v.lambda / v.amount);
            right_[i] = -f.value + target / v.amount - nu_.first * v.balance - nu_.second * v.spend;
            a11 += v.balance * v.balance * inverse_[i];
            a12 += v.balance * v.spend * inverse_[i];
            a22 += v.spend * v.spend * inverse_[i];
            r1 += v.balance * inverse_[i] * right_[i];
            r2 += v.spend * inverse_[i] * right_[i];
        }
        const double determinant = a11 * a22 - a12 * a12;
        if (!(determinant > 0)) return false;
        const Pair dnu{(a22 * r1 - a12 * r2) / determinant, (a11 * r2 - a12 * r1) / determinant};
        move_.resize(d);
        double size = 1;
        for (std::size_t i = 0; i < d; ++i) {
            const Variable& v = variables_[i];
            const double db =
                inverse_[i] * (right_[i] - v.balance * dnu.first - v.spend * dnu.second);
            const double dlambda = (target - v.lambda * db) / v.amount - v.lambda;
            move_[i] = {db, dlambda};
            if (db < 0) size = std::min(size, -0.99 * v.amount / db);
            if (dlambda < 0) size = std::min(size, -0.99 * v.lambda / dlambda);
        }
        const double before = residual(variables_, nu_, target);
        for (int halvings = 0; halvings < kMostHalvings; ++halvings, size *= 0.5) {
            trial_ = variables_;
            for (std::size_t i = 0; i < d; ++i) {
                trial_[i].amount += size * move_[i].first;
                trial_[i].lambda += size * move_[i].second;
            }
            const Pair nu{nu_.first + size * dnu.first, nu_.second + size * dnu.second};
            if (residual(trial_, nu, target) <= (1 - 0.01 * size) * before) {
                variables_.swap(trial_);
                nu_ = nu;
                return true;
            }
        }
        return false;
    }

    std::vector<Variable> variables_;
    std::vector<Variable> trial_;
    std::vector<double> inverse_;
    std::vector<double> right_;
    std::vector<Pair> move_;
    Pair nu_;
};

// The interior point method for the linear geometries, whose curves are lines with slope |x|^2.
struct LinearInteriorPoint {
    InteriorPoint<LinearCurve> solver;

    void step(const Sides& sides, double q, const RuleParameters& rule, Step& out) {
        const auto line = [&](int label, bool relevant) {
            if (!relevant) return LinearCurve{-sides.irrelevant_scores[label], q};
            const auto place =
                std::lower_bound(sides.relevant.begin(), sides.relevant.end(), label);
            return LinearCurve{sides.relevant_scores[place - sides.relevant.begin()], q};
        };
        solver.step(sides, line, rule, out);
    }
};

}  // namespace tagalong
