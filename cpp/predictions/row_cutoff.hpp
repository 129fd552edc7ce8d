// The score threshold of a suggestion, relative to the scores of its own item. It is learnt from
// the same rounds as the weights, but affects neither scores nor rankings.
//
// With the mean m and the standard deviation d of the scores of all labels of an item, labels with
//     s >= m + t d^(3/4)
// are chosen. A constant threshold (d^0) ignores that some items have stronger scores than others,
// standardised scores (d^1) ignore that strong scores are right more often: the power is between.
//
// Pooled over all rounds, F1 = 2 hits / (chosen + relevant) is largest if a label is chosen exactly
// when its probability is at least F1 / 2. So t maximises
//     hits(t) - price chosen(t)    over recent rounds,    price = F1 / 2,
// where F1 is that of the choices made so far. The best t for the F1 of the recent rounds alone
// would choose too much while the model still learns. F1 starts at 1/2, as if kAssumed labels had
// been chosen, half of them right. All sums discount old rounds exponentially.
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

class RowCutoff {
  public:
    // The cut-off of an item with these scores. Infinite before the first informative round, and if
    // the scores are equal or not finite.
    template <class T>
    double value_for(std::span<const T> scores) const {
        const Row row = describe(scores);
        return row.scale > 0 ? row.mean + threshold_ * row.scale : kInfinity;
    }
    // The cut-off of a typical item: with the mean and the scale of recent ones.
    double value() const {
        return typical_.scale > 0 ? typical_.mean + threshold_ * typical_.scale : kInfinity;
    }
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
        const Row row = describe(scores);
        if (!(row.scale > 0)) return;
        follow(row);
        normalised_.resize(scores.size());
        for (std::size_t label = 0; label < scores.size(); ++label)
            normalised_[label] = (static_cast<double>(scores[label]) - row.mean) / row.scale;
        count_choice(relevant, unknown);
        count_scores(relevant, unknown);
        if (histogram_.empty()) return;
        if (sampling_.is_time_to_narrow()) histogram_.narrow();
        choose();
    }

    std::vector<double> state() const {
        const auto rounds = static_cast<double>(sampling_.rounds());
        std::vector<double> out = {threshold_, rounds,        hits_,         chosen_,
                                   relevant_,  typical_.mean, typical_.scale};
        histogram_.write(out);
        return out;
    }
    // Returns false, and changes nothing, if the state is invalid.
    bool restore(std::span<const double> numbers) {
        StateReader state(numbers);
        RowCutoff restored;
        restored.threshold_ = state.number(-kInfinity, kInfinity);
        restored.sampling_.read(state);
        restored.hits_ = state.number(0, kMost);
        restored.chosen_ = state.number(restored.hits_, kMost);
        restored.relevant_ = state.number(restored.hits_, kMost);
        restored.typical_.mean = state.number(-kLargest, kLargest);
        restored.typical_.scale = state.number(0, kLargest);
        restored.histogram_.read(state);
        if (!state.sound() || !state.rest().empty()) return false;
        *this = std::move(restored);
        return true;
    }

  private:
    static constexpr std::size_t kBins = 256;
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr double kTiny = std::numeric_limits<double>::min();
    static constexpr double kLargest = 1e300;
    static constexpr double kMost = 1e15;  // discounted counts of labels
    static constexpr double kAssumed = 200;

    struct Row {
        double mean = 0, scale = 0;  // scale 0: the scores are equal or not finite
    };
    template <class T>
    static Row describe(std::span<const T> scores) {
        if (scores.size() < 2) return {};
        const auto count = static_cast<double>(scores.size());
        const auto [sum, squares] = kernels::moments(scores.data(), scores.size());
        const double mean = sum / count, square = squares / count;
        const double variance = square - mean * mean;
        // A smaller variance than this is a rounding error.
        if (!(variance > 1e-12 * square && std::isfinite(variance))) return {};
        const double root = std::sqrt(std::sqrt(variance));  // of the deviation
        return {mean, root * std::sqrt(root)};
    }

    void discount(double factor) {
        histogram_.discount(factor);
        for (double* sum : {&hits_, &chosen_, &relevant_}) *sum *= factor;
    }

    // Updates the running mean of the rows.
    void follow(const Row& row) {
        const double recent = 1 - sampling_.discount();
        const double rate = std::max(recent, 1 / static_cast<double>(sampling_.rounds()));
        if (!(typical_.scale > 0)) typical_ = row;
        typical_.mean += rate * (row.mean - typical_.mean);
        typical_.scale += rate * (row.scale - typical_.scale);
    }

    // Counts the labels that the present threshold chooses.
    void count_choice(std::span<const int> relevant, std::span<const int> unknown) {
        const auto among_chosen = [&](std::span<const int> labels) {
            return static_cast<double>(std::count_if(labels.begin(), labels.end(), [&](int label) {
                return has_score(label) && normalised_[label] >= threshold_;
            }));
        };
        hits_ += among_chosen(relevant);
        const auto all =
            kernels::count_at_least(normalised_.data(), threshold_, normalised_.size());
        chosen_ += static_cast<double>(all) - among_chosen(unknown);
    }

    void count_scores(std::span<const int> relevant, std::span<const int> unknown) {
        for (const int label : relevant)
            if (has_score(label)) histogram_.add_relevant(normalised_[label]);
        if (histogram_.empty()) return;
        with_score_.clear();
        std::copy_if(unknown.begin(), unknown.end(), std::back_inserter(with_score_),
                     [&](int label) { return has_score(label); });
        histogram_.add_all(std::span<const double>(normalised_), with_score_);
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

    bool has_score(int label) const { return static_cast<std::size_t>(label) < normalised_.size(); }

    double threshold_ = kInfinity;  // t
    Sampling sampling_;
    // Of the choices made: right ones, all of them, and the labels that should have been chosen.
    double hits_ = kAssumed / 2, chosen_ = kAssumed, relevant_ = kAssumed;
    Row typical_;
    ScoreHistogram<kBins> histogram_;  // of (s - m) / d^(3/4)
    // Scratch memory of observe().
    std::vector<double> normalised_;
    std::vector<int> with_score_;
};

}  // namespace tagalong
