// How far a label's margin may be from the true one: the widths of P3, step 2.
//
//     width^2 = q (U^2 + c'/c''^2 I + 12/c'' (c'/c'' + 3 L(-R)) ln(K (t + 4) / delta))
//
// with q = x.A^-1 x. The information I is d ln(1 + (t - 1)/d), or ln|A| of the label, which is never
// more. Where U, the length of the true weights, is not known, U^2 becomes another c'/c''^2 I and the
// width is at most 2R, the largest error there can be (Remark 1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "partial/loss.hpp"

namespace tagalong {

struct ConfidenceConfig {
    double delta = 0.05;
    std::optional<double> norm_bound;
    bool determinant = false;
    double exploration = 1;  // multiplies the widths: 1 is the theory, 0 has none
};

class Confidence {
  public:
    Confidence(const SurrogateLoss& loss, const ConfidenceConfig& config) : config_(config) {
        const double c1 = loss.largest_slope(), c2 = loss.curvature();
        per_information_ = c1 / (c2 * c2) * (config.norm_bound ? 1 : 2);
        per_log_ = 12 / c2 * (c1 / c2 + 3 * loss.worst());
        cap_ = config.norm_bound ? HUGE_VAL : 2 * loss.radius();
    }

    const ConfidenceConfig& config() const { return config_; }

    // What the labels of a round share.
    class Round {
      public:
        // As the formula has it, and not above the largest error there can be.
        double uncapped(double q, double log_determinant) const {
            const double information = determinant_ ? log_determinant : information_;
            return exploration_ *
                   std::sqrt(std::max(0.0, q) * (base_ + per_information_ * information));
        }
        double capped(double width) const { return std::min(width, cap_); }

      private:
        friend class Confidence;
        double base_, per_information_, information_, cap_, exploration_;
        bool determinant_;
    };

    // Round t, from 1, among so many labels, with d features.
    Round round(std::int64_t t, std::size_t labels, double d) const {
        Round out;
        const double U = config_.norm_bound.value_or(0);
        const double K = static_cast<double>(labels), now = static_cast<double>(t);
        out.base_ = U * U + per_log_ * std::log(K * (now + 4) / config_.delta);
        out.per_information_ = per_information_;
        out.information_ = d > 0 ? d * std::log1p((now - 1) / d) : 0;
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
