// Confidence widths: upper bounds on the distance of a label's margin w.x from its true margin (P3,
// step 2).
//
//     width^2 = q (U^2 + c'/c''^2 I + 12/c'' (c'/c'' + 3 L(-R)) ln(K (t + 4) / delta))
//
// q is x.A^-1 x. The information I is d ln(1 + (t - 1)/d), or ln|A| of the label, which is never
// larger. If U, the norm of the true weights, is unknown, U^2 is replaced by another c'/c''^2 I,
// and the width is capped at 2R, the largest possible error (Remark 1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "partial/surrogate_loss.hpp"

namespace tagalong {

struct ConfidenceConfig {
    double delta = 0.05;
    std::optional<double> norm_bound;
    bool determinant = false;
    double exploration = 1;  // factor of the widths: 1 is the theory, 0 means no exploration
};

class ConfidenceWidths {
  public:
    ConfidenceWidths(const SurrogateLoss& loss, const ConfidenceConfig& config) : config_(config) {
        const double c1 = loss.largest_slope(), c2 = loss.curvature();
        per_information_ = c1 / (c2 * c2) * (config.norm_bound ? 1 : 2);
        per_log_ = 12 / c2 * (c1 / c2 + 3 * loss.worst());
        cap_ = config.norm_bound ? HUGE_VAL : 2 * loss.radius();
    }

    const ConfidenceConfig& config() const { return config_; }

    // The constants that all labels of a round share.
    class Round {
      public:
        // The width by the formula above; capped() limits it to the largest possible error.
        double uncapped(double q, double log_determinant) const {
            const double information = determinant_ ? log_determinant : information_;
            return exploration_ *
                   std::sqrt(std::max(0.0, q) * (base_ + per_information_ * information));
        }
        double capped(double width) const { return std::min(width, cap_); }

      private:
        friend class ConfidenceWidths;
        double base_, per_information_, information_, cap_, exploration_;
        bool determinant_;
    };

    // The constants of round t, counted from 1, for this number of labels and d features.
    Round round(std::int64_t t, std::size_t labels, double d) const {
        Round out;
        const double U = config_.norm_bound.value_or(0);
        const double K = static_cast<double>(labels), t_now = static_cast<double>(t);
        out.base_ = U * U + per_log_ * std::log(K * (t_now + 4) / config_.delta);
        out.per_information_ = per_information_;
        out.information_ = d > 0 ? d * std::log1p((t_now - 1) / d) : 0;
        out.cap_ = cap_;
        out.exploration_ = config_.exploration;
        out.determinant_ = config_.determinant;
        return out;
    }

  private:
    ConfidenceConfig config_;
    double per_information_, per_log_, cap_;
};

}  // namespace tagalong
