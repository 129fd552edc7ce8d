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
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "core/score_kernels.hpp"

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

    Measures(std::size_t k, std::size_t window) : k_(k), window_(window), discounts_(k + 1, 0.0) {
        for (std::size_t i = 1; i <= k; ++i)
            discounts_[i] = discounts_[i - 1] + 1 / std::log2(static_cast<double>(i) + 1);
    }

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
    Row recent_sums() const {
        Row sums{};
        for (const Row& row : recent_)
            for (std::size_t i = 0; i < kValues; ++i) sums[i] += row[i];
        return sums;
    }

    // The mean F1 of the labels that were relevant or chosen at least once; NaN if there are none.
    static double macro_f1(const std::vector<PerLabel>& counts) {
        double sum = 0;
        std::int64_t known = 0;
        for (const PerLabel& label : counts) {
            const std::int64_t either = label.chosen + label.relevant;
            known += either > 0;
            if (label.hits > 0)
                sum += static_cast<double>(label.hits) / static_cast<double>(either);
        }
        return known == 0 ? std::numeric_limits<double>::quiet_NaN()
                          : 2 * sum / static_cast<double>(known);
    }

    // Adds one row: the scores before it was learnt, its distinct labels, and the cut-off, the
    // least score of a chosen label.
    template <class T>
    void observe(std::span<const T> scores, std::span<const std::int32_t> relevant,
                 std::span<const std::int32_t> unknown, double cutoff) {
        while (!scores.empty() && scores.back() == -std::numeric_limits<T>::infinity())
            scores = scores.first(scores.size() - 1);
        row_marks_.clear();
        const std::span<const T> known = load(scores, relevant, unknown, cutoff);
        Row row{};
        const std::size_t R = relevant.size();
        if (R > 0 && R < known.size()) measure_ranking(row, known);
        measure_set(row, R, known.size());
        for (std::size_t i = 0; i < kValues; ++i) totals_[i] += row[i];
        for (const Mark& mark : row_marks_) count(mark, per_label_, 1);
        if (window_ > 0) replace_oldest(row);
    }

    void restore(const Row& totals, std::vector<PerLabel> per_label, std::vector<Row> recent,
                 std::vector<std::vector<Mark>> marks, std::size_t next) {
        totals_ = totals;
        per_label_ = std::move(per_label);
        recent_ = std::move(recent);
        marks_ = std::move(marks);
        next_ = next;
        recent_per_label_.clear();
        for (const auto& row : marks_)
            for (const Mark& mark : row) count(mark, recent_per_label_, 1);
    }

  private:
    // Counts the chosen labels, sorts the scores of the relevant labels, and returns the scores of
    // all labels of known relevance; without a copy if possible.
    template <class T>
    std::span<const T> load(std::span<const T> scores, std::span<const std::int32_t> relevant,
                            std::span<const std::int32_t> unknown, double cutoff) {
        std::size_t labels = scores.size();
        for (const std::int32_t label : relevant) labels = std::max<std::size_t>(labels, label + 1);
        if (per_label_.size() < labels) per_label_.resize(labels);
        if (labels > scores.size() || !unknown.empty()) {
            auto& copy = std::get<std::vector<T>>(copies_);
            copy.assign(scores.begin(), scores.end());
            copy.resize(labels, -std::numeric_limits<T>::infinity());
            scores = copy;
        }
        hits_ = 0;
        relevant_.clear();
        for (const std::int32_t label : relevant) {
            relevant_.push_back(static_cast<double>(scores[label]));
            const bool hit = relevant_.back() >= cutoff;
            hits_ += hit;
            row_marks_.push_back({label, hit, true});
        }
        std::sort(relevant_.begin(), relevant_.end(), std::greater<>());
        if (!unknown.empty()) scores = remove_unknown<T>(unknown, cutoff);
        else choose(scores, cutoff);
        return scores;
    }

    template <class T>
    void choose(std::span<const T> scores, double cutoff) {
        constexpr T lowest = -std::numeric_limits<T>::infinity();
        chosen_ = 0;
        // The largest number of type T below the cut-off: score > below means score >= cutoff.
        T below = static_cast<T>(cutoff);
        if (static_cast<double>(below) >= cutoff) below = std::nextafter(below, lowest);
        const bool all =
            cutoff == -std::numeric_limits<double>::infinity();  // no number is below it
        const auto next = [&](std::size_t from) {
            return all ? from : kernels::first_above(scores.data(), below, from, scores.size());
        };
        for (std::size_t label = next(0); label < scores.size(); label = next(label + 1))
            add_chosen(label);
    }
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
    std::span<const T> remove_unknown(std::span<const std::int32_t> unknown, double cutoff) {
        unknown_.assign(unknown.begin(), unknown.end());
        std::sort(unknown_.begin(), unknown_.end());
        auto& copy = std::get<std::vector<T>>(copies_);
        chosen_ = 0;
        std::size_t kept = 0;
        auto skip = unknown_.begin();
        for (std::size_t label = 0; label < copy.size(); ++label) {
            if (skip != unknown_.end() && static_cast<std::size_t>(*skip) == label) {
                ++skip;
                continue;
            }
            if (static_cast<double>(copy[label]) >= cutoff) add_chosen(label);
            copy[kept++] = copy[label];
        }
        return std::span<const T>(copy).first(kept);
    }

    template <class T>
    void measure_ranking(Row& row, std::span<const T> known) {
        const std::size_t K = known.size(), R = relevant_.size();
        double misplaced = 0, precision = 0, first_places = 0, gain = 0, top = 0;
        // Relevant labels by descending score; those from i to before `last` have equal scores.
        for (std::size_t i = 0, last = 0; i < R; i = last) {
            const auto score = static_cast<T>(relevant_[i]);
            while (last < R && relevant_[last] == relevant_[i]) ++last;
            const auto equal_relevant = static_cast<double>(last - i);
            const auto counts = kernels::count_bound(known.data(), score, K);
            const double from = counts.at_least, above = counts.above;
            const double tied = from - above;
            misplaced += equal_relevant * (from - static_cast<double>(last));
            precision += equal_relevant * static_cast<double>(last) / from;
            first_places += equal_relevant * static_cast<double>(place(from) - place(above)) / tied;
            gain += equal_relevant * (discounts_[place(from)] - discounts_[place(above)]) / tied;
            if (above == 0) top = equal_relevant / tied;
            row[coverage] = from;  // after the loop: of the lowest relevant label
        }
        const auto count = static_cast<double>(R);
        row[ranked] = 1;
        row[any_mistake] = misplaced > 0;
        row[one_error] = 1 - top;
        row[ranking_loss] = misplaced / (count * (static_cast<double>(K) - count));
        row[average_precision] = precision / count;
        row[precision_at_k] = first_places / static_cast<double>(k_);
        row[ndcg_at_k] = gain / discounts_[std::min(R, k_)];
    }

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
