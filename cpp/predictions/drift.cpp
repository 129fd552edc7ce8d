#include "predictions/drift.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "predictions/state_reader.hpp"

namespace tagalong {

static constexpr double kThreshold = 16;  // by chance once in exp(16) = 9 million numbers
static constexpr double kFade = 0.9998;   // of the number of alarms, per round
static constexpr double kChance = 4;      // evidence of a label that chance gives it now and then
static constexpr std::size_t kNamed = 5;
static constexpr double kNamedShare = 0.25;  // of the most affected label's evidence

static constexpr Watch kGain = {.ratio = 0.7, .noise = 2, .longest = 150};
static constexpr Watch kLabel = {.ratio = 0.3, .noise = 0, .longest = 25};

static constexpr std::int64_t kShortest = 100, kLongest = 1000;  // rounds of an alarm
static constexpr double kRecent = 50, kNear = 0.02;              // of the recovered gain

bool Drift::observe(double gain, std::span<const int> relevant,
                    std::span<const double> precisions) {
    ++rounds_;
    alarms_ *= kFade;
    if (std::isnan(gain)) return false;
    const double threshold = kThreshold * (1 + alarms_);
    const double usual = gain_.level();
    gain_.observe(gain, usual, kGain, rounds_);
    if (gain_.evidence() >= threshold && !gain_.is_young()) {
        if (gain_.calm_until() >= raised_) raise(gain_.fallen_since(), true);
        gain_.restart(rounds_);
    }
    for (std::size_t i = 0; i < relevant.size(); ++i) {
        const auto number = static_cast<std::size_t>(relevant[i]);
        if (number >= labels_.size()) labels_.resize(number + 1);
        observe_label(labels_[number], precisions[i], usual, threshold);
    }
    if (alarm_) end_if_recovered(gain);
    return just_raised();
}

// A young label is compared with the usual gain, so that a burst of new labels is noticed.
void Drift::observe_label(Label& label, double precision, double usual, double threshold) {
    Fall& fall = label.fall;
    fall.observe(precision, fall.is_young() ? usual : fall.level(), kLabel, rounds_);
    if (alarm_) {
        label.peak = std::max(label.peak, fall.evidence());
    } else if (is_suspect(label)) {
        const Label* most = &label;
        if (pooled_evidence(most) >= threshold) raise(most->fall.fallen_since(), false);
    }
    if (fall.evidence() >= kThreshold && !fall.is_young()) fall.restart(rounds_);
}

bool Drift::is_suspect(const Label& label) const {
    const Fall& fall = label.fall;
    return fall.evidence() > kChance && !fall.is_young() && fall.calm_until() >= raised_;
}

double Drift::pooled_evidence(const Label*& most) const {
    double sum = kChance;
    for (const Label& label : labels_) {
        if (!is_suspect(label)) continue;
        sum += label.fall.evidence() - kChance;
        if (label.fall.evidence() > most->fall.evidence()) most = &label;
    }
    return sum;
}

void Drift::raise(std::int64_t since, bool by_gain) {
    alarm_ = true;
    by_gain_ = by_gain;
    raised_ = rounds_;
    since_ = since;
    alarms_ += 1;
    gain_before_ = gain_.mean();
    gain_after_ = 0;
    for (Label& label : labels_) label.peak = label.fall.evidence();
}

void Drift::end_if_recovered(double gain) {
    const std::int64_t age = rounds_ - raised_ + 1;
    gain_after_ += (gain - gain_after_) / std::min(static_cast<double>(age), kRecent);
    const bool recovered = age >= kShortest && gain_after_ >= gain_before_ - kNear;
    if (!recovered && age < kLongest) return;
    alarm_ = false;
    // A change that the gain shows affects most labels, also those that were not seen since.
    if (by_gain_)
        for (Label& label : labels_) label.fall.restart(rounds_);
}

std::vector<int> Drift::labels() const {
    double most = 0;
    for (const Label& label : labels_) most = std::max(most, label.peak);
    const double least = std::max(kNamedShare * most, by_gain_ ? 0.0 : kChance);
    std::vector<int> out;
    for (std::size_t i = 0; i < labels_.size(); ++i)
        if (labels_[i].peak > least) out.push_back(static_cast<int>(i));
    std::stable_sort(out.begin(), out.end(),
                     [&](int a, int b) { return labels_[a].peak > labels_[b].peak; });
    out.resize(std::min(out.size(), kNamed));
    return out;
}

// A merged label continues its most frequent part.
void Drift::select(const Selection& selection, std::size_t labels_before) {
    const auto targets = selection.targets(labels_before);
    std::vector<Label> selected(selection.labels());
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        if (targets[i] < 0) continue;
        Label& target = selected[targets[i]];
        if (labels_[i].fall.count() >= target.fall.count()) target.fall = labels_[i].fall;
        target.peak = std::max(target.peak, labels_[i].peak);
    }
    labels_ = std::move(selected);
}

std::vector<double> Drift::state() const {
    std::vector<double> out = {static_cast<double>(rounds_),
                               static_cast<double>(raised_),
                               static_cast<double>(since_),
                               alarm_ ? 1.0 : 0.0,
                               by_gain_ ? 1.0 : 0.0,
                               gain_before_,
                               gain_after_,
                               alarms_};
    gain_.write(out);
    out.push_back(static_cast<double>(labels_.size()));
    for (const Label& label : labels_) {
        label.fall.write(out);
        out.push_back(label.peak);
    }
    return out;
}

bool Drift::restore(std::span<const double> numbers, std::size_t labels) {
    StateReader state(numbers);
    const auto whole = [&](double most) {
        return static_cast<std::int64_t>(state.number(0, most));
    };
    Drift restored;
    restored.rounds_ = whole(9e15);
    restored.raised_ = whole(static_cast<double>(restored.rounds_));
    restored.since_ = whole(static_cast<double>(restored.raised_));
    restored.alarm_ = whole(1) == 1;
    restored.by_gain_ = whole(1) == 1;
    restored.gain_before_ = state.number(0, 1);
    restored.gain_after_ = state.number(0, 1);
    restored.alarms_ = state.number(0, 1 / (1 - kFade) + 1);
    restored.gain_.read(state, kGain.longest, restored.rounds_);
    restored.labels_.resize(static_cast<std::size_t>(whole(static_cast<double>(labels))));
    for (Label& label : restored.labels_) {
        label.fall.read(state, kLabel.longest, restored.rounds_);
        label.peak = state.number(0, Fall::kMostPerNumber * kLabel.longest);
    }
    if (restored.alarm_ && restored.since_ == 0) state.refuse();
    if (!state.sound() || !state.rest().empty()) return false;
    *this = std::move(restored);
    return true;
}

}  // namespace tagalong
