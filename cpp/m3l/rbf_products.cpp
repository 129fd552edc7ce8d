#include "m3l/rbf_products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/clones.hpp"
#include "core/errors.hpp"
#include "core/vector_math.hpp"

namespace tagalong::m3l {
namespace {

// Number of rows whose sums fit in the registers of most machines.
template <class T>
constexpr std::size_t kRegisterRows = sizeof(T) == 4 ? 4 : 2;

// Computes the products of the left rows with the first `count` right rows; those of left row k go
// to out[k].
template <class T>
TAGALONG_INLINE void multiply_body(const Panels<T>& left, const Panels<T>& right, T two_gamma,
                                   std::span<float* const> out, std::size_t count) {
    using L = Lanes<T>;
    constexpr std::size_t kRows = kRegisterRows<T>;
    for (std::size_t p = 0; p < right.groups(); ++p) {
        const L exponent_term = L::load(right.exponent_term.data() + p * kLanes);
        const std::size_t width = std::min(kLanes, count - p * kLanes);
        for (std::size_t g = 0; g < left.groups(); ++g) {
            const T *a = left.group(g), *b = right.group(p);
            L sum[kRows];
            for (L& each : sum) each = L::broadcast(0);
            for (std::size_t j = 0; j < right.columns; ++j, a += kRows, b += kLanes) {
                const L numbers = L::load(b);
                for (std::size_t k = 0; k < kRows; ++k) sum[k] = sum[k] + numbers * a[k];
            }
            for (std::size_t k = 0; k < std::min(kRows, out.size() - g * kRows); ++k) {
                alignas(64) T exponent[kLanes];
                (sum[k] * two_gamma +
                 (exponent_term + L::broadcast(left.exponent_term[g * kRows + k])))
                    .store(exponent);
                alignas(64) float found[kLanes];
#pragma omp simd
                for (std::size_t lane = 0; lane < kLanes; ++lane)
                    found[lane] =
                        static_cast<float>(vector_exp(exponent[lane] < 0 ? exponent[lane] : T{0}));
                std::copy_n(found, width, out[g * kRows + k] + p * kLanes);
            }
        }
    }
}

TAGALONG_CLONES void multiply(const Panels<float>& left, const Panels<float>& right,
                              float two_gamma, std::span<float* const> out, std::size_t count) {
    multiply_body(left, right, two_gamma, out, count);
}
TAGALONG_CLONES void multiply(const Panels<double>& left, const Panels<double>& right,
                              double two_gamma, std::span<float* const> out, std::size_t count) {
    multiply_body(left, right, two_gamma, out, count);
}

}  // namespace

template <class T>
RbfProducts<T>::RbfProducts(const Matrix& from, double gamma)
    : rows_(static_cast<std::size_t>(from.rows)), two_gamma_(static_cast<T>(2 * gamma)) {
    const std::size_t padded = (rows_ + kLanes - 1) / kLanes * kLanes;
    all_.width = kLanes;
    all_.columns = static_cast<std::size_t>(from.columns);
    all_.value.assign(padded * all_.columns, T{0});
    all_.exponent_term.assign(padded, T{0});
    for (std::size_t i = 0; i < rows_; ++i) {
        T* const to = all_.value.data() + i / kLanes * kLanes * all_.columns + i % kLanes;
        double squared = 0;
        from.visit_row(static_cast<std::int64_t>(i), [&](std::int64_t column, double value) {
            to[static_cast<std::size_t>(column) * kLanes] = static_cast<T>(value);
            squared += value * value;
        });
        // Sums of a few such numbers must not overflow.
        constexpr double largest = static_cast<double>(std::numeric_limits<T>::max()) / 4;
        if (!(gamma * squared < largest))
            throw InputError("kernel: gamma times the squared length of row " + std::to_string(i) +
                             " is " + format_number(gamma * squared) + "; for numbers of " +
                             std::to_string(8 * sizeof(T)) + " bits it must be below " +
                             format_number(largest));
        all_.exponent_term[i] = static_cast<T>(-gamma * squared);
    }
}

template <class T>
Panels<T> RbfProducts<T>::gather(std::span<const std::int32_t> which, std::size_t width) const {
    Panels<T> out;
    const std::size_t padded = (which.size() + width - 1) / width * width;
    out.width = width;
    out.columns = all_.columns;
    out.value.assign(padded * out.columns, T{0});
    out.exponent_term.assign(padded, T{0});
    for (std::size_t k = 0; k < which.size(); ++k) {
        const auto i = static_cast<std::size_t>(which[k]);
        const T* const from = all_.group(i / kLanes) + i % kLanes;
        T* const to = out.value.data() + k / width * width * out.columns + k % width;
        for (std::size_t j = 0; j < out.columns; ++j) to[j * width] = from[j * kLanes];
        out.exponent_term[k] = all_.exponent_term[i];
    }
    return out;
}

template <class T>
void RbfProducts<T>::rows(std::span<const std::int32_t> which, std::span<float* const> out) const {
    multiply(gather(which, kRegisterRows<T>), all_, two_gamma_, out, rows_);
}

template <class T>
void RbfProducts<T>::among(std::span<const std::int32_t> which, float* out) const {
    std::vector<float*> to;
    for (std::size_t k = 0; k < which.size(); ++k) to.push_back(out + k * which.size());
    multiply(gather(which, kRegisterRows<T>), gather(which, kLanes), two_gamma_, to, which.size());
}

template class RbfProducts<float>;
template class RbfProducts<double>;

}  // namespace tagalong::m3l
