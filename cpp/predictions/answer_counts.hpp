// Counts of the first places of rankings, each compared with the labels of its row: how often the
// first suggestion was right, what was sure, and how well the probabilities agree with both.
//
// All counts are integers, so they do not depend on how rows are grouped into batches.
// Probabilities are summed as whole multiples of 2^-30.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tagalong {

// The first places of a row, best first; the label -1 where there is none.
struct RowPlaces {
    std::span<const std::int32_t> labels;
    const double* probabilities;
    const double* assured;  // the highest target at which the label is sure
    const bool* chosen;
    double whole;  // the chance that the chosen labels are exactly the relevant ones
    bool in_runs;
    bool has_confidence;  // otherwise only the labels count
};

class AnswerCounts {
  public:
    static constexpr std::size_t kPlaces = 10;
    static constexpr std::size_t kTargets = 3;
    // The columns of a row. Those per target stand for kTargets columns each.
    enum Column : std::size_t {
        rows,
        suggested,  // whether there is a first label, and it is known whether it is relevant
        right,
        right_of_3,
        judged,
        in_runs,
        one,  // exactly one relevant label
        relevant,
        sure,
        sure_right = sure + kTargets,
        marked = sure_right + kTargets,  // labels in all places that are sure
        marked_right = marked + kTargets,
        kCounts = marked_right + kTargets,
        only = kCounts,  // the only relevant label, -1 if there is not exactly one
        first,           // the first label, -1 without one
        probability,     // its probability in multiples of 2^-30, -1 without one
        kColumns
    };
    enum LabelColumn : std::size_t {
        answered,
        label_suggested,
        suggested_right,
        label_marked,
        label_marked_right,
        kLabelColumns
    };
    enum Kind : std::size_t { first_place, first_five, whole_set, kKinds };
    using LabelRow = std::array<std::int64_t, kLabelColumns>;

    // `settled`: the calibration of so many first items is counted separately.
    AnswerCounts(std::array<double, kTargets> targets, std::size_t bins, std::int64_t settled);

    // Counts a row, the item number `item` from 1, and writes its columns to `out`.
    void count(const RowPlaces& places, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, std::int64_t item, std::int64_t* out);

    std::size_t bins() const { return bins_; }
    // (kind, whether the item is settled, bin) -> answers, right ones, sum of their probabilities.
    const std::vector<std::int64_t>& calibration() const { return calibration_; }
    const std::vector<LabelRow>& labels() const { return labels_; }
    void restore(std::vector<std::int64_t> calibration, std::vector<LabelRow> labels) {
        calibration_ = std::move(calibration);
        labels_ = std::move(labels);
    }

  private:
    void calibrate(Kind kind, bool is_settled, double probability, bool is_right);
    void count_label(std::int32_t label, LabelColumn column);

    std::array<double, kTargets> targets_;
    std::size_t bins_;
    std::int64_t settled_;
    std::vector<std::int64_t> calibration_;
    std::vector<LabelRow> labels_;
};

}  // namespace tagalong
