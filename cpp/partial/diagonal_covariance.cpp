#include "partial/diagonal_covariance.hpp"

#include <cmath>

#include "clones.hpp"
#include "kernels.hpp"

namespace tagalong {
namespace {

// out[k] = sum over the rows of square[i] / (1 + rows[i][k])
template <class T>
TAGALONG_INLINE void sum_of_shares_body(T* __restrict out, const T* const* rows, const T* squares,
                                        std::size_t count, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) out[k] = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const T* row = rows[i];
        const T square = squares[i];
#pragma omp simd
        for (std::size_t k = 0; k < n; ++k) out[k] += square / (T(1) + row[k]);
    }
}

TAGALONG_CLONES void sum_of_shares(float* out, const float* const* rows, const float* squares, std::size_t count,
                                   std::size_t n) {
    sum_of_shares_body(out, rows, squares, count, n);
}
TAGALONG_CLONES void sum_of_shares(double* out, const double* const* rows, const double* squares,
                                   std::size_t count, std::size_t n) {
    sum_of_shares_body(out, rows, squares, count, n);
}

}  // namespace

template <class T>
void DiagonalCovariance<T>::margins(const Example& x, Scratch& scratch, std::vector<T>& out) const {
    scratch.rows.clear();
    scratch.x.clear();
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = store_.find(x.feature[i]);
        if (row == FeatureIndex::kAbsent) continue;
        scratch.rows.push_back(store_.row(row));
        scratch.x.push_back(static_cast<T>(x.value[i]));
    }
    scratch.sums.resize(store_.stride());
    kernels::score_rows(scratch.sums.data(), scratch.rows.data(), scratch.x.data(), scratch.rows.size(),
                        store_.stride());
    out.assign(scratch.sums.begin(), scratch.sums.begin() + static_cast<std::ptrdiff_t>(labels()));
}

template <class T>
void DiagonalCovariance<T>::forms(const Example& x, Scratch& scratch, std::vector<double>& out) const {
    scratch.rows.clear();
    scratch.x.clear();
    double beyond = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = store_.find(x.feature[i]);
        const double square = x.value[i] * x.value[i];
        if (row == FeatureIndex::kAbsent) {
            beyond += square;
            continue;
        }
        scratch.rows.push_back(store_.row(row, 1));
        scratch.x.push_back(static_cast<T>(square));
    }
    scratch.sums.resize(store_.stride());
    sum_of_shares(scratch.sums.data(), scratch.rows.data(), scratch.x.data(), scratch.rows.size(), store_.stride());
    out.resize(labels());
    for (std::size_t k = 0; k < labels(); ++k) out[k] = static_cast<double>(scratch.sums[k]) + beyond;
}

template <class T>
void DiagonalCovariance<T>::prepare(const Example& x, std::span<const std::int32_t>) {
    rows_.clear();
    values_ = x.value;
    for (const std::int32_t feature : x.feature) {
        const std::int32_t row = store_.find(feature);
        rows_.push_back(row == FeatureIndex::kAbsent ? store_.insert(feature) : row);
    }
}

template <class T>
double DiagonalCovariance<T>::begin(std::int32_t label) {
    label_ = static_cast<std::size_t>(label);
    double form = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i)
        form += values_[i] * values_[i] / (1 + static_cast<double>(store_.row(rows_[i], 1)[label_]));
    return form;
}

template <class T>
double DiagonalCovariance<T>::include(double weight) {
    double gain = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        T& sum = store_.row(rows_[i], 1)[label_];
        const double before = static_cast<double>(sum);
        sum = static_cast<T>(before + weight * values_[i] * values_[i]);
        gain += std::log((1 + static_cast<double>(sum)) / (1 + before));
    }
    return gain;
}

template <class T>
void DiagonalCovariance<T>::move(double amount) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        T& weight = store_.row(rows_[i])[label_];
        const double share = values_[i] / (1 + static_cast<double>(store_.row(rows_[i], 1)[label_]));
        weight = static_cast<T>(static_cast<double>(weight) + amount * share);
    }
}

template class DiagonalCovariance<float>;
template class DiagonalCovariance<double>;

}  // namespace tagalong
