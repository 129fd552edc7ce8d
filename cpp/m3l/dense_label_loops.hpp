// The loops of m3l/dense_label.hpp over dense rows, for one label; kLanes features at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "m3l/lanes.hpp"
#include "m3l/rows.hpp"

namespace tagalong::m3l {

// b of one row, its bounds, and its linear term t. Both bounds are 0 if relevance is unknown.
template <class T>
struct Variable {
    T dual, low, high, target;
};

template <class T>
struct DenseLabelView {
    Variable<T>* variables = nullptr;
    const T* inverse_squared_norm = nullptr;  // 1 / |x_i|^2
    T* weights = nullptr;                     // z, padded like a row
    T scale = 0;                              // 2 R_ll
    T inverse_curvature = 0;                  // 1 / (4 R_ll)
    T violation = 0;                          // output: the largest projected derivative found
    double gap = 0, value = 0;                // output of check(): duality gap and dual value
    std::size_t rows = 0;
    std::uint32_t* order = nullptr;  // rows to visit; rows whose variable is shrunk are removed
    std::size_t count = 0;
};

namespace dense_label_loops {

template <class T>
TAGALONG_INLINE T lane_sum(const Lanes<T>& a) {
    typename Lanes<T>::Vector sum = a.part[0];
    for (std::size_t p = 1; p < Lanes<T>::kParts; ++p) sum += a.part[p];
    T out[Lanes<T>::kWidth];
    for (std::size_t k = 0; k < Lanes<T>::kWidth; ++k) out[k] = sum[k];
    for (std::size_t half = Lanes<T>::kWidth / 2; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) out[k] += out[k + half];
    return out[0];
}

template <class T>
TAGALONG_INLINE T product(const T* x, const T* w, std::size_t stride) {
    using L = Lanes<T>;
    L a = L::broadcast(0), b = a;
    std::size_t j = 0;
    for (; j + 2 * kLanes <= stride; j += 2 * kLanes) {
        a = a + L::load(x + j) * L::load(w + j);
        b = b + L::load(x + j + kLanes) * L::load(w + j + kLanes);
    }
    if (j < stride) a = a + L::load(x + j) * L::load(w + j);
    return lane_sum(a + b);
}

// The absolute value of the projected derivative: 0 where h points out of the bounds.
template <class T>
TAGALONG_INLINE T projected(const Variable<T>& variable, T h) {
    if (h > 0) return variable.dual < variable.high ? h : T{0};
    return variable.low < variable.dual ? -h : T{0};
}

template <class T>
TAGALONG_INLINE void visit_body(const DenseRows<T>& rows, DenseLabelView<T>& label) {
    T violation = 0;
    std::size_t active = 0;
    T* const w = label.weights;
    for (std::size_t at = 0; at < label.count; ++at) {
        const std::uint32_t i = label.order[at];
        const T* const x = rows.row(i);
        Variable<T>& variable = label.variables[i];
        const T h = variable.target - 2 * product(x, w, rows.stride);
        const T violation_here = projected(variable, h);
        if (violation_here == 0) continue;
        label.order[active++] = i;
        violation = std::max(violation, violation_here);
        const T wanted =
            variable.dual + h * (label.inverse_curvature * label.inverse_squared_norm[i]);
        const T clipped = std::min(std::max(wanted, variable.low), variable.high);
        const T step = (clipped - variable.dual) * label.scale;
        variable.dual = clipped;
        for (std::size_t j = 0; j < rows.stride; j += kLanes)
            (Lanes<T>::load(w + j) + Lanes<T>::load(x + j) * step).store(w + j);
    }
    label.count = active;
    label.violation = violation;
}

template <class T>
TAGALONG_INLINE void check_body(const DenseRows<T>& rows, DenseLabelView<T>& label) {
    T violation = 0;
    label.gap = label.value = 0;
    label.count = 0;
    for (std::size_t i = 0; i < label.rows; ++i) {
        const Variable<T>& variable = label.variables[i];
        const T s = product(rows.row(i), label.weights, rows.stride);
        const T h = variable.target - 2 * s;
        const T violation_here = projected(variable, h);
        violation = std::max(violation, violation_here);
        const T slack = (h > 0 ? variable.high : variable.low) * h;
        label.gap += static_cast<double>(slack - variable.dual * h);
        label.value += static_cast<double>(variable.dual * (variable.target - s));
        label.order[label.count] = static_cast<std::uint32_t>(i);
        label.count += violation_here > 0;
    }
    label.violation = violation;
}

template <class T>
TAGALONG_INLINE void collect_body(const DenseRows<T>& rows, const DenseLabelView<T>& label,
                                  double* sums) {
    for (std::size_t i = 0; i < label.rows; ++i) {
        const auto b = static_cast<double>(label.variables[i].dual);
        if (b == 0) continue;
        const T* const x = rows.row(i);
#pragma omp simd
        for (std::size_t j = 0; j < rows.stride; ++j) sums[j] += b * static_cast<double>(x[j]);
    }
}

}  // namespace dense_label_loops
}  // namespace tagalong::m3l
