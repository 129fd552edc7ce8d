// A weight vector w and a full matrix A = I + sum of x x' per label (P3).
//
// The inverse of A is stored in the storage type and updated by the Sherman-Morrison formula. A
// itself is stored in double precision. At every 64th update of a label, residual() measures the
// error of A^-1 x for the current row; if it is too large, the inverse is recomputed by a Cholesky
// factorisation. A label allocates memory at its first update. Until then, and for features that it
// was not updated with, A is the identity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/example.hpp"
#include "core/feature_index.hpp"
#include "partial/symmetric_tiles.hpp"

namespace tagalong {

template <class T>
class FullCovariance {
  public:
    explicit FullCovariance(double memory_limit) : memory_limit_(memory_limit) {}

    struct Label {
        AlignedVector<T> weights;  // padded to whole tiles
        SymmetricTiles<T> inverse;
        SymmetricTiles<double> matrix;
        std::int64_t updates = 0;
        double tolerated = kMaxResidual;  // largest accepted residual
    };
    // Working memory of a reader.
    struct Scratch {
        AlignedVector<T> x;         // by feature position, padded
        double unseen_squares = 0;  // sum of squares of unknown features
        std::vector<double> tail;   // sum of squares from each tile on
        std::vector<const T*> matrices;
        std::vector<std::size_t> labels;
        std::vector<double> variances;
    };

    std::size_t labels() const { return labels_.size(); }
    void add_labels(std::size_t count) { labels_.resize(labels_.size() + count); }
    const FeatureIndex& features() const { return index_; }

    // Load an example; then compute, for every label, the margin w.x and the variance x.A^-1 x (up
    // to a constant, the variance of the margin).
    void load_example(const Example& x, Scratch& scratch) const;
    void compute_margins(Scratch& scratch, std::vector<T>& out) const;
    void compute_variances(Scratch& scratch, std::vector<double>& out) const;

    // Allocates the memory for an update of some labels with x, which `load_example` must have
    // loaded into `scratch` since the last update. If the memory limit is exceeded, throws
    // InputError and changes nothing.
    void prepare(const Example& x, const Scratch& scratch, std::span<const std::int32_t> labels);
    // Selects a label for the following calls. Returns q = x.A^-1 x.
    double select_label(std::int32_t label);
    // w -= amount A^-1 x
    void project(double amount) { move_weights(-amount); }
    // A += weight x x'. Returns the increase of ln|A|.
    double add_outer_product(double weight);
    // w += amount A^-1 x
    void step(double amount) { move_weights(amount / determinant_ratio_); }

    double weight(std::size_t label, std::size_t position) const {
        const auto& w = labels_[label].weights;
        return position < w.size() ? static_cast<double>(w[position]) : 0.0;
    }
    // Memory of one label with this number of features.
    static double bytes_per_label(double features);
    std::size_t bytes() const;
    // Number of recomputed inverses since construction; not saved.
    std::int64_t refactorisations() const { return refactorisations_; }

    const std::vector<Label>& state() const { return labels_; }
    // Restore a saved state into a new object: the features, then one label after the other.
    void restore_features(std::span<const std::int32_t> ids);
    Label& restore_label(std::size_t label, std::size_t side);
    // Whether the numbers of a restored label are within the bounds of A = I + sum of x x', whose
    // inverse has no entry above 1.
    bool is_sound(const Label& label) const;

  private:
    // Largest residual |A A^-1 x - x| for a row x of length 1, and the number of updates between
    // two checks.
    static constexpr double kMaxResidual = sizeof(T) == 4 ? 1e-3 : 1e-9;
    static constexpr std::int64_t kUpdatesBetweenChecks = 64;

    void grow(Label& label, std::size_t side) const;
    void move_weights(double amount);
    double residual(const Label& label);
    void refactorise(Label& label);

    double memory_limit_;
    FeatureIndex index_;
    std::vector<Label> labels_;

    // Working memory of the writer: the example by feature position, and A^-1 x of the selected
    // label.
    Scratch current_;
    Label* label_ = nullptr;
    AlignedVector<T> direction_, tiles_;
    AlignedVector<double> x_in_double_, product_, direction_in_double_, tiles_in_double_;
    double variance_ = 0, determinant_ratio_ = 1;
    std::int64_t refactorisations_ = 0;
};

extern template class FullCovariance<float>;
extern template class FullCovariance<double>;

}  // namespace tagalong
