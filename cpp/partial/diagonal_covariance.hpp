// A weight vector w and a diagonal matrix A per label (P3, Remark 2). An entry of A is 1 plus the
// sum of the feature's squares over the updates of the label. Storage is feature-major, like all
// weights: the row of a feature holds, for each label, the weight and 1/A side by side. An update
// changes one position per feature and finds both numbers in one cache line. A feature is added by
// the first update that contains it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/example.hpp"
#include "core/weight_store.hpp"

namespace tagalong {

// The entries of w and A^-1 for one label and one feature.
template <class T>
struct WeightAndInverse {
    T weight = 0;
    T inverse = 1;  // 1/A
};

template <class T>
class DiagonalCovariance {
  public:
    struct Scratch {
        std::vector<const WeightAndInverse<T>*> rows;  // of the known features
        std::vector<WeightAndInverse<T>> factors;      // the factors of their entries: x and x^2
        double unseen_squares = 0;                     // sum of x^2 over unknown features
        AlignedVector<WeightAndInverse<T>> sums;
    };

    std::size_t labels() const { return store_.labels(); }
    void add_labels(std::size_t count);
    const WeightStore<WeightAndInverse<T>>& store() const { return store_; }
    WeightStore<WeightAndInverse<T>>& store() { return store_; }

    // As in FullCovariance. The changes of `add_outer_product` take effect with the `step` that
    // must follow.
    void load_example(const Example& x, Scratch& scratch) const;
    void compute_margins(Scratch& scratch, std::vector<T>& out) const;
    void compute_variances(Scratch& scratch, std::vector<double>& out) const;
    void prepare(const Example& x, const Scratch& scratch, std::span<const std::int32_t> labels);
    double select_label(std::int32_t label);
    void project(double amount);
    double add_outer_product(double weight);
    void step(double amount);

    double weight(std::size_t label, std::size_t position) const {
        return static_cast<double>(store_.row(static_cast<std::int32_t>(position))[label].weight);
    }
    std::size_t bytes() const { return store_.bytes(); }

    // Adds a row for a feature, with w = 0 and A = 1 for every label.
    std::int32_t insert(std::int32_t feature);

  private:
    WeightStore<WeightAndInverse<T>> store_{1};
    // Working memory of the writer.
    const Scratch* scratch_ = nullptr;
    std::vector<WeightAndInverse<T>*> rows_;  // rows of the example's features
    std::vector<double> values_, squares_;    // x and x^2
    // Of the selected label: w, 1/A, and the factor by which A grows.
    std::vector<double> weights_, inverses_, ratios_;
    std::size_t label_ = 0;
};

extern template class DiagonalCovariance<float>;
extern template class DiagonalCovariance<double>;

}  // namespace tagalong
