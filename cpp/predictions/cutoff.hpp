// The score threshold of a suggestion. It is learnt from the same rounds as the weights, but
// affects neither scores nor rankings.
//
// The cut-off is the constant threshold with the best micro-averaged F1 over the past rounds, with
// exponentially discounted old rounds. One sweep over a histogram gives the F1 of every threshold.
#pragma once

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "predictions/score_histogram.hpp"

namespace tagalong {

class Cutoff {
  public:
    double value() const { return value_; }

    // Learns from the predicted scores of a round and its labels.
    template <class T>
    void observe(std::span<const T> scores, std::span<const int> relevant,
                 std::span<const int> unknown) {
        if (!sampling_.observe_next()) return;
        histogram_.discount(sampling_.discount());
        if (histogram_.empty() && !any_score(scores, relevant)) return;
        for (const int label : relevant)
            histogram_.add_relevant(static_cast<double>(scores[label]));
        if (histogram_.empty()) return;
        histogram_.add_all(scores, unknown);
        if (sampling_.is_time_to_narrow()) histogram_.narrow();
        choose();
    }

    std::vector<double> state() const {
        std::vector<double> out = {value_, static_cast<double>(sampling_.rounds())};
        histogram_.write(out);
        return out;
    }
    // Returns false, and changes nothing, if the state is invalid.
    bool restore(std::span<const double> numbers) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        StateReader state(numbers);
        Cutoff restored;
        restored.value_ = state.number(-infinity, infinity);
        restored.sampling_.read(state);
        restored.histogram_.read(state);
        if (!state.sound() || !state.rest().empty()) return false;
        *this = std::move(restored);
        return true;
    }

  private:
    static constexpr std::size_t kBins = 256;
    using Histogram = ScoreHistogram<kBins>;

    template <class T>
    static bool any_score(std::span<const T> scores, std::span<const int> relevant) {
        return std::any_of(relevant.begin(), relevant.end(), [&](int label) {
            return scores[label] != 0 && std::isfinite(static_cast<double>(scores[label]));
        });
    }

    void choose() {
        const double total = histogram_.relevant_total();
        double hits = 0, shown = 0, best = 0;
        for (std::size_t i = kBins; i-- > 0;) {
            hits += histogram_.relevant(i);
            shown += histogram_.all(i);
            // F1 = 2 hits / (shown + total)
            if (hits > best * (shown + total)) {
                best = hits / (shown + total);
                value_ = histogram_.lower_end(i);
            }
        }
    }

    double value_ = std::numeric_limits<double>::infinity();
    Sampling sampling_;
    Histogram histogram_;
};

}  // namespace tagalong
