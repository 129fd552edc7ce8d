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

// Rows whose sums fit the registers of most machines.
template <class T>
constexpr std::size_t kFew = sizeof(T) == 4 ? 4 : 2;

// Products of the left rows with the right ones, for each left row to where it says.
template <class T>
TAGALONG_INLINE void multiply_body(const Panels<T>& left, const Panels<T>& right, T twice,
                                   std::span<float* const> out, std::size_t count) {
    using L = Lanes<T>;
    constexpr std::size_t kRows = kFew<T>;
    for (std::size_t p = 0; p < right.groups(); ++p) {
        const L far = L::load(right.far.data() + p * kLanes);
        const std::size_t width = std::min(kLanes, count - p * kLanes);
        for (std::size_t g = 0; g < left.groups(); ++g) {
            const T *a = left.group(g), *b = right.group(p);
            L sum[kRows];
            for (L& each : sum) each = L::all(0);
            for (std::size_t j = 0; j < right.columns; ++j, a += kRows, b += kLanes) {
                const L numbers = L::load(b);
                for (std::size_t k = 0; k < kRows; ++k) sum[k] = sum[k] + numbers * a[k];
            }
            for (std::size_t k = 0; k < std::min(kRows, out.size() - g * kRows); ++k) {
                alignas(64) T exponent[kLanes];
                (sum[k] * twice + (far + L::all(left.far[g * kRows + k]))).store(exponent);
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

TAGALONG_CLONES void multiply(const Panels<float>& left, const Panels<float>& right, float twice,
                              std::span<float* const> out, std::size_t count) {
    multiply_body(left, right, twice, out, count);
}
TAGALONG_CLONES void multiply(const Panels<double>& left, const Panels<double>& right, double twice,
                              std::span<float* const> out, std::size_t count) {
    multiply_body(left, right, twice, out, count);
}

}  // namespace

template <class T>
RbfProducts<T>::RbfProducts(const Matrix& from, double gamma)
    : rows_(static_cast<std::size_t>(from.rows)), twice_(static_cast<T>(2 * gamma)) {
    const std::size_t filled = (rows_ + kLanes - 1) / kLanes * kLanes;
    all_.width = kLanes;
    all_.columns = static_cast<std::size_t>(from.columns);
    all_.value.assign(filled * all_.columns, T{0});
    all_.far.assign(filled, T{0});
    for (std::size_t i = 0; i < rows_; ++i) {
        T* const to = all_.value.data() + i / kLanes * kLanes * all_.columns + i % kLanes;
        double squared = 0;
        from.visit_row(static_cast<std::int64_t>(i), [&](std::int64_t column, double value) {
            to[static_cast<std::size_t>(column) * kLanes] = static_cast<T>(value);
            squared += value * value;
        });
        // Sums of a few of these must not overflow.
        constexpr double most = static_cast<double>(std::numeric_limits<T>::max()) / 4;
        if (!(gamma * squared < most))
            throw InputError("kernel: gamma times the squared length of row " + std::to_string(i) +
                             " is " + format_number(gamma * squared) + "; for numbers of " +
                             std::to_string(8 * sizeof(T)) + " bits it must be below " +
                             format_number(most));
        all_.far[i] = static_cast<T>(-gamma * squared);
    }
}

template <class T>
Panels<T> RbfProducts<T>::some(std::span<const std::int32_t> which, std::size_t width) const {
    Panels<T> out;
    const std::size_t filled = (which.size() + width - 1) / width * width;
    out.width = width;
    out.columns = all_.columns;
    out.value.assign(filled * out.columns, T{0});
    out.far.assign(filled, T{0});
    for (std::size_t k = 0; k < which.size(); ++k) {
        const auto i = static_cast<std::size_t>(which[k]);
        const T* const from = all_.group(i / kLanes) + i % kLanes;
        T* const to = out.value.data() + k / width * width * out.columns + k % width;
        for (std::size_t j = 0; j < out.columns; ++j) to[j * width] = from[j * kLanes];
        out.far[k] = all_.far[i];
    }
    return out;
}

template <class T>
void RbfProducts<T>::rows(std::span<const std::int32_t> which, std::span<float* const> out) const {
    multiply(some(which, kFew<T>), all_, twice_, out, rows_);
}

template <class T>
void RbfProducts<T>::among(std::span<const std::int32_t> which, float* out) const {
    std::vector<float*> to;
    for (std::size_t k = 0; k < which.size(); ++k) to.push_back(out + k * which.size());
    multiply(some(which, kFew<T>), some(which, kLanes), twice_, to, which.size());
}

template class RbfProducts<float>;
template class RbfProducts<double>;

}  // namespace tagalong::m3l
