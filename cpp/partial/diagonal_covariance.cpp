#include "partial/diagonal_covariance.hpp"

#include <algorithm>
#include <cmath>

#include "core/clones.hpp"

namespace tagalong {
namespace {

// out[k] = sum_i factors[i] rows[i][k], for weights and inverses separately, in the order of i.
// Four rows at a time, like kernels::score_rows.
template <class T>
TAGALONG_INLINE void sum_rows_body(WeightAndInverse<T>* __restrict out,
                                   const WeightAndInverse<T>* const* rows,
                                   const WeightAndInverse<T>* factors, std::size_t count,
                                   std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) out[k] = {0, 0};
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const WeightAndInverse<T>*a = rows[i], *b = rows[i + 1], *c = rows[i + 2], *d = rows[i + 3];
        const WeightAndInverse<T> fa = factors[i], fb = factors[i + 1], fc = factors[i + 2],
                                  fd = factors[i + 3];
        for (std::size_t ahead = i + 4; ahead < i + 8 && ahead < count; ++ahead)
            __builtin_prefetch(rows[ahead]);
#pragma omp simd
        for (std::size_t k = 0; k < n; ++k) {
            out[k].weight = (((out[k].weight + fa.weight * a[k].weight) + fb.weight * b[k].weight) +
                             fc.weight * c[k].weight) +
                            fd.weight * d[k].weight;
            out[k].inverse =
                (((out[k].inverse + fa.inverse * a[k].inverse) + fb.inverse * b[k].inverse) +
                 fc.inverse * c[k].inverse) +
                fd.inverse * d[k].inverse;
        }
    }
    for (; i < count; ++i)
#pragma omp simd
        for (std::size_t k = 0; k < n; ++k) {
            out[k].weight += factors[i].weight * rows[i][k].weight;
            out[k].inverse += factors[i].inverse * rows[i][k].inverse;
        }
}

TAGALONG_CLONES void sum_rows(WeightAndInverse<float>* out,
                              const WeightAndInverse<float>* const* rows,
                              const WeightAndInverse<float>* factors, std::size_t count,
                              std::size_t n) {
    sum_rows_body(out, rows, factors, count, n);
}
TAGALONG_CLONES void sum_rows(WeightAndInverse<double>* out,
                              const WeightAndInverse<double>* const* rows,
                              const WeightAndInverse<double>* factors, std::size_t count,
                              std::size_t n) {
    sum_rows_body(out, rows, factors, count, n);
}

// A += weight x^2, where `inverses` holds 1/A. Writes the ratio of the new to the old A per
// feature, and returns the product of the ratios.
TAGALONG_CLONES double grow(const double* squares, double weight, double* inverses, double* ratios,
                            std::size_t n) {
    double product = 1;
#pragma omp simd reduction(* : product)
    for (std::size_t i = 0; i < n; ++i) {
        const double ratio = 1 + weight * squares[i] * inverses[i];
        ratios[i] = ratio;
        inverses[i] /= ratio;
        product *= ratio;
    }
    return product;
}

}  // namespace

template <class T>
void DiagonalCovariance<T>::add_labels(std::size_t count) {
    const std::size_t before = store_.stride();
    store_.add_labels(count);
    for (std::size_t r = 0; r < store_.rows() && store_.stride() > before; ++r) {
        WeightAndInverse<T>* row = store_.row(static_cast<std::int32_t>(r));
        std::fill(row + before, row + store_.stride(), WeightAndInverse<T>());
    }
}

template <class T>
std::int32_t DiagonalCovariance<T>::insert(std::int32_t feature) {
    const std::int32_t row = store_.insert(feature);
    std::fill_n(store_.row(row), store_.stride(), WeightAndInverse<T>());
    return row;
}

template <class T>
void DiagonalCovariance<T>::load_example(const Example& x, Scratch& scratch) const {
    scratch.rows.resize(x.size());
    scratch.factors.resize(x.size());
    scratch.unseen_squares = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = store_.find(x.feature[i]);
        const double square = x.value[i] * x.value[i];
        if (row == FeatureIndex::kAbsent) {
            scratch.unseen_squares += square;
            continue;
        }
        scratch.rows[count] = store_.row(row);
        scratch.factors[count++] = {static_cast<T>(x.value[i]), static_cast<T>(square)};
    }
    scratch.sums.resize(store_.stride());
    sum_rows(scratch.sums.data(), scratch.rows.data(), scratch.factors.data(), count,
             store_.stride());
}

template <class T>
void DiagonalCovariance<T>::compute_margins(Scratch& scratch, std::vector<T>& out) const {
    out.resize(labels());
    for (std::size_t k = 0; k < labels(); ++k) out[k] = scratch.sums[k].weight;
}

template <class T>
void DiagonalCovariance<T>::compute_variances(Scratch& scratch, std::vector<double>& out) const {
    out.resize(labels());
    for (std::size_t k = 0; k < labels(); ++k)
        out[k] = static_cast<double>(scratch.sums[k].inverse) + scratch.unseen_squares;
}

template <class T>
void DiagonalCovariance<T>::prepare(const Example& x, const Scratch& scratch,
                                    std::span<const std::int32_t>) {
    const std::size_t n = x.size();
    scratch_ = &scratch;
    values_ = x.value;
    rows_.resize(n);
    for (auto* numbers : {&squares_, &weights_, &inverses_, &ratios_}) numbers->resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        squares_[i] = values_[i] * values_[i];
        std::int32_t row = store_.find(x.feature[i]);
        if (row == FeatureIndex::kAbsent) row = insert(x.feature[i]);
        rows_[i] = store_.row(row);
    }
}

template <class T>
double DiagonalCovariance<T>::select_label(std::int32_t label) {
    label_ = static_cast<std::size_t>(label);
    double form = static_cast<double>(scratch_->sums[label_].inverse) + scratch_->unseen_squares;
    if (form > 0) return form;
    // The squares of a tiny row underflow in the storage type.
    for (std::size_t i = 0; i < rows_.size(); ++i)
        form += squares_[i] * static_cast<double>(rows_[i][label_].inverse);
    return form;
}

// Most changed labels are only projected, so this works in place.
template <class T>
void DiagonalCovariance<T>::project(double amount) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        WeightAndInverse<T>& known = rows_[i][label_];
        known.weight -= static_cast<T>(amount * values_[i]) * known.inverse;
    }
}

// The numbers of one label are not contiguous: gathers them first; `step` writes them back.
template <class T>
double DiagonalCovariance<T>::add_outer_product(double weight) {
    const std::size_t n = rows_.size();
    for (std::size_t i = 0; i < n; ++i) {
        const WeightAndInverse<T>& known = rows_[i][label_];
        weights_[i] = static_cast<double>(known.weight);
        inverses_[i] = static_cast<double>(known.inverse);
    }
    // Logarithms are slow: take one per product of this many ratios.
    constexpr std::size_t kPerLogarithm = 128;
    double log_determinant_gain = 0;
    for (std::size_t from = 0; from < n; from += kPerLogarithm) {
        const std::size_t end = std::min(n, from + kPerLogarithm);
        const double ratio_product = grow(squares_.data() + from, weight, inverses_.data() + from,
                                          ratios_.data() + from, end - from);
        if (ratio_product < HUGE_VAL) log_determinant_gain += std::log(ratio_product);
        else
            for (std::size_t i = from; i < end; ++i) log_determinant_gain += std::log(ratios_[i]);
    }
    return log_determinant_gain;
}

template <class T>
void DiagonalCovariance<T>::step(double amount) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const double weight = weights_[i] + amount * values_[i] * inverses_[i];
        rows_[i][label_] = {static_cast<T>(weight), static_cast<T>(inverses_[i])};
    }
}

template class DiagonalCovariance<float>;
template class DiagonalCovariance<double>;

}  // namespace tagalong
