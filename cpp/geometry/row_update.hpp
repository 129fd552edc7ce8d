// The rank-one update theta += alpha (x) x, row by row, and of the plane of means,
// u += rounds * alpha (x) x.
//
// A step on many labels is added to entire rows. A step on few labels is added to single weights of
// dense or sparse rows. A step on a working set is added to the parts of a row that have its labels:
// cache lines, or with many labels the blocks of a sparse row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "core/kernels.hpp"
#include "core/score_kernels.hpp"
#include "core/weight_store.hpp"
#include "rules/step.hpp"

namespace tagalong {

template <class T>
class RowUpdate {
  public:
    // Prepares a step with one coefficient per column of the store. The step must outlive the calls
    // below. Updating a single weight takes about as many instructions as updating sixteen
    // contiguous ones.
    void load(const WeightStore<T>& store, const Step& step, double rounds_before) {
        whole_rows_ = step.touched.size() * 16 > store.width();
        rounds_ = static_cast<T>(rounds_before);
        labels_ = step.touched.data();
        parts_.clear();
        if (store.steps() == StepPattern::working_set) {
            width_ = store.mostly_sparse() ? SparseRows<T>::kBlock : kLine<T>;
            load_parts(step, store.padded_width() / width_);
            if (!whole_rows_) return;
        }
        if (whole_rows_) {
            alpha_.resize(store.padded_width());
            kernels::to_storage(step.alpha.data(), alpha_.data(), step.alpha.size());
            std::fill(alpha_.begin() + static_cast<std::ptrdiff_t>(step.alpha.size()), alpha_.end(),
                      T(0));
        } else {
            alpha_.resize(step.touched.size());
            for (std::size_t i = 0; i < alpha_.size(); ++i)
                alpha_[i] = static_cast<T>(step.alpha[step.touched[i]]);
        }
    }
    // Whether to add the step by add_to_row or by add_to_parts; otherwise by add_to_numbers.
    bool whole_rows() const { return whole_rows_; }
    bool in_parts() const { return !whole_rows_ && !parts_.empty(); }

    // Adds the step times `value` to a row. Returns the new |theta_j|^2 if kSquares. If kAlong, sets
    // `along` to the sum over the labels of alpha times the old theta_j.
    template <bool kSquares, bool kAlong = false>
    double add_to_row(WeightStore<T>& store, std::int32_t number, T value,
                      [[maybe_unused]] double* along = nullptr) const {
        const std::size_t n = store.padded_width();
        store.make_dense(number);
        T* const row = store.row(number);
        double squares = 0;
        if constexpr (kAlong) {
            const T old = row[LabelColumns::kShared];
            squares = store.planes() > 1
                          ? kernels::add_scaled_along(row, store.row(number, 1), alpha_.data(),
                                                      value, rounds_, n, along)
                          : kernels::add_scaled_along(row, alpha_.data(), value, n, along);
            if (store.sharing())
                *along += (labels_in_column(store, LabelColumns::kShared) - 1) *
                          product(alpha_[LabelColumns::kShared], old);
        } else if (store.planes() > 1)
            squares = kernels::add_scaled_norm(row, store.row(number, 1), alpha_.data(), value,
                                               rounds_, n);
        else if (kSquares) squares = kernels::add_scaled_norm(row, alpha_.data(), value, n);
        else kernels::add_scaled(row, alpha_.data(), value, n);
        if (kSquares && store.sharing()) {
            const double shared = static_cast<double>(row[LabelColumns::kShared]);
            squares += (labels_in_column(store, LabelColumns::kShared) - 1) * shared * shared;
        }
        return squares;
    }
    // Adds the step times `value` to the weights of its labels. Returns the change of |theta_j|^2 if kSquares.
    // Sets `along` as add_to_row does.
    template <bool kSquares, bool kAlong = false>
    double add_to_numbers(WeightStore<T>& store, std::int32_t number, T value,
                          double* along = nullptr) const {
        if (store.is_dense(number)) {
            T* const first = store.row(number);
            return add_each<kSquares, kAlong>(
                store, value, store.stride(), [=](int label) { return first + label; }, along);
        }
        const auto touch = [&](int label) {
            return store.find_or_insert(number, static_cast<std::size_t>(label));
        };
        const double gain =
            add_each<kSquares, kAlong>(store, value, SparseRows<T>::kBlock, touch, along);
        store.make_dense_if_full(number);
        return gain;
    }

    // Adds the step times `value` to the parts of a row. Returns the change of |theta_j|^2, and sets
    // `along` as add_to_row does.
    double add_to_parts(WeightStore<T>& store, std::int32_t number, T value, double* along) const {
        const bool dense = store.is_dense(number);
        if (dense) {
            T* const row = store.row(number);
            for (std::size_t i = 0; i < parts_.size(); ++i)
                addresses_[i] = row + parts_[i] * width_;
        } else {
            store.find_or_insert_blocks(number, parts_, addresses_.data());
        }
        const std::size_t means =
            store.planes() > 1 ? (dense ? store.stride() : SparseRows<T>::kBlock) : 0;
        const double growth = kernels::add_to_parts(addresses_.data(), width_, means, alpha_.data(),
                                                    value, rounds_, parts_.size(), along);
        if (!dense) store.make_dense_if_full(number);
        return growth;
    }

    // Prefetches the beginning of a row for writing; the hardware prefetcher loads the rest.
    static void prefetch(const WeightStore<T>& store, std::int32_t number) {
        if (!store.is_dense(number)) return;
        for (std::size_t plane = 0; plane < store.planes(); ++plane)
            for (std::size_t line = 0; line < 4; ++line)
                __builtin_prefetch(store.row(number, plane) + line * kLine<T>, 1);
    }

  private:
    // The number of labels in a column.
    static double labels_in_column(const WeightStore<T>& store, int column) {
        const bool shared = column == LabelColumns::kShared && store.sharing();
        return shared ? static_cast<double>(store.columns().shared_labels()) : 1.0;
    }
    // Collects the parts that have labels of the step, with their coefficients. If most of a row has,
    // entire rows are updated.
    void load_parts(const Step& step, std::size_t parts) {
        has_label_.assign(parts, 0);
        for (const int label : step.touched)
            has_label_[static_cast<std::size_t>(label) / width_] = 1;
        for (std::size_t part = 0; part < parts; ++part)
            if (has_label_[part]) parts_.push_back(static_cast<std::uint32_t>(part));
        whole_rows_ = 4 * parts_.size() > 3 * parts;
        if (whole_rows_) return;
        alpha_.assign(parts_.size() * width_, T(0));
        addresses_.resize(parts_.size());
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const std::size_t first = parts_[i] * width_;
            const std::size_t count = std::min(width_, step.alpha.size() - first);
            for (std::size_t k = 0; k < count; ++k)
                alpha_[i * width_ + k] = static_cast<T>(step.alpha[first + k]);
        }
    }
    static double product(T a, T b) { return static_cast<double>(a) * static_cast<double>(b); }
    // Adds the step to the weights at the addresses at(label).
    template <bool kSquares, bool kAlong, class At>
    double add_each(const WeightStore<T>& store, T value, std::size_t next_plane, At&& at,
                    [[maybe_unused]] double* along) const {
        const bool means = store.planes() > 1, sharing = store.sharing();
        const T* const alpha = alpha_.data();
        double gain = 0;
        [[maybe_unused]] double products = 0;
        for (std::size_t i = 0, count = alpha_.size(); i < count; ++i) {
            T* const weight = at(labels_[i]);
            const T step = alpha[i] * value, old = *weight, moved = old + step;
            *weight = moved;
            if constexpr (kSquares) {
                const double wide = moved, before = old;
                const double growth = (wide - before) * (wide + before);
                gain += sharing ? labels_in_column(store, labels_[i]) * growth : growth;
            }
            if constexpr (kAlong)
                products += labels_in_column(store, labels_[i]) * product(alpha[i], old);
            if (means) weight[next_plane] += rounds_ * step;
        }
        if constexpr (kAlong) *along = products;
        return gain;
    }

    AlignedVector<T> alpha_;  // per column (add_to_row) or per entry of labels_ (add_to_numbers)
    const int* labels_ = nullptr;
    std::size_t width_ = kLine<T>;       // numbers per part
    std::vector<std::uint32_t> parts_;   // ascending; empty unless the step is on a working set
    std::vector<char> has_label_;        // per part
    mutable std::vector<T*> addresses_;  // of these parts, in one row
    T rounds_ = 0;
    bool whole_rows_ = false;
};

}  // namespace tagalong
