// A weight vector w and a full matrix A = I + sum of x x' for each label (P3).
//
// The inverse of A is kept in the storage type and updated by Sherman-Morrison; A itself is kept in
// double precision. Every so many updates of a label the two are compared on the row at hand, and the
// inverse is computed anew where it has drifted. A label takes memory from the first update on; until
// then, and for features that it has not been updated with, A is the unit matrix.
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
    explicit FullCovariance(double memory_limit) : limit_(memory_limit) {}

    struct Label {
        AlignedVector<T> weights;  // padded to whole tiles
        SymmetricTiles<T> inverse;
        SymmetricTiles<double> matrix;
        std::int64_t updates = 0;
        double tolerated = kDrift;  // how far inverse and matrix may be apart
    };
    // What a reader needs to look at an example.
    struct Scratch {
        AlignedVector<T> x;        // by place, padded
        double beyond = 0;         // squares of features without a place
        std::vector<double> tail;  // squares from each tile on
        std::vector<const T*> matrices;
        std::vector<std::size_t> labels;
        std::vector<double> forms;
    };

    std::size_t labels() const { return labels_.size(); }
    void add_labels(std::size_t count) { labels_.resize(labels_.size() + count); }
    const FeatureIndex& features() const { return index_; }

    // Look at an example; then w.x of every label, and x.A^-1 x of every label.
    void look(const Example& x, Scratch& scratch) const;
    void margins(Scratch& scratch, std::vector<T>& out) const;
    void forms(Scratch& scratch, std::vector<double>& out) const;

    // Room for an update of some labels with x, at which `look` has looked since the last one; InputError,
    // and nothing has changed, if it is too much.
    void prepare(const Example& x, const Scratch& looked, std::span<const std::int32_t> labels);
    // Begin with a label: q = x.A^-1 x.
    double begin(std::int32_t label);
    // w -= amount A^-1 x
    void project(double amount) { move(-amount); }
    // A += weight x x'; by how much ln|A| grows.
    double include(double weight);
    // w += amount A^-1 x
    void step(double amount) { move(amount / stretch_); }

    double weight(std::size_t label, std::size_t place) const {
        const auto& w = labels_[label].weights;
        return place < w.size() ? static_cast<double>(w[place]) : 0.0;
    }
    // What a matrix of each label would take, with so many features.
    static double bytes_a_label(double features);
    std::size_t bytes() const;
    // How often an inverse had drifted, in the life of this object.
    std::int64_t refactorisations() const { return refactorisations_; }

    const std::vector<Label>& state() const { return labels_; }
    // Into a new object: the features, and a label after the other.
    void restore_features(std::span<const std::int32_t> ids);
    Label& restore_label(std::size_t label, std::size_t side);

  private:
    // How far A^-1 x, multiplied with A, may be from a row x of length 1, and how often to look.
    static constexpr double kDrift = sizeof(T) == 4 ? 1e-3 : 1e-9;
    static constexpr std::int64_t kUpdatesBetweenChecks = 64;

    void grow(Label& label, std::size_t side) const;
    void move(double amount);
    double residual(const Label& label);
    void refactorise(Label& label);

    double limit_;
    FeatureIndex index_;
    std::vector<Label> labels_;

    // Scratch of the writer: the example by place, and A^-1 x of the label that was begun.
    Scratch now_;
    Label* label_ = nullptr;
    AlignedVector<T> direction_, tiles_;
    AlignedVector<double> wide_, product_, wide_direction_, wide_tiles_;
    double form_ = 0, stretch_ = 1;
    std::int64_t refactorisations_ = 0;
};

extern template class FullCovariance<float>;
extern template class FullCovariance<double>;

}  // namespace tagalong
