// Progressive (prequential) measures of label rankings: sums over a stream, sums over its last
// rows, and counts per label. They are cheap enough to compute while learning: each relevant label
// costs one pass over the scores, and only the relevant labels are sorted.
//
// Ties are treated as in scikit-learn: average precision, ranking loss and coverage count equal
// scores against the ranking; one-error, precision@k and NDCG@k take the mean over all orders of
// the tied labels. A row without a pair of a relevant and an irrelevant label has no ranking and
// counts only in the measures of label sets. Trailing labels with the score -infinity did not exist
// when the row was predicted: they are ignored unless they are relevant, in which case they were
// ranked last.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace tagalong {

class Measures {
  public:
    // The measures of one row, or their sums over rows.
    enum Value : std::size_t {
        ranked,  // rows with a pair of a relevant and an irrelevant label
        any_mistake,
        one_error,
        ranking_loss,
        coverage,
        average_precision,
        precision_at_k,
        ndcg_at_k,
        rows,
        hits,    // labels that are chosen and relevant
        chosen,  // labels whose scores reach the cut-off
        relevant_labels,
        wrong_labels,  // Hamming loss: fraction of the labels wrongly chosen or wrongly omitted
        exact,         // rows whose chosen labels are exactly the relevant ones
        kValues
    };
    using Row = std::array<double, kValues>;
    struct PerLabel {
        std::int64_t hits = 0;
        std::int64_t chosen = 0;
        std::int64_t relevant = 0;
    };

    // A label that is chosen or relevant in a row, or both.
    struct Mark {
        std::int32_t label;
        bool chosen, relevant;
    };

    Measures(std::size_t k, std::size_t window);

    std::size_t k() const { return k_; }
    std::size_t window() const { return window_; }
    const Row& totals() const { return totals_; }
    const std::vector<PerLabel>& per_label() const { return per_label_; }
    // Counts per label over the last `window` rows, and these rows.
    const std::vector<PerLabel>& recent_per_label() const { return recent_per_label_; }
    const std::vector<Row>& recent() const { return recent_; }  // in no particular order
    const std::vector<std::vector<Mark>>& recent_marks() const { return marks_; }
    std::size_t next() const { return next_; }

    // Sums over the last `window` rows; recomputed, so that rounding errors do not accumulate.
    Row recent_sums() const;

    // The mean F1 of the labels that were relevant or chosen at least once; NaN if there are none.
    static double macro_f1(const std::vector<PerLabel>& counts);

    // Adds one row: the scores before it was learnt, its distinct labels, and the cut-off, the
    // least score of a chosen label.
    template <class T>
    void observe(std::span<const T> scores, std::span<const std::int32_t> relevant,
                 std::span<const std::int32_t> unknown, double cutoff);

    void restore(const Row& totals, std::vector<PerLabel> per_label, std::vector<Row> recent,
                 std::vector<std::vector<Mark>> marks, std::size_t next);

  private:
    // Short functions are defined here: in a shared library the compiler inlines no others.

    // Counts the chosen labels, sorts the scores of the relevant labels, and returns the scores of
    // all labels of known relevance; without a copy if possible.
    template <class T>
    std::span<const T> load(std::span<const T> scores, std::span<const std::int32_t> relevant,
                            std::span<const std::int32_t> unknown, double cutoff);

    template <class T>
    void choose(std::span<const T> scores, double cutoff);
    void add_chosen(std::size_t number) {
        ++chosen_;
        const auto label = static_cast<std::int32_t>(number);
        // Relevant labels are already in row_marks_; there are few, so a linear search is enough.
        const bool marked =
            std::any_of(row_marks_.begin(), row_marks_.end(),
                        [&](const Mark& mark) { return mark.label == label && mark.relevant; });
        if (!marked) row_marks_.push_back({label, true, false});
    }

    static void count(const Mark& mark, std::vector<PerLabel>& counts, std::int64_t by) {
        const auto label = static_cast<std::size_t>(mark.label);
        if (counts.size() <= label) counts.resize(label + 1);
        counts[label].hits += mark.chosen && mark.relevant ? by : 0;
        counts[label].chosen += mark.chosen ? by : 0;
        counts[label].relevant += mark.relevant ? by : 0;
    }

    // Replaces the oldest row of the window.
    void replace_oldest(const Row& row) {
        if (recent_.size() < window_) {
            recent_.push_back(row);
            marks_.push_back(row_marks_);
        } else {
            for (const Mark& mark : marks_[next_]) count(mark, recent_per_label_, -1);
            recent_[next_] = row;
            marks_[next_].assign(row_marks_.begin(), row_marks_.end());
        }
        for (const Mark& mark : row_marks_) count(mark, recent_per_label_, 1);
        next_ = (next_ + 1) % window_;
    }

    // Removes the labels of unknown relevance from the copy of the scores, and counts the chosen
    // ones among the others.
    template <class T>
    std::span<const T> remove_unknown(std::span<const std::int32_t> unknown, double cutoff);

    template <class T>
    void measure_ranking(Row& row, std::span<const T> known);

    std::size_t place(double rank) const { return std::min(k_, static_cast<std::size_t>(rank)); }

    void measure_set(Row& row, std::size_t R, std::size_t known) const {
        row[rows] = 1;
        row[hits] = static_cast<double>(hits_);
        row[chosen] = static_cast<double>(chosen_);
        row[relevant_labels] = static_cast<double>(R);
        const double wrong = row[chosen] + row[relevant_labels] - 2 * row[hits];
        row[wrong_labels] = known == 0 ? 0 : wrong / static_cast<double>(known);
        row[exact] = wrong == 0;
    }

    std::size_t k_;
    std::size_t window_;
    std::vector<double> discounts_;  // prefix sums of the NDCG discounts 1 / log2(rank + 1)
    Row totals_{};
    std::vector<PerLabel> per_label_;
    std::vector<PerLabel> recent_per_label_;
    std::vector<Row> recent_;
    std::vector<std::vector<Mark>> marks_;  // of the rows in recent_
    std::size_t next_ = 0;
    // Scratch memory of observe().
    std::tuple<std::vector<float>, std::vector<double>> copies_;
    std::vector<double> relevant_;
    std::vector<std::int32_t> unknown_;
    std::vector<Mark> row_marks_;
    std::size_t hits_ = 0;
    std::size_t chosen_ = 0;
};

}  // namespace tagalong
