// The confidence of one kind of suggestion: a logistic prediction from N numbers that describe the
// suggestion, corrected by its outcomes.
#pragma once

#include <array>
#include <vector>

#include "predictions/evidence.hpp"
#include "predictions/online_logistic.hpp"
#include "predictions/outcome_histogram.hpp"
#include "predictions/state_reader.hpp"

namespace tagalong {

template <std::size_t N>
class ConfidenceRule {
  public:
    using Numbers = std::array<double, N>;

    using Limits = typename OnlineLogistic<N>::Limits;

    explicit ConfidenceRule(Limits limits = OnlineLogistic<N>::unlimited(),
                            const Caution& caution = {})
        : logistic_((limits.largest_variance = caution.largest_variance, limits)),
          outcomes_(caution) {}

    double logit(const Numbers& numbers) const { return logistic_.logit(numbers); }
    double probability(double logit) const { return outcomes_.probability(logit); }
    // The highest target at which the suggestion is sure; 0 if there is none.
    double assured(double logit) const { return outcomes_.assured(logit); }

    // Learns whether a suggestion was right. `logit` is the value before.
    void observe(const Numbers& numbers, double logit, bool right, const Evidence& evidence) {
        const double p = sigmoid(logit);
        outcomes_.observe(logit, p, right, evidence);
        logistic_.observe(numbers, p, right, evidence.weight);
    }
    // Lets probability() and assured() follow what was observed.
    void refresh() { outcomes_.refresh(); }
    CoveredShare covered(double target) const { return outcomes_.covered(target); }

    void write(std::vector<double>& out) const {
        logistic_.write(out);
        outcomes_.write(out);
    }
    void read(StateReader& state) {
        logistic_.read(state);
        outcomes_.read(state);
    }

  private:
    OnlineLogistic<N> logistic_;
    OutcomeHistogram outcomes_;
};

}  // namespace tagalong
