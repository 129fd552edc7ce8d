// How much evidence the confidence in suggestions asks for.
#pragma once

namespace tagalong {

struct Caution {
    // When sureness is tested, so many answers are assumed to agree with the prediction: the first
    // number plus the second divided by (1 - target), so that a stricter target needs more evidence.
    double assumed = 100;
    double assumed_by_risk = 0;
    // The largest variance of a coefficient of the logistic prediction, which limits how fast it
    // follows the answers.
    double largest_variance = 1.1;
};

// For a learner that improves fast: what its first answers say of it is soon out of date.
inline constexpr Caution kFastLearner{.assumed = 100, .assumed_by_risk = 1.75, .largest_variance = 2};

}  // namespace tagalong
