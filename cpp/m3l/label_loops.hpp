// The loops over dense rows of a label that is solved by itself; kLanes features at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "m3l/lanes.hpp"
#include "m3l/rows.hpp"

namespace tagalong::m3l {

// b of a row, its limits, and the linear term. Where relevance is unknown both limits are 0.
template <class T>
struct Variable {
    T dual, low, high, target;
};

template <class T>
struct LabelView {
    Variable<T>* variables = nullptr;
    const T* row_inverse = nullptr;  // 1 / |x_i|^2
    T* weights = nullptr;            // z, padded like a row
    T scale = 0;                     // 2 R_ll
    T inverse = 0;                   // 1 / (4 R_ll)
    T violation = 0;                 // out: the largest projected derivative met
    double gap = 0, value = 0;       // out of a check
    std::size_t rows = 0;
    std::uint32_t* order = nullptr;  // rows to visit; those whose variable rests are taken out
    std::size_t count = 0;
};

namespace label_loops {

template <class T>
TAGALONG_INLINE T total(const Lanes<T>& a) {
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
    L a = L::all(0), b = a;
    std::size_t j = 0;
    for (; j + 2 * kLanes <= stride; j += 2 * kLanes) {
        a = a + L::load(x + j) * L::load(w + j);
        b = b + L::load(x + j + kLanes) * L::load(w + j + kLanes);
    }
    if (j < stride) a = a + L::load(x + j) * L::load(w + j);
    return total(a + b);
}

// The length of the derivative's part that does not point out of the limits.
template <class T>
TAGALONG_INLINE T projected(const Variable<T>& variable, T h) {
    if (h > 0) return variable.dual < variable.high ? h : T{0};
    return variable.low < variable.dual ? -h : T{0};
}

template <class T>
TAGALONG_INLINE void visit_body(const DenseRows<T>& rows, LabelView<T>& label) {
    T violation = 0;
    std::size_t kept = 0;
    T* const w = label.weights;
    for (std::size_t at = 0; at < label.count; ++at) {
        const std::uint32_t i = label.order[at];
        const T* const x = rows.row(i);
        Variable<T>& variable = label.variables[i];
        const T h = variable.target - 2 * product(x, w, rows.stride);
        const T way = projected(variable, h);
        if (way == 0) continue;
        label.order[kept++] = i;
        violation = std::max(violation, way);
        const T wanted = variable.dual + h * (label.inverse * label.row_inverse[i]);
        const T moved = std::min(std::max(wanted, variable.low), variable.high);
        const T step = (moved - variable.dual) * label.scale;
        variable.dual = moved;
        for (std::size_t j = 0; j < rows.stride; j += kLanes)
            (Lanes<T>::load(w + j) + Lanes<T>::load(x + j) * step).store(w + j);
    }
    label.count = kept;
    label.violation = violation;
}

template <class T>
TAGALONG_INLINE void check_body(const DenseRows<T>& rows, LabelView<T>& label) {
    T violation = 0;
    label.gap = label.value = 0;
    label.count = 0;
    for (std::size_t i = 0; i < label.rows; ++i) {
        const Variable<T>& variable = label.variables[i];
        const T s = product(rows.row(i), label.weights, rows.stride);
        const T h = variable.target - 2 * s;
        const T way = projected(variable, h);
        violation = std::max(violation, way);
        const T slack = (h > 0 ? variable.high : variable.low) * h;
        label.gap += static_cast<double>(slack - variable.dual * h);
        label.value += static_cast<double>(variable.dual * (variable.target - s));
        label.order[label.count] = static_cast<std::uint32_t>(i);
        label.count += way > 0;
    }
    label.violation = violation;
}

template <class T>
TAGALONG_INLINE void collect_body(const DenseRows<T>& rows, const LabelView<T>& label,
                                  double* sums) {
    for (std::size_t i = 0; i < label.rows; ++i) {
        const auto b = static_cast<double>(label.variables[i].dual);
        if (b == 0) continue;
        const T* const x = rows.row(i);
#pragma omp simd
        for (std::size_t j = 0; j < rows.stride; ++j) sums[j] += b * static_cast<double>(x[j]);
    }
}

}  // namespace label_loops
}  // namespace tagalong::m3l
