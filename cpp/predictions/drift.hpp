// Notices that the answers have changed: items are labelled otherwise than before, or new labels
// or features came in a burst.
//
// One Fall watches the average precision of the rankings, which shows a change of many labels
// within some items. One Fall per label watches how well the label was ranked when it was right,
// which shows a change of a few labels. The evidence of several labels is added up, as far as it
// exceeds what chance gives one of them.
//
// Learners improve, so only falls are noticed. Evidence that began before an alarm belongs to this
// alarm. Each alarm raises the threshold for some thousands of rounds: a stream whose answers
// change all the time does not raise alarms all the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/selection.hpp"
#include "predictions/fall.hpp"

namespace tagalong {

class Drift {
  public:
    // Takes a judged round before it is learnt: the average precision of the ranking, the relevant
    // labels, and for each of them the precision at its rank. A gain of NaN is that of a round
    // without a ranking: it is only counted. Returns whether an alarm was raised.
    bool observe(double gain, std::span<const int> relevant, std::span<const double> precisions);

    // Whether an alarm stands: until the gain has recovered, or for 1,000 rounds.
    bool alarm() const { return alarm_; }
    bool just_raised() const { return rounds_ > 0 && raised_ == rounds_; }
    // The judged round, counted from 1, from which on the answers have changed, as the last alarm
    // estimates it; 0 if there was no alarm.
    std::int64_t since() const { return since_; }
    // The labels that the last change affected, at most five, the most affected first.
    std::vector<int> labels() const;

    void select(const Selection& selection, std::size_t labels_before);

    std::vector<double> state() const;
    // Returns false, and changes nothing, if the state is invalid.
    bool restore(std::span<const double> numbers, std::size_t labels);

  private:
    struct Label {
        Fall fall;
        double peak = 0;  // the most evidence since the last change
    };

    void observe_label(Label& label, double precision, double usual, double threshold);
    // The evidence of all labels together that their answers changed after the last alarm; points
    // `most` at the label with the most evidence.
    double pooled_evidence(const Label*& most) const;
    bool is_suspect(const Label& label) const;
    void raise(std::int64_t since, bool by_gain);
    void end_if_recovered(double gain);

    Fall gain_;
    std::vector<Label> labels_;
    std::int64_t rounds_ = 0, raised_ = 0, since_ = 0;
    bool alarm_ = false, by_gain_ = false;
    double gain_before_ = 0, gain_after_ = 0;  // the change
    double alarms_ = 0;                        // discounted
};

}  // namespace tagalong
