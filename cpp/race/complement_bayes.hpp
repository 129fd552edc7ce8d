// Complement naive Bayes: a label is likely if its words are rare among the other labels. Each
// example adds weight x_j to N_jk for each of its words j and relevant labels k. N_j, N_k and N are
// the sums of N_jk over labels, over words and over both; V is the number of words. The score is
//     score_k = sum_j x_j [ln(N - N_k + .1 V) - ln(N_j - N_jk + .1)].
// Most N_jk are 0, so they are stored sparsely, and scoring takes one logarithm per stored count of
// the words of the example. Values x_j are not negative; examples have no constant feature.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/example.hpp"
#include "core/feature_index.hpp"
#include "core/selection.hpp"
#include "race/entry_lists.hpp"

namespace tagalong {

template <class T>
class ComplementBayes {
  public:
    // The largest N. An example that would exceed it is not learnt, so that all sums are finite.
    static constexpr double kLargest = 1e300;

    std::size_t labels() const { return label_totals_.size(); }
    void add_labels(std::size_t count) { label_totals_.resize(labels() + count, 0.0); }

    // Working memory for predictions; one per thread.
    struct Scratch {
        struct Word {
            std::size_t list;  // of counts
            double x;
        };
        std::vector<Word> words;
        std::vector<double> logs;
        std::vector<double> sums;
    };
    // Writes the scores of all labels to `out`. Features that have never been learnt are ignored.
    void score(const RowView& x, Scratch& scratch, T* out) const;
    // Learns one example. The labels are sorted and below labels(); the weight is positive. Only
    // relevant labels learn. Values that are not positive are ignored.
    void learn(const RowView& x, std::span<const int> relevant, std::span<const int> unknown,
               double weight);
    // The contribution of each feature of x to the score of a label. Returns the part of the score
    // that belongs to no feature, which is 0.
    double contributions(const RowView& x, Scratch& scratch, int label,
                         std::vector<double>& out) const;
    // The sum of the contributions of each feature to the scores of all labels, added label by
    // label in ascending order. Returns the sum of the parts that belong to no feature.
    double summed_contributions(const RowView& x, Scratch& scratch, std::vector<double>& out) const;

    // Merges or removes labels. The counts of a merged label are the sums of those of its parts.
    // Words without any count left are removed.
    void rebuild(const Selection& selection);
    void drop_features(const std::function<bool(std::int32_t feature)>& dropped);
    std::size_t bytes() const;

    // For saving and loading. The sums are saved too, because their rounding errors depend on the
    // order of the examples.
    struct Sums {
        std::vector<double> of_words;
        std::vector<double> of_labels;
        double total = 0;
    };
    const std::vector<std::int32_t>& words() const { return index_.ids(); }
    const EntryLists& counts() const { return counts_; }
    Sums sums() const;
    // Adds a word with its counts, sorted by label. Then restore the sums; false if they do not
    // agree with the counts.
    void restore_word(std::int32_t feature, std::span<const std::int32_t> labels,
                      std::span<const double> counts);
    bool restore_sums(Sums sums);

  private:
    static constexpr double kSmoothing = 0.1;

    // A sum without one of its parts. Sums of saved models may be smaller by rounding errors.
    static double without(double sum, double part) { return sum > part ? sum - part : 0.0; }
    // N - N_k + .1 V, and N_j - N_jk + .1.
    double others_of_label(double label_total) const {
        return without(total_, label_total) + kSmoothing * static_cast<double>(counts_.size());
    }
    static double others_of_word(double word_total, double count) {
        return without(word_total, count) + kSmoothing;
    }
    std::size_t add_word(std::int32_t feature);
    void find_words(const RowView& x, Scratch& scratch) const;
    void gather_others(Scratch& scratch) const;
    Sums sums_of_counts() const;
    void rebuild(const Selection& labels, const std::function<bool(std::int32_t)>& dropped);

    FeatureIndex index_;
    EntryLists counts_;                 // N_jk and N_j, one list per word
    std::vector<double> label_totals_;  // N_k
    double total_ = 0;                  // N
    // Scratch memory of learn(): the words of the example and what each label adds to its count.
    std::vector<typename Scratch::Word> learning_;
};

extern template class ComplementBayes<float>;
extern template class ComplementBayes<double>;

}  // namespace tagalong
