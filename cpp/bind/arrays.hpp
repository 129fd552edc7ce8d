// NumPy arrays in and out: no mathematics here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "matrix.hpp"

namespace tagalong::bind {

namespace nb = nanobind;

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
using Vector = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
template <class V>
using VectorOf = nb::ndarray<const V, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class V>
bool is(const nb::dlpack::dtype& type) {
    return type == nb::dtype<V>();
}

inline Number number_type(const nb::dlpack::dtype& type, const char* what) {
    if (is<float>(type)) return Number::float32;
    if (is<double>(type)) return Number::float64;
    if (is<std::int32_t>(type)) return Number::int32;
    if (is<std::int64_t>(type)) return Number::int64;
    throw InputError(std::string(what) + " must be float32, float64, int32 or int64");
}

// A matrix view that keeps the arrays it looks at alive.
struct MatrixView {
    Matrix matrix;
    AnyArray values, indices, indptr;

    static MatrixView dense(AnyArray array) {
        if (array.ndim() != 2 || (array.shape(1) > 1 && array.stride(1) != 1))
            throw InputError("X must be two-dimensional with contiguous rows");
        MatrixView view;
        view.matrix.rows = static_cast<std::int64_t>(array.shape(0));
        view.matrix.columns = static_cast<std::int64_t>(array.shape(1));
        view.matrix.values = array.data();
        view.matrix.value_type = number_type(array.dtype(), "X");
        view.matrix.row_stride = array.stride(0);
        view.values = array;
        return view;
    }
    static MatrixView csr(AnyArray data, AnyArray indices, AnyArray indptr, std::int64_t columns) {
        if (indices.dtype() != indptr.dtype()) throw InputError("indices and indptr must share a type");
        MatrixView view;
        view.matrix.rows = static_cast<std::int64_t>(indptr.shape(0)) - 1;
        view.matrix.columns = columns;
        view.matrix.values = data.data();
        view.matrix.value_type = number_type(data.dtype(), "X.data");
        view.matrix.indices = indices.data();
        view.matrix.indptr = indptr.data();
        view.matrix.index_type = number_type(indices.dtype(), "X.indices");
        view.check_bounds(data.shape(0), indices.shape(0));
        view.values = data;
        view.indices = indices;
        view.indptr = indptr;
        return view;
    }

  private:
    void check_bounds(std::size_t values, std::size_t columns_given) const {
        const auto at = [&](std::int64_t i) -> std::int64_t {
            return matrix.index_type == Number::int32 ? static_cast<const std::int32_t*>(matrix.indptr)[i]
                                                      : static_cast<const std::int64_t*>(matrix.indptr)[i];
        };
        if (matrix.rows < 0 || at(0) < 0 || at(matrix.rows) > static_cast<std::int64_t>(values) ||
            values != columns_given)
            throw InputError("X: indptr, indices and data do not fit together");
    }
};

// Element i of a one-dimensional array of any number type.
template <class Out>
Out element(const Vector& array, std::size_t i) {
    const auto at = static_cast<std::int64_t>(i) * array.stride(0);
    const auto type = array.dtype();
    if (is<std::int32_t>(type)) return static_cast<Out>(static_cast<const std::int32_t*>(array.data())[at]);
    if (is<std::int64_t>(type)) return static_cast<Out>(static_cast<const std::int64_t*>(array.data())[at]);
    if (is<float>(type)) return static_cast<Out>(static_cast<const float*>(array.data())[at]);
    if (is<double>(type)) return static_cast<Out>(static_cast<const double*>(array.data())[at]);
    throw InputError("indices must be int32 or int64, values float32 or float64");
}

inline bool is_integer(const Vector& array) {
    return is<std::int32_t>(array.dtype()) || is<std::int64_t>(array.dtype());
}

// (indices, values) into an example, checked.
inline void read_pairs(const Vector& indices, const Vector& values, double longest, Example& out) {
    if (indices.shape(0) != values.shape(0))
        throw InputError("x has " + std::to_string(indices.shape(0)) + " indices but " +
                         std::to_string(values.shape(0)) + " values");
    if (!is_integer(indices) && indices.shape(0) > 0) throw InputError("feature indices must be integers");
    out.clear();
    double sum = 0;
    constexpr std::int64_t last = std::numeric_limits<std::int32_t>::max();
    for (std::size_t i = 0; i < indices.shape(0); ++i) {
        const auto feature = element<std::int64_t>(indices, i);
        const auto value = element<double>(values, i);
        if (feature < 0 || feature > last)
            throw InputError("feature index " + std::to_string(feature) + " at position " + std::to_string(i) +
                             " must be from 0 to " + std::to_string(last));
        sum += std::abs(value);
        if (value != 0) out.add(static_cast<std::int32_t>(feature), value);
    }
    if (sum * sum <= longest) return;
    if (std::isfinite(sum)) {
        out.merge();
        if (sum_of_squares(out.value) <= longest) return;
    }
    for (std::size_t i = 0; i < indices.shape(0); ++i)
        check_value(element<double>(values, i), "x: feature " + std::to_string(element<std::int64_t>(indices, i)));
    throw InputError("x" + too_long(longest));
}

// Sets of labels, one a row: CSR without values.
struct LabelRows {
    VectorOf<std::int64_t> indptr;
    VectorOf<std::int32_t> indices;

    std::span<const std::int32_t> row(std::size_t i) const {
        const auto* at = indptr.data();
        return {indices.data() + at[i], static_cast<std::size_t>(at[i + 1] - at[i])};
    }
};

// A new NumPy array that owns its memory.
template <class V>
struct Owned {
    V* data;
    nb::ndarray<nb::numpy, V> array;

    explicit Owned(std::vector<std::size_t> shape) {
        std::size_t count = 1;
        for (const std::size_t side : shape) count *= side;
        auto memory = std::make_unique<V[]>(count);
        data = memory.get();
        nb::capsule owner(memory.release(), [](void* p) noexcept { delete[] static_cast<V*>(p); });
        array = nb::ndarray<nb::numpy, V>(data, shape.size(), shape.data(), owner);
    }
    nb::object object() const { return nb::cast(array); }
};

// A NumPy array of what a vector holds, without a copy.
template <class V>
nb::object adopted(std::vector<V>&& values) {
    auto kept = std::make_unique<std::vector<V>>(std::move(values));
    V* data = kept->data();
    const std::size_t size = kept->size();
    nb::capsule owner(kept.release(), [](void* p) noexcept { delete static_cast<std::vector<V>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, V>(data, 1, &size, owner));
}

}  // namespace tagalong::bind
