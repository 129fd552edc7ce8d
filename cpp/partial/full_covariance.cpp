#include "partial/full_covariance.hpp"

#include <algorithm>
#include <cmath>

#include "partial/memory_limit.hpp"

namespace tagalong {
namespace {

// Rounds up to whole tiles of both storage types.
std::size_t padded_side(std::size_t side) { return (side + 7) / 8 * 8; }

// Inverts a positive definite matrix, row-major in `a`, by its Cholesky factor. Reads and writes
// only the lower triangle. Returns false if the matrix is not positive definite.
bool invert(std::vector<double>& a, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {  // A = L L'
        double* row = &a[j * n];
        for (std::size_t i = 0; i <= j; ++i) {
            const double* other = &a[i * n];
            double value = row[i];
            for (std::size_t k = 0; k < i; ++k) value -= row[k] * other[k];
            if (i == j && !(value > 0)) return false;
            row[i] = i == j ? std::sqrt(value) : value / other[i];
        }
    }
    for (std::size_t j = 0; j < n; ++j) {  // L^-1
        a[j * n + j] = 1 / a[j * n + j];
        for (std::size_t i = j + 1; i < n; ++i) {
            double value = 0;
            for (std::size_t k = j; k < i; ++k) value -= a[i * n + k] * a[k * n + j];
            a[i * n + j] = value / a[i * n + i];
        }
    }
    for (std::size_t j = 0; j < n; ++j)  // A^-1 = L^-T L^-1
        for (std::size_t i = j; i < n; ++i) {
            double value = 0;
            for (std::size_t k = i; k < n; ++k) value += a[k * n + i] * a[k * n + j];
            a[i * n + j] = value;
        }
    return true;
}

}  // namespace

template <class T>
void FullCovariance<T>::load_example(const Example& x, Scratch& scratch) const {
    scratch.x.assign(padded_side(index_.size()), T(0));
    scratch.unseen_squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t at = index_.find(x.feature[i]);
        if (at == FeatureIndex::kAbsent) scratch.unseen_squares += x.value[i] * x.value[i];
        else scratch.x[static_cast<std::size_t>(at)] = static_cast<T>(x.value[i]);
    }
}

template <class T>
void FullCovariance<T>::compute_margins(Scratch& scratch, std::vector<T>& out) const {
    out.assign(labels(), T(0));
    for (std::size_t i = 0; i < labels(); ++i) {
        const AlignedVector<T>& weights = labels_[i].weights;
        if (weights.empty()) continue;
        out[i] = inner_product(weights.data(), scratch.x.data(), weights.size());
    }
}

template <class T>
void FullCovariance<T>::compute_variances(Scratch& scratch, std::vector<double>& out) const {
    // The matrix of a label covers only the first features. For the others A is the identity: they
    // add the sum of their squares.
    constexpr std::size_t L = SymmetricTiles<T>::kSide;
    const std::size_t blocks = scratch.x.size() / L;
    scratch.tail.assign(blocks + 1, scratch.unseen_squares);
    for (std::size_t b = blocks; b-- > 0;) {
        double squares = 0;
        for (std::size_t l = 0; l < L; ++l) {
            const double value = static_cast<double>(scratch.x[b * L + l]);
            squares += value * value;
        }
        scratch.tail[b] = scratch.tail[b + 1] + squares;
    }
    out.assign(labels(), scratch.tail[0]);
    // Consecutive labels with matrices of the same size are computed together: usually all labels.
    scratch.matrices.clear();
    scratch.labels.clear();
    std::size_t side = 0;
    const auto flush = [&] {
        const std::size_t count = scratch.labels.size(),
                          blocks_of_label = SymmetricTiles<T>::blocks(side);
        scratch.variances.resize(count);
        quadratic_forms(scratch.matrices.data(), scratch.x.data(), blocks_of_label, count,
                        scratch.variances.data());
        for (std::size_t k = 0; k < count; ++k)
            out[scratch.labels[k]] =
                std::max(0.0, scratch.variances[k]) + scratch.tail[blocks_of_label];
        scratch.matrices.clear();
        scratch.labels.clear();
    };
    for (std::size_t i = 0; i < labels(); ++i) {
        const SymmetricTiles<T>& inverse = labels_[i].inverse;
        if (inverse.side() == 0) continue;
        if (inverse.side() != side) flush();
        side = inverse.side();
        scratch.matrices.push_back(inverse.data());
        scratch.labels.push_back(i);
    }
    flush();
}

template <class T>
double FullCovariance<T>::bytes_per_label(double features) {
    const auto side = padded_side(static_cast<std::size_t>(std::min(features, 1e9)));
    return static_cast<double>(side * sizeof(T) + SymmetricTiles<T>::numbers(side) * sizeof(T) +
                               SymmetricTiles<double>::numbers(side) * sizeof(double));
}

template <class T>
std::size_t FullCovariance<T>::bytes() const {
    double total = 0;
    for (const Label& label : labels_)
        total += bytes_per_label(static_cast<double>(label.inverse.side()));
    return static_cast<std::size_t>(total);
}

template <class T>
void FullCovariance<T>::prepare(const Example& x, const Scratch&,
                                std::span<const std::int32_t> labels) {
    std::size_t side = index_.size();
    for (const std::int32_t feature : x.feature)
        side += index_.find(feature) == FeatureIndex::kAbsent;
    const std::size_t padded = padded_side(side);
    double extra_bytes = 0;
    const double bytes_of_each = bytes_per_label(static_cast<double>(padded));
    for (const std::int32_t label : labels) {
        const std::size_t now = labels_[static_cast<std::size_t>(label)].inverse.side();
        if (now < padded) extra_bytes += bytes_of_each - bytes_per_label(static_cast<double>(now));
    }
    if (extra_bytes > 0)
        check_memory(static_cast<double>(bytes()) + extra_bytes, memory_limit_,
                     "the matrices of labels with " + std::to_string(side) + " features");
    for (const std::int32_t feature : x.feature)
        if (index_.find(feature) == FeatureIndex::kAbsent) index_.insert(feature);
    for (const std::int32_t label : labels) grow(labels_[static_cast<std::size_t>(label)], padded);
    load_example(x, current_);
    direction_.resize(padded);
    tiles_.resize(padded * SymmetricTiles<T>::kSide);
    x_in_double_.assign(current_.x.begin(), current_.x.end());
}

template <class T>
void FullCovariance<T>::grow(Label& label, std::size_t side) const {
    label.inverse.grow(side);
    label.matrix.grow(side);
    if (label.weights.size() < side) label.weights.resize(side, T(0));
}

template <class T>
double FullCovariance<T>::select_label(std::int32_t label) {
    label_ = &labels_[static_cast<std::size_t>(label)];
    label_->inverse.multiply(current_.x.data(), direction_.data(), tiles_.data());
    variance_ = 0;
    for (std::size_t j = 0; j < direction_.size(); ++j)
        variance_ += x_in_double_[j] * static_cast<double>(direction_[j]);
    variance_ = std::max(0.0, variance_);
    determinant_ratio_ = 1;
    return variance_;
}

template <class T>
double FullCovariance<T>::add_outer_product(double weight) {
    Label& label = *label_;
    ++label.updates;
    const bool check = label.updates % kUpdatesBetweenChecks == 0;
    const bool drifted = check && !(residual(label) <= label.tolerated);
    label.matrix.add_outer(x_in_double_.data(), weight);
    determinant_ratio_ = 1 + weight * variance_;
    label.inverse.add_outer(direction_.data(), static_cast<T>(-weight / determinant_ratio_));
    const double gain = std::log1p(weight * variance_);
    if (drifted) refactorise(label);
    return gain;
}

template <class T>
void FullCovariance<T>::move_weights(double amount) {
    const T factor = static_cast<T>(amount);
    T* weights = label_->weights.data();
    for (std::size_t j = 0; j < direction_.size(); ++j) weights[j] += factor * direction_[j];
}

// |A A^-1 x - x|, where A^-1 x is the computed direction_.
template <class T>
double FullCovariance<T>::residual(const Label& label) {
    const std::size_t n = direction_.size();
    direction_in_double_.assign(direction_.begin(), direction_.end());
    product_.resize(n);
    tiles_in_double_.resize(n * SymmetricTiles<double>::kSide);
    label.matrix.multiply(direction_in_double_.data(), product_.data(), tiles_in_double_.data());
    double squares = 0;
    for (std::size_t j = 0; j < n; ++j)
        squares += (product_[j] - x_in_double_[j]) * (product_[j] - x_in_double_[j]);
    return std::sqrt(squares);
}

template <class T>
void FullCovariance<T>::refactorise(Label& label) {
    const std::size_t n = label.matrix.side();
    std::vector<double> full(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) full[i * n + j] = label.matrix.at(i, j);
    if (!invert(full, n)) return;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            label.inverse.set(i, j, static_cast<T>(full[i * n + j]));
    label.inverse.multiply(current_.x.data(), direction_.data(), tiles_.data());
    determinant_ratio_ = 1;
    // If the storage type cannot represent a better inverse, do not recompute it at every check.
    label.tolerated = std::max(kMaxResidual, 4 * residual(label));
    ++refactorisations_;
}

template <class T>
void FullCovariance<T>::restore_features(std::span<const std::int32_t> ids) {
    for (const std::int32_t id : ids) index_.insert(id);
}

template <class T>
typename FullCovariance<T>::Label& FullCovariance<T>::restore_label(std::size_t label,
                                                                    std::size_t side) {
    grow(labels_[label], side);
    return labels_[label];
}

template <class T>
bool FullCovariance<T>::is_sound(const Label& label) const {
    constexpr double slack = 1 + 1e-6, kLargestInverse = 2;  // 1, but for rounding errors
    for (std::size_t i = 0; i < label.inverse.size(); ++i)
        if (!(std::abs(static_cast<double>(label.inverse.data()[i])) <= kLargestInverse))
            return false;
    for (std::size_t i = 0; i < label.matrix.side(); ++i) {
        const double diagonal = label.matrix.at(i, i);
        if (!(diagonal * slack >= 1)) return false;
        for (std::size_t j = 0; j < i; ++j)
            if (!(std::abs(label.matrix.at(i, j)) <=
                  std::sqrt(diagonal) * std::sqrt(label.matrix.at(j, j)) * slack))
                return false;
    }
    return true;
}

template class FullCovariance<float>;
template class FullCovariance<double>;

}  // namespace tagalong
