// The score threshold of a suggestion, for scores that are comparable between items. It is learnt
// from the same rounds as the weights, but affects neither scores nor rankings.
//
// Pooled over all rounds, F1 = 2 hits / (chosen + relevant) is largest if a label is chosen exactly
// when its probability is at least F1 / 2. So the cut-off t maximises
//     hits(t) - price chosen(t)    over recent rounds,    price = F1 / 2,
// where F1 is that of the choices made so far. The best t for the F1 of the recent rounds alone
// (Cutoff) would choose too much while the model still learns. F1 starts at 1/2, as if kAssumed
// labels had been chosen, half of them right. All sums discount old rounds exponentially.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/score_kernels.hpp"
#include "predictions/score_histogram.hpp"
#include "predictions/state_reader.hpp"

namespace tagalong {

class PricedCutoff {
  public:
    // Infinite before the first informative round.
    double value() const { return threshold_; }
    // The least probability at which choosing a label raises F1.
    double price() const { return hits_ / std::max(chosen_ + relevant_, kTiny); }

    // Learns from the predicted scores of a round and its labels. Relevant labels without a score,
    // which are new in the round, count as missed.
    template <class T>
    void observe(std::span<const T> scores, std::span<const int> relevant,
                 std::span<const int> unknown) {
        if (!sampling_.observe_next()) return;
        discount(sampling_.discount());
        relevant_ += static_cast<double>(relevant.size());
        if (!tells_labels_apart(scores)) return;
        count_choice(scores, relevant, unknown);
        count_scores(scores, relevant, unknown);
        if (histogram_.empty()) return;
        if (sampling_.is_time_to_narrow()) histogram_.narrow();
        choose();
    }

    std::vector<double> state() const {
        const auto rounds = static_cast<double>(sampling_.rounds());
        std::vector<double> out = {threshold_, rounds, hits_, chosen_, relevant_};
        histogram_.write(out);
        return out;
    }
    // Returns false, and changes nothing, if the state is invalid.
    bool restore(std::span<const double> numbers) {
        StateReader state(numbers);
        PricedCutoff restored;
        restored.threshold_ = state.number(-kInfinity, kInfinity);
        restored.sampling_.read(state);
        restored.hits_ = state.number(0, kMost);
        restored.chosen_ = state.number(restored.hits_, kMost);
        restored.relevant_ = state.number(restored.hits_, kMost);
        restored.histogram_.read(state);
        if (!state.sound() || !state.rest().empty()) return false;
        *this = std::move(restored);
        return true;
    }

  private:
    static constexpr std::size_t kBins = 256;
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr double kTiny = std::numeric_limits<double>::min();
    static constexpr double kMost = 1e15;  // discounted counts of labels
    static constexpr double kAssumed = 200;

    // Whether the scores are finite and not all equal.
    template <class T>
    static bool tells_labels_apart(std::span<const T> scores) {
        if (scores.size() < 2) return false;
        const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
        return *least < *most && std::isfinite(static_cast<double>(*least)) &&
               std::isfinite(static_cast<double>(*most));
    }

    void discount(double factor) {
        histogram_.discount(factor);
        for (double* sum : {&hits_, &chosen_, &relevant_}) *sum *= factor;
    }

    // Counts the labels that the present threshold chooses.
    template <class T>
    void count_choice(std::span<const T> scores, std::span<const int> relevant,
                      std::span<const int> unknown) {
        const auto chosen = [&](T score) { return static_cast<double>(score) >= threshold_; };
        const auto among = [&](std::span<const int> labels) {
            return static_cast<double>(std::count_if(labels.begin(), labels.end(), [&](int label) {
                return has_score(scores, label) && chosen(scores[label]);
            }));
        };
        hits_ += among(relevant);
        const auto all = std::count_if(scores.begin(), scores.end(), chosen);
        chosen_ += static_cast<double>(all) - among(unknown);
    }

    template <class T>
    void count_scores(std::span<const T> scores, std::span<const int> relevant,
                      std::span<const int> unknown) {
        for (const int label : relevant)
            if (has_score(scores, label))
                histogram_.add_relevant(static_cast<double>(scores[label]));
        if (histogram_.empty()) return;
        with_score_.clear();
        std::copy_if(unknown.begin(), unknown.end(), std::back_inserter(with_score_),
                     [&](int label) { return has_score(scores, label); });
        histogram_.add_all(scores, with_score_);
    }

    void choose() {
        double hits = 0, chosen = 0, most = 0;
        threshold_ = kInfinity;
        for (std::size_t i = kBins; i-- > 0;) {
            hits += histogram_.relevant(i);
            chosen += histogram_.all(i);
            const double gain = hits - price() * chosen;
            if (!(gain > most)) continue;
            most = gain;
            // A little below the bin, so that no score at its lower end is lost to rounding.
            threshold_ = histogram_.lower_end(i) - 1e-6 * histogram_.width();
        }
    }

    template <class T>
    static bool has_score(std::span<const T> scores, int label) {
        return static_cast<std::size_t>(label) < scores.size();
    }

    double threshold_ = kInfinity;  // t
    Sampling sampling_;
    // Of the choices made: right ones, all of them, and the labels that should have been chosen.
    double hits_ = kAssumed / 2, chosen_ = kAssumed, relevant_ = kAssumed;
    ScoreHistogram<kBins> histogram_;
    std::vector<int> with_score_;  // scratch memory of observe()
};

}  // namespace tagalong
