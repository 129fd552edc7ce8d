// The rank-one update theta += alpha (x) x, row by row, and of the plane of means,
// u += rounds * alpha (x) x.
//
// A step on many labels is added to entire rows. A step on few labels is added to single weights of
// dense or sparse rows.
#pragma once

#include <algorithm>
#include <cstdint>

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
    // Whether to add the step by add_to_row; otherwise by add_to_numbers.
    bool whole_rows() const { return whole_rows_; }

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
    // Adds the step times `value` to single weights. Returns the change of |theta_j|^2 if kSquares.
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
    T rounds_ = 0;
    bool whole_rows_ = false;
};

}  // namespace tagalong
