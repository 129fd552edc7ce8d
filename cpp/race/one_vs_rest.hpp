// One linear classifier per label, each trained against all other labels with the squared hinge
// loss and an adaptive step:
//     z_j = x_j / sqrt(S_j),  rho_k = sum_j z_j theta_jk,  q = sum_j x_j z_j,
//     alpha_k = y_k max(0, 1 - y_k rho_k) / (q + 1/(2 C weight)),
//     theta_jk += alpha_k x_j,  S_j += 3 x_j^2 if any alpha_k is not 0,
// with y_k = 1 for relevant labels and -1 for irrelevant ones. The step is the exact minimum of
//     1/2 sum_j sqrt(S_j) |w_j - w_j(before)|^2 + C weight sum_k max(0, 1 - y_k <w_k, x>)^2.
//
// A label that has never been relevant has seen irrelevant examples only. All such labels share one
// column of weights, the column of no label yet, which learns every example as irrelevant. A label
// gets a separate column, a copy of it, in the first round in which it is relevant or unknown. So a
// label added late starts as if it had been there from the first round.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/example.hpp"
#include "core/selection.hpp"
#include "core/weight_store.hpp"
#include "geometry/row_lookup.hpp"
#include "geometry/row_scales.hpp"
#include "geometry/row_update.hpp"
#include "rules/step.hpp"

namespace tagalong {

template <class T>
class OneVsRest {
  public:
    OneVsRest() : store_(1, StepPattern::common_start), scales_(true) {}

    std::size_t labels() const { return store_.labels(); }
    void add_labels(std::size_t count) { store_.add_labels(count); }

    // Working memory for predictions; one per thread.
    struct Scratch {
        RowLookup<T> lookup;
    };
    // Writes the scores of all labels to `out`. Features without a row are ignored.
    void score(const RowView& x, Scratch& scratch, T* out) const;
    // Learns one example. The labels are sorted and below labels(); the weight is positive.
    void learn(const RowView& x, std::span<const int> relevant, std::span<const int> unknown,
               double weight);
    // Likewise, for an example that score() has just scored with this scratch memory. Labels may
    // have been added since.
    void learn_scored(const RowView& x, Scratch& scratch, std::span<const int> relevant,
                      std::span<const int> unknown, double weight);
    // The contribution of each feature of x to the score of a label. Returns the part of the score
    // that belongs to no feature, which is 0.
    double contributions(const RowView& x, Scratch& scratch, int label,
                         std::vector<double>& out) const;
    // The sum of the contributions of each feature to the scores of all labels, added label by
    // label in ascending order. Returns the sum of the parts that belong to no feature.
    double summed_contributions(const RowView& x, Scratch& scratch, std::vector<double>& out) const;

    // Merges or removes labels. A merged label has the shared weights plus the sum of the
    // differences of its parts from them: an example that is irrelevant to all parts keeps its
    // score.
    void rebuild(const Selection& selection);
    void drop_features(const std::function<bool(std::int32_t feature)>& dropped);
    std::size_t bytes() const { return store_.bytes() + 2 * S_.size() * sizeof(double); }

    // For saving and loading: the weights per column, and S_j per row. Restore the columns into a
    // learner that has its labels and no rows; false if they are invalid. Then restore the rows.
    const WeightStore<T>& store() const { return store_; }
    const std::vector<double>& row_sums() const { return S_; }
    bool restore_columns(std::span<const std::int32_t> columns) {
        return store_.restore_columns(columns);
    }
    void restore_row(std::int32_t feature, double S, const T* theta) {
        store_.write_columns(add_row(feature, S), 0, theta);
    }

  private:
    static constexpr double kC = 10;
    static constexpr double kRate = 3;  // growth rate of S

    std::int32_t add_row(std::int32_t feature, double S);
    void separate(std::span<const int> given, RowLookup<T>& lookup);
    double squared_norm(const RowView& x, const RowLookup<T>& lookup) const;
    void choose_step(const RowLookup<T>& lookup, std::span<const int> relevant,
                     std::span<const int> unknown, double factor);
    void apply_step(const RowView& x, const RowLookup<T>& lookup);

    WeightStore<T> store_;
    std::vector<double> S_;  // per row
    RowScales scales_;
    // Scratch memory of learn().
    Scratch scratch_;
    Step step_;  // per column
    RowUpdate<T> update_;
};

extern template class OneVsRest<float>;
extern template class OneVsRest<double>;

}  // namespace tagalong
