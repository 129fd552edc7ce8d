// A weight vector w and a diagonal matrix A for each label (P3, Remark 2): 1 plus the squares of a
// feature over the updates of a label. Feature-major, as all weights: the row of a feature has for each
// label the weight and 1/A, side by side, so that an update, which goes to a place a feature, finds both
// in one cache line. Features appear with the first update that has them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/example.hpp"
#include "core/weight_store.hpp"

namespace tagalong {

// What is known of a label and a feature.
template <class T>
struct Known {
    T weight = 0;
    T inverse = 1;  // 1/A
};

template <class T>
class DiagonalCovariance {
  public:
    struct Scratch {
        std::vector<const Known<T>*> rows;  // of the features that have them
        std::vector<Known<T>> factors;      // what to multiply them with: x, and its square
        double beyond = 0;                  // squares of the other features
        AlignedVector<Known<T>> sums;
    };

    std::size_t labels() const { return store_.labels(); }
    void add_labels(std::size_t count);
    const WeightStore<Known<T>>& store() const { return store_; }
    WeightStore<Known<T>>& store() { return store_; }

    // As FullCovariance; what `include` does counts from the `step` on that must follow it.
    void look(const Example& x, Scratch& scratch) const;
    void margins(Scratch& scratch, std::vector<T>& out) const;
    void forms(Scratch& scratch, std::vector<double>& out) const;
    void prepare(const Example& x, const Scratch& looked, std::span<const std::int32_t> labels);
    double begin(std::int32_t label);
    void project(double amount);
    double include(double weight);
    void step(double amount);

    double weight(std::size_t label, std::size_t place) const {
        return static_cast<double>(store_.row(static_cast<std::int32_t>(place))[label].weight);
    }
    std::size_t bytes() const { return store_.bytes(); }

    // A new row of a feature, with the matrix of a label that knows nothing of it.
    std::int32_t insert(std::int32_t feature);

  private:
    WeightStore<Known<T>> store_{1};
    // Scratch of the writer.
    const Scratch* looked_ = nullptr;
    std::vector<Known<T>*> rows_;           // of the features of the example
    std::vector<double> values_, squares_;  // x, and its squares
    // Of the label that is included: w, 1/A, and how A grows.
    std::vector<double> weights_, inverses_, ratios_;
    std::size_t label_ = 0;
};

extern template class DiagonalCovariance<float>;
extern template class DiagonalCovariance<double>;

}  // namespace tagalong
