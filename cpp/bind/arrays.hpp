// NumPy arrays in and out: no mathematics here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/matrix.hpp"

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

// A matrix view that keeps the arrays it looks at alive.
struct MatrixView {
    Matrix matrix;
    AnyArray values, indices, indptr;

    static MatrixView dense(AnyArray array);
    static MatrixView csr(AnyArray data, AnyArray indices, AnyArray indptr, std::int64_t columns);

  private:
    void check_bounds(std::size_t values, std::size_t columns_given) const;
};

// (indices, values) into an example, checked.
void read_pairs(const Vector& indices, const Vector& values, double longest, Example& out);

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
