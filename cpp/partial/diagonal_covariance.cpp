#include "partial/diagonal_covariance.hpp"

#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace tagalong {
template <class T>
void DiagonalCovariance<T>::add_labels(std::size_t count) {
    const std::size_t before = store_.stride();
    store_.add_labels(count);
    for (std::size_t r = 0; r < store_.rows() && store_.stride() > before; ++r) {
        T* row = store_.row(static_cast<std::int32_t>(r), 1);
        std::fill(row + before, row + store_.stride(), T(1));
    }
}

template <class T>
std::int32_t DiagonalCovariance<T>::insert(std::int32_t feature) {
    const std::int32_t row = store_.insert(feature);
    std::fill_n(store_.row(row, 1), store_.stride(), T(1));
    return row;
}

template <class T>
void DiagonalCovariance<T>::look(const Example& x, Scratch& scratch) const {
    scratch.weights.clear();
    scratch.inverses.clear();
    scratch.x.clear();
    scratch.squares.clear();
    scratch.beyond = 0;
    scratch.sums.resize(store_.stride());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = store_.find(x.feature[i]);
        const double square = x.value[i] * x.value[i];
        if (row == FeatureIndex::kAbsent) {
            scratch.beyond += square;
            continue;
        }
        const T* weights = store_.row(row);
        scratch.weights.push_back(weights);
        scratch.inverses.push_back(weights + store_.stride());
        scratch.x.push_back(static_cast<T>(x.value[i]));
        scratch.squares.push_back(static_cast<T>(square));
    }
}

template <class T>
void DiagonalCovariance<T>::margins(Scratch& scratch, std::vector<T>& out) const {
    kernels::score_rows(scratch.sums.data(), scratch.weights.data(), scratch.x.data(), scratch.x.size(),
                        store_.stride());
    out.assign(scratch.sums.begin(), scratch.sums.begin() + static_cast<std::ptrdiff_t>(labels()));
}

template <class T>
void DiagonalCovariance<T>::forms(Scratch& scratch, std::vector<double>& out) const {
    kernels::score_rows(scratch.sums.data(), scratch.inverses.data(), scratch.squares.data(),
                        scratch.squares.size(), store_.stride());
    out.resize(labels());
    for (std::size_t k = 0; k < labels(); ++k) out[k] = static_cast<double>(scratch.sums[k]) + scratch.beyond;
}

template <class T>
void DiagonalCovariance<T>::prepare(const Example& x, std::span<const std::int32_t>) {
    weights_.clear();
    inverses_.clear();
    values_ = x.value;
    direction_.resize(values_.size());
    ratios_.resize(values_.size());
    for (const std::int32_t feature : x.feature) {
        std::int32_t row = store_.find(feature);
        if (row == FeatureIndex::kAbsent) row = insert(feature);
        weights_.push_back(store_.row(row));
        inverses_.push_back(weights_.back() + store_.stride());
    }
}

// Numbers of one label lie apart: they are gathered first, so that sums need not wait for each other.
template <class T>
double DiagonalCovariance<T>::begin(std::int32_t label) {
    label_ = static_cast<std::size_t>(label);
    const std::size_t n = values_.size();
    const double* x = values_.data();
    double* direction = direction_.data();
    for (std::size_t i = 0; i < n; ++i) direction[i] = x[i] * static_cast<double>(inverses_[i][label_]);
    double form = 0;
#pragma omp simd reduction(+ : form)
    for (std::size_t i = 0; i < n; ++i) form += x[i] * direction[i];
    return form;
}

template <class T>
double DiagonalCovariance<T>::include(double weight) {
    const std::size_t n = values_.size();
    const double* x = values_.data();
    double* direction = direction_.data();
    double* ratio = ratios_.data();
    for (std::size_t i = 0; i < n; ++i) ratio[i] = 1 + weight * x[i] * direction[i];
    for (std::size_t i = 0; i < n; ++i) direction[i] /= ratio[i];
    for (std::size_t i = 0; i < n; ++i) {
        T& inverse = inverses_[i][label_];
        inverse = static_cast<T>(static_cast<double>(inverse) / ratio[i]);
    }
    double gain = 0;
    constexpr std::size_t kTogether = 16;  // logarithms are dear: one for so many
    for (std::size_t from = 0; from < n; from += kTogether) {
        const std::size_t end = std::min(n, from + kTogether);
        double growth = 1;
        for (std::size_t i = from; i < end; ++i) growth *= ratio[i];
        if (growth < HUGE_VAL) gain += std::log(growth);
        else
            for (std::size_t i = from; i < end; ++i) gain += std::log(ratio[i]);
    }
    return gain;
}

template <class T>
void DiagonalCovariance<T>::move(double amount) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        T& weight = weights_[i][label_];
        weight = static_cast<T>(static_cast<double>(weight) + amount * direction_[i]);
    }
}

template class DiagonalCovariance<float>;
template class DiagonalCovariance<double>;

}  // namespace tagalong
