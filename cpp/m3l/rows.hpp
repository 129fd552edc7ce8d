// The rows of the data in a compact layout, since the linear solver reads them repeatedly:
//
// - Features are numbered by decreasing frequency, so that the weights of frequent ones lie
//   together.
// - Feature numbers have 16 bits if that is enough.
// - If the nonzero values of each row are equal (binary rows scaled to unit length), one value per
//   row is stored.
// - A matrix with few zeros is stored densely.
// - If a copy would be as large as the original, the matrix is read in place and must outlive the
//   rows.
//
// A constant feature, which has the same value in every row, is one more feature with the number of
// columns as its column. Sparse rows store it once. Dense rows store it like any other column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/aligned.hpp"
#include "core/clones.hpp"
#include "core/matrix.hpp"
#include "m3l/lanes.hpp"

namespace tagalong::m3l {

// An array that is owned, or borrowed from the caller.
template <class V>
class OwnedOrBorrowed {
  public:
    void borrow(const V* from) { borrowed_ = from; }
    void reserve(std::size_t count) { owned_.reserve(count); }
    void push_back(V value) { owned_.push_back(value); }
    const V* data() const { return borrowed_ ? borrowed_ : owned_.data(); }

  private:
    std::vector<V> owned_;
    const V* borrowed_ = nullptr;
};

// The feature that has the same value in every row.
template <class T>
struct ConstantFeature {
    T value = 0;  // 0 if there is no such feature
    std::size_t number = 0;

    // score + x w, for the weights of kLanes labels or of one label.
    TAGALONG_INLINE Lanes<T> add_score(const Lanes<T>& score, const T* weights) const {
        return value == 0 ? score : score + Lanes<T>::load(weights + number * kLanes) * value;
    }
    TAGALONG_INLINE T add_product(T product, const T* weights) const {
        return value == 0 ? product : product + weights[number] * value;
    }
    // w += amount x
    template <class W>
    TAGALONG_INLINE void add(const Lanes<W>& amount, W* weights) const {
        if (value == 0) return;
        W* const w = weights + number * kLanes;
        (Lanes<W>::load(w) + amount * static_cast<W>(value)).store(w);
    }
    template <class W>
    TAGALONG_INLINE void add_to(W amount, W* weights) const {
        if (value != 0) weights[number] += amount * static_cast<W>(value);
    }
};

// Sparse rows with feature numbers of type I.
template <class T, class I>
struct SparseRows {
    std::vector<std::size_t> start = {0};
    OwnedOrBorrowed<I> index;
    OwnedOrBorrowed<T> value;  // empty if the values of each row are equal
    std::vector<T> constant;   // that value, one per row; empty otherwise
    ConstantFeature<T> constant_feature;

    // Prefetch row i; with `weights`, the weights of its features.
    TAGALONG_INLINE void prefetch(std::size_t i) const {
        prefetch_range(index.data() + start[i], index.data() + start[i + 1]);
        if (constant.empty()) prefetch_range(value.data() + start[i], value.data() + start[i + 1]);
    }
    TAGALONG_INLINE void prefetch(std::size_t i, const T* weights) const {
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        for (; at < end; ++at) __builtin_prefetch(weights + std::size_t{*at} * kLanes);
    }
    // sum_j x_ij w_j. Four independent sums hide the latency of the additions.
    TAGALONG_INLINE Lanes<T> score(std::size_t i, const T* weights) const {
        using L = Lanes<T>;
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        L a = L::broadcast(0), b = a, c = a, d = a;
        const auto w = [&](I j) __attribute__((always_inline)) {
            return L::load(weights + std::size_t{j} * kLanes);
        };
        if (!constant.empty()) {
            for (; end - at >= 4; at += 4) {
                a = a + w(at[0]);
                b = b + w(at[1]);
                c = c + w(at[2]);
                d = d + w(at[3]);
            }
            for (; at < end; ++at) a = a + w(*at);
            return constant_feature.add_score(((a + b) + (c + d)) * constant[i], weights);
        }
        const T* x = value.data() + start[i];
        for (; end - at >= 4; at += 4, x += 4) {
            a = a + w(at[0]) * x[0];
            b = b + w(at[1]) * x[1];
            c = c + w(at[2]) * x[2];
            d = d + w(at[3]) * x[3];
        }
        for (; at < end; ++at, ++x) a = a + w(*at) * *x;
        return constant_feature.add_score((a + b) + (c + d), weights);
    }
    // w_j += amount x_ij
    template <class W>
    TAGALONG_INLINE void add(std::size_t i, const Lanes<W>& amount, W* weights) const {
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        constant_feature.add(amount, weights);
        if (!constant.empty()) {
            const Lanes<W> step = amount * static_cast<W>(constant[i]);
            for (; at < end; ++at) {
                W* w = weights + std::size_t{*at} * kLanes;
                (Lanes<W>::load(w) + step).store(w);
            }
            return;
        }
        const T* x = value.data() + start[i];
        for (; at < end; ++at, ++x) {
            W* w = weights + std::size_t{*at} * kLanes;
            (Lanes<W>::load(w) + amount * static_cast<W>(*x)).store(w);
        }
    }

    // score() and add() for one label, with one weight per feature.
    TAGALONG_INLINE T product(std::size_t i, const T* weights) const {
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        T a = 0, b = 0, c = 0, d = 0;
        if (!constant.empty()) {
            for (; end - at >= 4; at += 4) {
                a += weights[at[0]];
                b += weights[at[1]];
                c += weights[at[2]];
                d += weights[at[3]];
            }
            for (; at < end; ++at) a += weights[*at];
            return constant_feature.add_product(((a + b) + (c + d)) * constant[i], weights);
        }
        const T* x = value.data() + start[i];
        for (; end - at >= 4; at += 4, x += 4) {
            a += weights[at[0]] * x[0];
            b += weights[at[1]] * x[1];
            c += weights[at[2]] * x[2];
            d += weights[at[3]] * x[3];
        }
        for (; at < end; ++at, ++x) a += weights[*at] * *x;
        return constant_feature.add_product((a + b) + (c + d), weights);
    }
    template <class W>
    TAGALONG_INLINE void add_to(std::size_t i, W amount, W* weights) const {
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        constant_feature.add_to(amount, weights);
        if (!constant.empty()) {
            const W step = amount * static_cast<W>(constant[i]);
            for (; at < end; ++at) weights[*at] += step;
            return;
        }
        const T* x = value.data() + start[i];
        for (; at < end; ++at, ++x) weights[*at] += amount * static_cast<W>(*x);
    }

  private:
    template <class V>
    static TAGALONG_INLINE void prefetch_range(const V* from, const V* end) {
        for (; from < end; from += kLine<V>) __builtin_prefetch(from);
    }
};

template <class T>
using NarrowRows = SparseRows<T, std::uint16_t>;
template <class T>
using WideRows = SparseRows<T, std::uint32_t>;

template <class T>
struct DenseRows {
    std::size_t columns = 0, stride = 0;  // rows are padded with zeros to whole cache lines
    AlignedVector<T> value;

    // Rows and weights are contiguous in memory: the hardware prefetches them.
    void prefetch(std::size_t) const {}
    void prefetch(std::size_t, const T*) const {}
    const T* row(std::size_t i) const { return value.data() + i * stride; }

    TAGALONG_INLINE Lanes<T> score(std::size_t i, const T* weights) const {
        using L = Lanes<T>;
        const T *x = row(i), *const end = x + columns;
        L a = L::broadcast(0), b = a, c = a, d = a;
        for (; end - x >= 4; x += 4, weights += 4 * kLanes) {
            a = a + L::load(weights) * x[0];
            b = b + L::load(weights + kLanes) * x[1];
            c = c + L::load(weights + 2 * kLanes) * x[2];
            d = d + L::load(weights + 3 * kLanes) * x[3];
        }
        for (; x < end; ++x, weights += kLanes) a = a + L::load(weights) * *x;
        return (a + b) + (c + d);
    }
    template <class W>
    TAGALONG_INLINE void add(std::size_t i, const Lanes<W>& amount, W* weights) const {
        const T *x = row(i), *const end = x + columns;
        for (; x < end; ++x, weights += kLanes)
            (Lanes<W>::load(weights) + amount * static_cast<W>(*x)).store(weights);
    }
    template <class W>
    TAGALONG_INLINE void add_to(std::size_t i, W amount, W* weights) const {
        for (std::size_t j = 0; j < columns; ++j) weights[j] += amount * static_cast<W>(row(i)[j]);
    }
};

template <class T>
class Rows {
  public:
    using Storage = std::variant<NarrowRows<T>, WideRows<T>, DenseRows<T>>;

    // Takes a validated matrix without repeated entries, and the value of the constant feature, 0
    // for none.
    explicit Rows(const Matrix& from, double constant_value = 0)
        : rows_(static_cast<std::size_t>(from.rows)) {
        Example row;
        std::vector<std::size_t> occurrences(static_cast<std::size_t>(from.columns), 0);
        squared_norm_.reserve(rows_);
        std::size_t entries = 0;
        bool constant = true;
        for (std::int64_t i = 0; i < from.rows; ++i) {
            from.read(i, row);
            entries += row.size();
            double sum = constant_value * constant_value;
            for (std::size_t e = 0; e < row.size(); ++e) {
                ++occurrences[row.feature[e]];
                constant &= row.value[e] == row.value[0];
                sum += row.value[e] * row.value[e];
            }
            squared_norm_.push_back(sum);
        }
        if (!from.sparse() && 2 * entries > rows_ * occurrences.size()) {
            feature_.resize(occurrences.size());
            std::iota(feature_.begin(), feature_.end(), 0);
            if (constant_value != 0) feature_.push_back(static_cast<std::int32_t>(from.columns));
            fill_dense(from, constant_value);
            return;
        }
        for (std::size_t j = 0; j < occurrences.size(); ++j)
            if (occurrences[j] > 0) feature_.push_back(static_cast<std::int32_t>(j));
        if (feature_.size() > kMaxNarrowFeatures && 2 * feature_.size() > occurrences.size() &&
            borrow_sparse(from)) {
            feature_.resize(occurrences.size());
            std::iota(feature_.begin(), feature_.end(), 0);
            add_constant_feature(from.columns, constant_value);
            return;
        }
        std::stable_sort(feature_.begin(), feature_.end(), [&](std::int32_t a, std::int32_t b) {
            return occurrences[a] > occurrences[b];
        });
        for (std::size_t j = 0; j < feature_.size(); ++j) occurrences[feature_[j]] = j;
        if (feature_.size() <= kMaxNarrowFeatures)
            fill_sparse<std::uint16_t>(from, occurrences, entries, constant);
        else fill_sparse<std::uint32_t>(from, occurrences, entries, constant);
        add_constant_feature(from.columns, constant_value);
    }

    std::size_t size() const { return rows_; }
    // The number of features in use; feature()[j] is the column of feature j. The constant feature
    // is the last.
    std::size_t features() const { return feature_.size(); }
    const std::vector<std::int32_t>& feature() const { return feature_; }
    double squared_norm(std::size_t i) const { return squared_norm_[i]; }
    bool dense() const { return std::holds_alternative<DenseRows<T>>(storage_); }
    const Storage& storage() const { return storage_; }

  private:
    static constexpr std::size_t kMaxNarrowFeatures = 65536;  // numbers of 16 bits

    // Reads the matrix in place. Returns false if its arrays have other types than the rows.
    bool borrow_sparse(const Matrix& from) {
        bool borrowed = false;
        from.visit_arrays(0, [&](const auto* index, const auto* value, std::size_t) {
            if constexpr (std::is_same_v<decltype(index), const std::int32_t*> &&
                          std::is_same_v<decltype(value), const T*>) {
                if (!from.sparse()) return;
                SparseRows<T, std::uint32_t> out;
                out.start.reserve(rows_ + 1);
                for (std::size_t i = 0; i < rows_; ++i)
                    out.start.push_back(out.start.back() +
                                        from.entries(static_cast<std::int64_t>(i)));
                out.index.borrow(reinterpret_cast<const std::uint32_t*>(index));
                out.value.borrow(value);
                storage_ = std::move(out);
                borrowed = true;
            }
        });
        return borrowed;
    }
    // Adds the constant feature to sparse rows, as the last feature.
    void add_constant_feature(std::int64_t column, double value) {
        if (value == 0) return;
        std::visit(
            [&](auto& rows) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(rows)>, DenseRows<T>>)
                    rows.constant_feature = {static_cast<T>(value), feature_.size()};
            },
            storage_);
        feature_.push_back(static_cast<std::int32_t>(column));
    }
    void fill_dense(const Matrix& from, double constant_value) {
        DenseRows<T> out;
        out.columns = feature_.size();
        out.stride = (out.columns + kLanes - 1) / kLanes * kLanes;
        out.value.assign(rows_ * out.stride, T{0});
        Example row;
        for (std::size_t i = 0; i < rows_; ++i) {
            from.read(static_cast<std::int64_t>(i), row);
            for (std::size_t e = 0; e < row.size(); ++e)
                out.value[i * out.stride + row.feature[e]] = static_cast<T>(row.value[e]);
            if (constant_value != 0)
                out.value[i * out.stride + out.columns - 1] = static_cast<T>(constant_value);
        }
        storage_ = std::move(out);
    }
    template <class I>
    void fill_sparse(const Matrix& from, const std::vector<std::size_t>& feature_number,
                     std::size_t entries, bool constant) {
        SparseRows<T, I> out;
        out.start.reserve(rows_ + 1);
        out.index.reserve(entries);
        if (!constant) out.value.reserve(entries);
        Example row;
        for (std::size_t i = 0; i < rows_; ++i) {
            from.read(static_cast<std::int64_t>(i), row);
            for (std::size_t e = 0; e < row.size(); ++e) {
                out.index.push_back(static_cast<I>(feature_number[row.feature[e]]));
                if (!constant) out.value.push_back(static_cast<T>(row.value[e]));
            }
            if (constant)
                out.constant.push_back(row.size() == 0 ? T{0} : static_cast<T>(row.value[0]));
            out.start.push_back(out.start.back() + row.size());
        }
        storage_ = std::move(out);
    }

    std::size_t rows_;
    std::vector<double> squared_norm_;
    std::vector<std::int32_t> feature_;
    Storage storage_;
};

}  // namespace tagalong::m3l
