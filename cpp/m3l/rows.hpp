// The rows of the data as the linear solver reads them again and again: in little memory. Features
// are numbered by how often they occur, so that the weights of frequent ones lie together; numbers
// are of 16 bits where that is enough; rows that each have a single value (unit rows of words) keep
// that one; a matrix without many zeros keeps its values alone. Where a copy would be as large as what
// it is made of, the matrix is read where it is: it has to stay there.
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

// Numbers of one's own, or somebody else's.
template <class V>
class Numbers {
  public:
    void lend(const V* from) { lent_ = from; }
    void reserve(std::size_t count) { own_.reserve(count); }
    void push_back(V value) { own_.push_back(value); }
    const V* data() const { return lent_ ? lent_ : own_.data(); }

  private:
    std::vector<V> own_;
    const V* lent_ = nullptr;
};

// Rows with feature numbers of type I.
template <class T, class I>
struct SparseRows {
    std::vector<std::size_t> start = {0};
    Numbers<I> index;
    Numbers<T> value;     // none if every row is constant
    std::vector<T> flat;  // the rows' constants; empty otherwise

    // Row i will be wanted soon; with weights, theirs will.
    TAGALONG_INLINE void expect(std::size_t i) const {
        fetch(index.data() + start[i], index.data() + start[i + 1]);
        if (flat.empty()) fetch(value.data() + start[i], value.data() + start[i + 1]);
    }
    TAGALONG_INLINE void expect(std::size_t i, const T* weights) const {
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        for (; at < end; ++at) __builtin_prefetch(weights + std::size_t{*at} * kLanes);
    }
    // sum_j x_ij w_j. Four sums run side by side, as one would wait for itself.
    TAGALONG_INLINE Lanes<T> score(std::size_t i, const T* weights) const {
        using L = Lanes<T>;
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        L a = L::all(0), b = a, c = a, d = a;
        const auto w = [&](I j) __attribute__((always_inline)) {
            return L::load(weights + std::size_t{j} * kLanes);
        };
        if (!flat.empty()) {
            for (; end - at >= 4; at += 4) {
                a = a + w(at[0]);
                b = b + w(at[1]);
                c = c + w(at[2]);
                d = d + w(at[3]);
            }
            for (; at < end; ++at) a = a + w(*at);
            return ((a + b) + (c + d)) * flat[i];
        }
        const T* x = value.data() + start[i];
        for (; end - at >= 4; at += 4, x += 4) {
            a = a + w(at[0]) * x[0];
            b = b + w(at[1]) * x[1];
            c = c + w(at[2]) * x[2];
            d = d + w(at[3]) * x[3];
        }
        for (; at < end; ++at, ++x) a = a + w(*at) * *x;
        return (a + b) + (c + d);
    }
    // w_j += amount x_ij
    template <class W>
    TAGALONG_INLINE void add(std::size_t i, const Lanes<W>& amount, W* weights) const {
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        if (!flat.empty()) {
            const Lanes<W> step = amount * static_cast<W>(flat[i]);
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

    // The same for one label, with a weight a feature.
    TAGALONG_INLINE T product(std::size_t i, const T* weights) const {
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        T a = 0, b = 0, c = 0, d = 0;
        if (!flat.empty()) {
            for (; end - at >= 4; at += 4) {
                a += weights[at[0]];
                b += weights[at[1]];
                c += weights[at[2]];
                d += weights[at[3]];
            }
            for (; at < end; ++at) a += weights[*at];
            return ((a + b) + (c + d)) * flat[i];
        }
        const T* x = value.data() + start[i];
        for (; end - at >= 4; at += 4, x += 4) {
            a += weights[at[0]] * x[0];
            b += weights[at[1]] * x[1];
            c += weights[at[2]] * x[2];
            d += weights[at[3]] * x[3];
        }
        for (; at < end; ++at, ++x) a += weights[*at] * *x;
        return (a + b) + (c + d);
    }
    template <class W>
    TAGALONG_INLINE void add_to(std::size_t i, W amount, W* weights) const {
        const I *at = index.data() + start[i], *const end = index.data() + start[i + 1];
        if (!flat.empty()) {
            const W step = amount * static_cast<W>(flat[i]);
            for (; at < end; ++at) weights[*at] += step;
            return;
        }
        const T* x = value.data() + start[i];
        for (; at < end; ++at, ++x) weights[*at] += amount * static_cast<W>(*x);
    }

  private:
    template <class V>
    static TAGALONG_INLINE void fetch(const V* from, const V* end) {
        for (; from < end; from += kLine<V>) __builtin_prefetch(from);
    }
};

template <class T>
using NarrowRows = SparseRows<T, std::uint16_t>;
template <class T>
using WideRows = SparseRows<T, std::uint32_t>;

template <class T>
struct DenseRows {
    std::size_t columns = 0, stride = 0;  // rows are filled up with zeros to whole cache lines
    AlignedVector<T> value;

    // Rows and weights follow each other in memory: nothing has to be fetched beforehand.
    void expect(std::size_t) const {}
    void expect(std::size_t, const T*) const {}
    const T* row(std::size_t i) const { return value.data() + i * stride; }

    TAGALONG_INLINE Lanes<T> score(std::size_t i, const T* weights) const {
        using L = Lanes<T>;
        const T *x = row(i), *const end = x + columns;
        L a = L::all(0), b = a, c = a, d = a;
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
    using Any = std::variant<NarrowRows<T>, WideRows<T>, DenseRows<T>>;

    // A checked matrix without repeated entries.
    explicit Rows(const Matrix& from) : rows_(static_cast<std::size_t>(from.rows)) {
        Example row;
        std::vector<std::size_t> occurs(static_cast<std::size_t>(from.columns), 0);
        squared_.reserve(rows_);
        std::size_t entries = 0;
        bool flat = true;
        for (std::int64_t i = 0; i < from.rows; ++i) {
            from.read(i, row);
            entries += row.size();
            double sum = 0;
            for (std::size_t e = 0; e < row.size(); ++e) {
                ++occurs[row.feature[e]];
                flat &= row.value[e] == row.value[0];
                sum += row.value[e] * row.value[e];
            }
            squared_.push_back(sum);
        }
        if (!from.sparse() && 2 * entries > rows_ * occurs.size()) {
            feature_.resize(occurs.size());
            std::iota(feature_.begin(), feature_.end(), 0);
            fill_dense(from);
            return;
        }
        for (std::size_t j = 0; j < occurs.size(); ++j)
            if (occurs[j] > 0) feature_.push_back(static_cast<std::int32_t>(j));
        if (feature_.size() > kNarrow && 2 * feature_.size() > occurs.size() &&
            share_sparse(from)) {
            feature_.resize(occurs.size());
            std::iota(feature_.begin(), feature_.end(), 0);
            return;
        }
        std::stable_sort(feature_.begin(), feature_.end(),
                         [&](std::int32_t a, std::int32_t b) { return occurs[a] > occurs[b]; });
        for (std::size_t j = 0; j < feature_.size(); ++j) occurs[feature_[j]] = j;
        if (feature_.size() <= kNarrow) fill_sparse<std::uint16_t>(from, occurs, entries, flat);
        else fill_sparse<std::uint32_t>(from, occurs, entries, flat);
    }

    std::size_t size() const { return rows_; }
    // How many features occur; feature(j) is the column of the j-th.
    std::size_t features() const { return feature_.size(); }
    const std::vector<std::int32_t>& feature() const { return feature_; }
    double squared(std::size_t i) const { return squared_[i]; }
    bool dense() const { return std::holds_alternative<DenseRows<T>>(any_); }
    const Any& any() const { return any_; }

  private:
    static constexpr std::size_t kNarrow = 65536;  // features whose numbers have 16 bits

    // True if the arrays of the matrix have the types that rows would be copied to.
    bool share_sparse(const Matrix& from) {
        bool shared = false;
        from.visit_arrays(0, [&](const auto* index, const auto* value, std::size_t) {
            if constexpr (std::is_same_v<decltype(index), const std::int32_t*> &&
                          std::is_same_v<decltype(value), const T*>) {
                if (!from.sparse()) return;
                SparseRows<T, std::uint32_t> out;
                out.start.reserve(rows_ + 1);
                for (std::size_t i = 0; i < rows_; ++i)
                    out.start.push_back(out.start.back() +
                                        from.entries(static_cast<std::int64_t>(i)));
                out.index.lend(reinterpret_cast<const std::uint32_t*>(index));
                out.value.lend(value);
                any_ = std::move(out);
                shared = true;
            }
        });
        return shared;
    }
    void fill_dense(const Matrix& from) {
        DenseRows<T> out;
        out.columns = feature_.size();
        out.stride = (out.columns + kLanes - 1) / kLanes * kLanes;
        out.value.assign(rows_ * out.stride, T{0});
        Example row;
        for (std::size_t i = 0; i < rows_; ++i) {
            from.read(static_cast<std::int64_t>(i), row);
            for (std::size_t e = 0; e < row.size(); ++e)
                out.value[i * out.stride + row.feature[e]] = static_cast<T>(row.value[e]);
        }
        any_ = std::move(out);
    }
    template <class I>
    void fill_sparse(const Matrix& from, const std::vector<std::size_t>& number,
                     std::size_t entries, bool flat) {
        SparseRows<T, I> out;
        out.start.reserve(rows_ + 1);
        out.index.reserve(entries);
        if (!flat) out.value.reserve(entries);
        Example row;
        for (std::size_t i = 0; i < rows_; ++i) {
            from.read(static_cast<std::int64_t>(i), row);
            for (std::size_t e = 0; e < row.size(); ++e) {
                out.index.push_back(static_cast<I>(number[row.feature[e]]));
                if (!flat) out.value.push_back(static_cast<T>(row.value[e]));
            }
            if (flat) out.flat.push_back(row.size() == 0 ? T{0} : static_cast<T>(row.value[0]));
            out.start.push_back(out.start.back() + row.size());
        }
        any_ = std::move(out);
    }

    std::size_t rows_;
    std::vector<double> squared_;
    std::vector<std::int32_t> feature_;
    Any any_;
};

}  // namespace tagalong::m3l
