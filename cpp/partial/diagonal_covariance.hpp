// A weight vector w and a diagonal matrix A = 1 + S for each label (P3, Remark 2): S sums the squares
// of a feature over the updates of a label. Feature-major, as all weights: one row of a feature has
// the K weights, the other its K sums. Features appear with the first update that has them.
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
        std::vector<const T*> rows;
        std::vector<T> x;
        AlignedVector<T> sums;
    };

    std::size_t labels() const { return store_.labels(); }
    void add_labels(std::size_t count) { store_.add_labels(count); }
    const WeightStore<T>& store() const { return store_; }
    WeightStore<T>& store() { return store_; }

    // As FullCovariance.
    void margins(const Example& x, Scratch& scratch, std::vector<T>& out) const;
    void forms(const Example& x, Scratch& scratch, std::vector<double>& out) const;
    void prepare(const Example& x, std::span<const std::int32_t> labels);
    double begin(std::int32_t label);
    void project(double amount) { move(-amount); }
    double include(double weight);
    void step(double amount) { move(amount); }

    double weight(std::size_t label, std::size_t place) const {
        return static_cast<double>(store_.row(static_cast<std::int32_t>(place))[label]);
    }
    std::size_t bytes() const { return store_.bytes(); }

  private:
    void move(double amount);

    WeightStore<T> store_{2};
    // Scratch of the writer.
    std::vector<std::int32_t> rows_;
    std::vector<double> values_;
    std::size_t label_ = 0;
};

extern template class DiagonalCovariance<float>;
extern template class DiagonalCovariance<double>;

}  // namespace tagalong
