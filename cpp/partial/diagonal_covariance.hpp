// A weight vector w and a diagonal matrix A for each label (P3, Remark 2): 1 plus the squares of a
// feature over the updates of a label. Feature-major, as all weights: one row of a feature has the K
// weights, the other the K numbers 1/A. Features appear with the first update that has them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "example.hpp"
#include "weight_store.hpp"

namespace tagalong {

template <class T>
class DiagonalCovariance {
  public:
    struct Scratch {
        std::vector<const T*> weights, inverses;  // rows of the features that have them
        std::vector<T> x, squares;
        double beyond = 0;  // squares of the other features
        AlignedVector<T> sums;
    };

    std::size_t labels() const { return store_.labels(); }
    void add_labels(std::size_t count);
    const WeightStore<T>& store() const { return store_; }
    WeightStore<T>& store() { return store_; }

    // As FullCovariance.
    void look(const Example& x, Scratch& scratch) const;
    void margins(Scratch& scratch, std::vector<T>& out) const;
    void forms(Scratch& scratch, std::vector<double>& out) const;
    void prepare(const Example& x, std::span<const std::int32_t> labels);
    double begin(std::int32_t label);
    void project(double amount) { move(-amount); }
    double include(double weight);
    void step(double amount) { move(amount); }

    double weight(std::size_t label, std::size_t place) const {
        return static_cast<double>(store_.row(static_cast<std::int32_t>(place))[label]);
    }
    std::size_t bytes() const { return store_.bytes(); }

    // A new row of a feature, with the matrix of a label that knows nothing of it.
    std::int32_t insert(std::int32_t feature);

  private:
    void move(double amount);

    WeightStore<T> store_{2};
    // Scratch of the writer.
    std::vector<T*> weights_, inverses_;  // rows of the features of the example
    std::vector<double> values_, direction_, ratios_;  // x, A^-1 x of the label begun, how A grows
    std::size_t label_ = 0;
};

extern template class DiagonalCovariance<float>;
extern template class DiagonalCovariance<double>;

}  // namespace tagalong
