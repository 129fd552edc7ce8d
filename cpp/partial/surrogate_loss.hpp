// The surrogate loss L of a label's margin on [-R, R], with g = -L' and the constants of P3's
// Theorem 2. A label with margin m is relevant with probability g(-m) / (g(m) + g(-m)).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"

namespace tagalong {

enum class MarginLoss { square, logistic, table };

// A loss that is given by numbers: its constants, and g and g' at equidistant points from -R to R.
// Between two points g is the cubic polynomial with these values and slopes.
struct LossTable {
    double largest_slope = 0, curvature = 0, worst = 0;
    std::vector<double> g, g_slope;

    // Throws InputError if numbers are missing.
    void check() const {
        if (g.size() < 2 || g.size() != g_slope.size())
            throw InputError("loss: a table needs g and its derivative at 2 or more points, got " +
                             std::to_string(g.size()) + " and " + std::to_string(g_slope.size()));
    }
    double slope(double margin, double radius) const {
        const auto last = g.size() - 2;
        const double step = 2 * radius / static_cast<double>(last + 1);
        const double place = std::max(0.0, (margin + radius) / step);
        const std::size_t i = std::min(last, static_cast<std::size_t>(place));
        const double s = std::min(1.0, place - static_cast<double>(i)), rest = 1 - s;
        return std::max(0.0, rest * rest * ((1 + 2 * s) * g[i] + s * step * g_slope[i]) +
                                 s * s * ((3 - 2 * s) * g[i + 1] - rest * step * g_slope[i + 1]));
    }
};

class SurrogateLoss {
  public:
    SurrogateLoss(MarginLoss kind, double radius, LossTable table = {})
        : kind_(kind), radius_(radius), table_(std::move(table)) {
        if (kind == MarginLoss::square) {
            largest_slope_ = (1 + radius) * (1 + radius);
            curvature_ = 1;
            worst_ = 0.5 * (1 + radius) * (1 + radius);
        } else if (kind == MarginLoss::logistic) {
            largest_slope_ = 1;
            curvature_ = 1 / (2 * (1 + std::cosh(radius)));
            worst_ = std::log1p(std::exp(radius));
        } else {
            table_.check();
            largest_slope_ = table_.largest_slope;
            curvature_ = table_.curvature;
            worst_ = table_.worst;
        }
    }

    double radius() const { return radius_; }
    double clip(double margin) const { return std::clamp(margin, -radius_, radius_); }
    // g = -L'
    double slope(double margin) const {
        if (kind_ == MarginLoss::square) return 1 - margin;
        if (kind_ == MarginLoss::logistic) return 1 / (std::exp(margin) + 1);
        return table_.slope(margin, radius_);
    }
    // The probability that a label with this margin is relevant.
    double probability(double margin) const {
        if (kind_ == MarginLoss::square) return 0.5 * (1 + margin);
        if (kind_ == MarginLoss::logistic) return 1 / (1 + std::exp(-margin));
        const double yes = slope(-margin), no = slope(margin);
        return yes / (yes + no);
    }
    // Replaces margins, which may be outside [-R, R], by the probabilities of their labels.
    void probabilities(std::span<double> margins) const {
        if (kind_ == MarginLoss::square)
            for (double& margin : margins) margin = 0.5 * (1 + clip(margin));
        else
            for (double& margin : margins) margin = probability(clip(margin));
    }
    // c', the largest squared slope; c'', the least curvature; L(-R), the largest loss.
    double largest_slope() const { return largest_slope_; }
    double curvature() const { return curvature_; }
    double worst() const { return worst_; }

  private:
    MarginLoss kind_;
    double radius_, largest_slope_, curvature_, worst_;
    LossTable table_;
};

}  // namespace tagalong
