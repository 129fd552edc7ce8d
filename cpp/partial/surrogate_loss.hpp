// The surrogate loss L of a label's margin on [-R, R], with g = -L' and the constants of P3's
// Theorem 2.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace tagalong {

enum class MarginLoss { square, logistic };

class SurrogateLoss {
  public:
    SurrogateLoss(MarginLoss kind, double radius) : kind_(kind), radius_(radius) {
        if (kind == MarginLoss::square) {
            largest_slope_ = (1 + radius) * (1 + radius);
            curvature_ = 1;
            worst_ = 0.5 * (1 + radius) * (1 + radius);
        } else {
            largest_slope_ = 1;
            curvature_ = 1 / (2 * (1 + std::cosh(radius)));
            worst_ = std::log1p(std::exp(radius));
        }
    }

    double radius() const { return radius_; }
    double clip(double margin) const { return std::clamp(margin, -radius_, radius_); }
    // g = -L'
    double slope(double margin) const {
        return kind_ == MarginLoss::square ? 1 - margin : 1 / (std::exp(margin) + 1);
    }
    // The probability that a label with this margin is relevant.
    double probability(double margin) const {
        return kind_ == MarginLoss::square ? 0.5 * (1 + margin) : 1 / (1 + std::exp(-margin));
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
};

}  // namespace tagalong
