// theta += alpha (x) x, a row at a time; the plane of means with it, u += rounds * alpha (x) x.
//
// What a step is like decides how: with many labels it is added to whole rows, with few to single
// numbers, of whole rows or of sparse ones.
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
    // Takes a step on the columns of the store, which has to live as long as it is added. A single number
    // takes about as many instructions as sixteen that lie together.
    void load(const WeightStore<T>& store, const Step& step, double rounds_before) {
        whole_rows_ = step.touched.size() * 16 > store.width();
        rounds_ = static_cast<T>(rounds_before);
        labels_ = step.touched.data();
        if (whole_rows_) {
            alpha_.resize(store.used());
            kernels::narrow(step.alpha.data(), alpha_.data(), step.alpha.size());
            std::fill(alpha_.begin() + static_cast<std::ptrdiff_t>(step.alpha.size()), alpha_.end(),
                      T(0));
        } else {
            alpha_.resize(step.touched.size());
            for (std::size_t i = 0; i < alpha_.size(); ++i)
                alpha_[i] = static_cast<T>(step.alpha[step.touched[i]]);
        }
    }
    // Whether the step is added by add_to_row, else by add_to_numbers.
    bool whole_rows() const { return whole_rows_; }

    // Adds the step times `value` to a row; returns |theta_j|^2 after it, if that is wanted.
    template <bool kSquares>
    double add_to_row(WeightStore<T>& store, std::int32_t number, T value) const {
        const std::size_t n = store.used();
        store.make_whole(number);
        T* const row = store.row(number);
        double squares = 0;
        if (store.planes() > 1)
            squares = kernels::add_scaled_norm(row, store.row(number, 1), alpha_.data(), value,
                                               rounds_, n);
        else if (kSquares) squares = kernels::add_scaled_norm(row, alpha_.data(), value, n);
        else kernels::add_scaled(row, alpha_.data(), value, n);
        if (kSquares && store.sharing()) {
            const double shared = static_cast<double>(row[LabelColumns::kShared]);
            squares += (copies(store, LabelColumns::kShared) - 1) * shared * shared;
        }
        return squares;
    }
    // The same; returns what |theta_j|^2 grows by, if that is wanted.
    template <bool kSquares>
    double add_to_numbers(WeightStore<T>& store, std::int32_t number, T value) const {
        if (store.whole(number)) {
            T* const first = store.row(number);
            return add_each<kSquares>(store, value, store.stride(),
                                      [=](int label) { return first + label; });
        }
        const auto touch = [&](int label) {
            return store.touch(number, static_cast<std::size_t>(label));
        };
        const double gain = add_each<kSquares>(store, value, SparseRows<T>::kBlock, touch);
        store.settle(number);
        return gain;
    }

    // Asks for the beginning of a row that is about to be written; the processor notices the rest by itself.
    static void prefetch(const WeightStore<T>& store, std::int32_t number) {
        if (!store.whole(number)) return;
        for (std::size_t plane = 0; plane < store.planes(); ++plane)
            for (std::size_t line = 0; line < 4; ++line)
                __builtin_prefetch(store.row(number, plane) + line * kLine<T>, 1);
    }

  private:
    // How many labels a number stands for.
    static double copies(const WeightStore<T>& store, int column) {
        const bool shared = column == LabelColumns::kShared && store.sharing();
        return shared ? static_cast<double>(store.columns().sharers()) : 1.0;
    }
    // Moves the labels of the step, whose numbers are where `at` says.
    template <bool kSquares, class At>
    double add_each(const WeightStore<T>& store, T value, std::size_t next_plane, At&& at) const {
        const bool means = store.planes() > 1, sharing = store.sharing();
        const T* const alpha = alpha_.data();
        double gain = 0;
        for (std::size_t i = 0, count = alpha_.size(); i < count; ++i) {
            T* const weight = at(labels_[i]);
            const T step = alpha[i] * value, old = *weight, moved = old + step;
            *weight = moved;
            if constexpr (kSquares) {
                const double wide = moved, before = old;
                const double growth = (wide - before) * (wide + before);
                gain += sharing ? copies(store, labels_[i]) * growth : growth;
            }
            if (means) weight[next_plane] += rounds_ * step;
        }
        return gain;
    }

    AlignedVector<T> alpha_;  // per column, or per label of the step
    const int* labels_ = nullptr;
    T rounds_ = 0;
    bool whole_rows_ = false;
};

}  // namespace tagalong
