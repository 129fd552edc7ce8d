// Progressive measures of ranked labels: sums over a stream, sums over its last rows, and counts
// per label. Cheap enough to run beside learning: each relevant label costs one pass over the
// scores, and no more than the relevant ones are sorted.
//
// With Y the relevant labels of a row, equal scores are treated as scikit-learn does: average
// precision, ranking loss and coverage count them against the ranking; what looks at the first
// places (one-error, precision@k, NDCG@k) takes the mean over the orders they could be in.
// A row without a pair of a relevant and an irrelevant label has no ranking to judge; it
// counts in the measures of label sets only. Labels at the end that score -infinity did not
// exist yet: they count nowhere, unless they are relevant; those were ranked last.
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
    // Of one row, or summed over rows.
    enum Value : std::size_t {
        ranked,  // rows that had something to rank
        any_mistake,
        one_error,
        ranking_loss,
        coverage,
        average_precision,
        precision_at_k,
        ndcg_at_k,
        rows,
        hits,    // labels chosen and relevant
        chosen,  // labels above the cut-off
        relevant_labels,
        wrong_labels,  // share of the labels that are chosen wrongly or left out wrongly
        exact,         // the chosen labels are the relevant ones
        kValues
    };
    using Row = std::array<double, kValues>;
    struct PerLabel {
        std::int64_t hits = 0;
        std::int64_t chosen = 0;
        std::int64_t relevant = 0;
    };

    // A label of a row that was chosen, or relevant, or both.
    struct Mark {
        std::int32_t label;
        bool chosen, relevant;
    };

    Measures(std::size_t k, std::size_t window);

    std::size_t k() const { return k_; }
    std::size_t window() const { return window_; }
    const Row& totals() const { return totals_; }
    const std::vector<PerLabel>& per_label() const { return per_label_; }
    // The last rows, and counts per label over them.
    const std::vector<PerLabel>& recent_per_label() const { return recent_per_label_; }
    const std::vector<Row>& recent() const { return recent_; }  // in no particular order
    const std::vector<std::vector<Mark>>& recent_marks() const { return marks_; }
    std::size_t next() const { return next_; }

    // Sums over the last `window` rows; computed afresh, so that no rounding piles up.
    Row recent_sums() const;

    // The mean F1 of the labels that were relevant or chosen at least once; NaN if none was.
    static double macro_f1(const std::vector<PerLabel>& counts);

    // One row: the scores before it was learnt, its labels (without repetition), and the score
    // from which a label counted as chosen.
    template <class T>
    void observe(std::span<const T> scores, std::span<const std::int32_t> relevant,
                 std::span<const std::int32_t> unknown, double cutoff);

    void restore(const Row& totals, std::vector<PerLabel> per_label, std::vector<Row> recent,
                 std::vector<std::vector<Mark>> marks, std::size_t next);

  private:
    // Short functions are defined here: in a shared library the compiler inlines no others.

    // Counts what was chosen, sorts the scores of the relevant labels, and returns all scores
    // whose relevance is known: as they are given, if that can be.
    template <class T>
    std::span<const T> load(std::span<const T> scores, std::span<const std::int32_t> relevant,
                            std::span<const std::int32_t> unknown, double cutoff);

    template <class T>
    void choose(std::span<const T> scores, double cutoff);
    void add_chosen(std::size_t number) {
        ++chosen_;
        const auto label = static_cast<std::int32_t>(number);
        // Relevant labels are marked already, and are few.
        const bool marked = std::any_of(now_.begin(), now_.end(), [&](const Mark& mark) {
            return mark.label == label && mark.relevant;
        });
        if (!marked) now_.push_back({label, true, false});
    }

    static void count(const Mark& mark, std::vector<PerLabel>& counts, std::int64_t by) {
        const auto label = static_cast<std::size_t>(mark.label);
        if (counts.size() <= label) counts.resize(label + 1);
        counts[label].hits += mark.chosen && mark.relevant ? by : 0;
        counts[label].chosen += mark.chosen ? by : 0;
        counts[label].relevant += mark.relevant ? by : 0;
    }

    // In the place of the row that falls out of the window.
    void remember(const Row& row) {
        if (recent_.size() < window_) {
            recent_.push_back(row);
            marks_.push_back(now_);
        } else {
            for (const Mark& mark : marks_[next_]) count(mark, recent_per_label_, -1);
            recent_[next_] = row;
            marks_[next_].assign(now_.begin(), now_.end());
        }
        for (const Mark& mark : now_) count(mark, recent_per_label_, 1);
        next_ = (next_ + 1) % window_;
    }

    // The copy of the scores without some labels, of which nothing is counted.
    template <class T>
    std::span<const T> without(std::span<const std::int32_t> unknown, double cutoff);

    template <class T>
    void rank(Row& row, std::span<const T> known);

    std::size_t place(double rank) const { return std::min(k_, static_cast<std::size_t>(rank)); }

    void judge_set(Row& row, std::size_t R, std::size_t known) const {
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
    std::vector<double> discounts_;  // of the first i places, summed
    Row totals_{};
    std::vector<PerLabel> per_label_;
    std::vector<PerLabel> recent_per_label_;
    std::vector<Row> recent_;
    std::vector<std::vector<Mark>> marks_;  // of the same rows
    std::size_t next_ = 0;
    // Scratch of a row.
    std::tuple<std::vector<float>, std::vector<double>> copies_;
    std::vector<double> relevant_;
    std::vector<std::int32_t> unknown_;
    std::vector<Mark> now_;
    std::size_t hits_ = 0;
    std::size_t chosen_ = 0;
};

}  // namespace tagalong
