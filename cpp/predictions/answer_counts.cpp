#include "predictions/answer_counts.hpp"

#include <algorithm>
#include <cmath>

namespace tagalong {
namespace {

constexpr double kUnit = 1 << 30;
constexpr std::size_t kMarkedTarget = 1;  // the target at which labels are counted as marked

bool contains(std::span<const std::int32_t> labels, std::int32_t label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::int64_t units(double probability) {
    return static_cast<std::int64_t>(std::nearbyint(probability * kUnit));
}

}  // namespace

AnswerCounts::AnswerCounts(std::array<double, kTargets> targets, std::size_t bins,
                           std::int64_t settled)
    : targets_(targets), bins_(bins), settled_(settled), calibration_(kKinds * 2 * bins * 3, 0) {}

void AnswerCounts::calibrate(Kind kind, bool is_settled, double probability, bool is_right) {
    const auto last = static_cast<std::int64_t>(bins_) - 1;
    const auto at = static_cast<std::int64_t>(probability * static_cast<double>(bins_));
    const auto bin = static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, last));
    std::int64_t* sums = &calibration_[((kind * 2 + (is_settled ? 1 : 0)) * bins_ + bin) * 3];
    ++sums[0];
    sums[1] += is_right;
    sums[2] += units(probability);
}

void AnswerCounts::count_label(std::int32_t label, LabelColumn column) {
    const auto at = static_cast<std::size_t>(label);
    if (labels_.size() <= at) labels_.resize(at + 1, LabelRow{});
    ++labels_[at][column];
}

void AnswerCounts::count(const RowPlaces& places, std::span<const std::int32_t> relevant_labels,
                         std::span<const std::int32_t> unknown, std::int64_t item,
                         std::int64_t* out) {
    const std::size_t k = std::min(places.labels.size(), kPlaces);
    const std::size_t R = relevant_labels.size();
    const bool confident = places.has_confidence, is_settled = item > settled_;
    std::fill_n(out, kColumns, 0);
    out[only] = R == 1 ? relevant_labels[0] : -1;
    out[first] = out[probability] = -1;
    out[rows] = 1;
    out[one] = R == 1;
    out[in_runs] = places.in_runs && confident;
    out[relevant] = confident ? static_cast<std::int64_t>(R) : 0;
    std::size_t chosen = 0;
    bool chosen_right = true;
    for (std::size_t i = 0; i < k; ++i) {
        const std::int32_t label = places.labels[i];
        if (label < 0) continue;
        const bool is_right = contains(relevant_labels, label);
        if (places.chosen[i]) {
            ++chosen;
            chosen_right &= is_right;
        }
        if (contains(unknown, label)) continue;
        if (i == 0) {
            out[suggested] = 1;
            out[right] = is_right;
            out[first] = label;
            count_label(label, label_suggested);
            if (is_right) count_label(label, suggested_right);
            for (const std::int32_t each : relevant_labels) count_label(each, answered);
        }
        if (i < 3 && is_right) out[right_of_3] = out[suggested];
        if (!confident) continue;
        for (std::size_t target = 0; target < kTargets; ++target) {
            if (!(places.assured[i] >= targets_[target])) continue;
            out[marked + target] += 1;
            out[marked_right + target] += is_right;
            if (i == 0) out[sure + target] = 1;
            if (i == 0) out[sure_right + target] = is_right;
            if (target != kMarkedTarget) continue;
            count_label(label, label_marked);
            if (is_right) count_label(label, label_marked_right);
        }
        if (i == 0) calibrate(first_place, is_settled, places.probabilities[0], is_right);
        if (i < 5) calibrate(first_five, is_settled, places.probabilities[i], is_right);
    }
    if (!confident || !out[suggested]) return;
    out[judged] = 1;
    out[probability] = units(places.probabilities[0]);
    calibrate(whole_set, is_settled, places.whole, chosen_right && chosen == R);
}

}  // namespace tagalong
