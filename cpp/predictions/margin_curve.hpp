// The probability that the better one of two exclusive labels is right, as an increasing function
// of the margin between their scores: sigma(a margin), with a > 0 learnt online.
//
// scikit-learn requires that probabilities of two classes have the order of the scores; rules with
// more numbers cannot promise it.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "predictions/online_logistic.hpp"
#include "predictions/state_reader.hpp"

namespace tagalong {

class MarginCurve {
  public:
    double probability(double margin) const {
        const double logit = std::exp(log_slope_) * margin;
        // Bounded smoothly, so that different margins have different probabilities.
        return sigmoid(kLargestLogit * std::tanh(logit / kLargestLogit));
    }
    // A gradient step on the logarithm of the slope, scaled by earlier gradients (AdaGrad).
    void observe(double margin, bool right, double weight) {
        if (!(margin > 0)) return;
        if (squares_ == 0) log_slope_ = std::clamp(-std::log(margin), -kLargest, kLargest);
        const double logit = std::min(std::exp(log_slope_) * margin, kLargestLogit);
        const double gradient = weight * ((right ? 1 : 0) - sigmoid(logit)) * logit;
        squares_ += std::max(gradient * gradient, 1e-6);
        log_slope_ =
            std::clamp(log_slope_ + kRate * gradient / std::sqrt(squares_), -kLargest, kLargest);
    }

    void write(std::vector<double>& out) const { out.insert(out.end(), {log_slope_, squares_}); }
    void read(StateReader& state) {
        log_slope_ = state.number(-kLargest, kLargest);
        squares_ = state.number(0, 1e16);
    }

  private:
    static constexpr double kLargestLogit = 8;
    static constexpr double kLargest = 300;
    static constexpr double kRate = 0.5;
    double log_slope_ = 0, squares_ = 0;
};

}  // namespace tagalong
