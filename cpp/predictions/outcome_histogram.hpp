// Outcomes of suggestions by the logit of their predicted probability, with exponentially
// discounted old answers. It answers two questions: from which logit on are suggestions right as
// often as a target asks, and how often are suggestions with this logit right.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "predictions/caution.hpp"
#include "predictions/evidence.hpp"
#include "predictions/state_reader.hpp"

namespace tagalong {

// The suggestions that are sure at a target, as a part of all; see OutcomeHistogram::covered.
struct CoveredShare {
    double share = 0;      // of recent answers
    double precision = 0;  // the part of them that was right
    double answers = 0;    // how many answers that was measured on
};

class OutcomeHistogram {
  public:
    explicit OutcomeHistogram(const Caution& caution = {}) : caution_(caution) {}

    // The highest target at which a suggestion is sure; 0 if there is none. A suggestion is sure
    // at a target if its bin is at or above the lowest one from which on the tested precision
    //     (right + a predicted / n) / (n + a)
    // reaches the target with n >= 10 answers, where a is the number of assumed answers (Caution).
    double assured(double logit) const { return assured_[bin(logit)]; }
    // The predicted probability, corrected by the outcomes of similar logits.
    double probability(double logit) const;

    // Counts the outcome of a suggestion with predicted probability `p`. It has no effect on
    // assured() and probability() before refresh().
    void observe(double logit, double p, bool right, const Evidence& evidence);
    void refresh();
    // The answers that were sure at a target.
    CoveredShare covered(double target) const;

    void write(std::vector<double>& out) const;
    void read(StateReader& state);

  private:
    static constexpr std::size_t kBins = 64;
    static constexpr double kLow = -2, kWidth = 0.125;
    using Bins = std::array<double, kBins>;

    // Per bin: sums of the weights of answers, of their squares, and of the weights of right and of
    // predicted ones.
    struct Sums {
        Bins weight{}, squares{}, right{}, predicted{};

        template <class Change>
        void each(Change&& change) {
            for (Bins* bins : {&weight, &squares, &right, &predicted}) change(*bins);
        }
    };

    static std::size_t bin(double logit) {
        return static_cast<std::size_t>(
            std::clamp((logit - kLow) / kWidth, 0.0, static_cast<double>(kBins - 1)));
    }
    static double centre(std::size_t bin) {
        return kLow + (static_cast<double>(bin) + 0.5) * kWidth;
    }
    // The predicted probability at the centre of each bin.
    static const Bins& predicted_curve();
    static void smooth(Bins& bins);
    void refresh_assured();
    void refresh_curve();

    Caution caution_;
    double total_ = 0;  // sum of the weights of all answers, not discounted
    double unit_ = 1;   // what one present answer adds; grows instead of discounting the sums
    Sums sums_;
    // Read off the sums: the highest target at which each bin is sure, and the probability at the
    // centre of each bin.
    Bins assured_{};
    Bins curve_ = predicted_curve();
    double lowest_correction_ = 0, highest_correction_ = 0;  // of the outer bins
};

}  // namespace tagalong
