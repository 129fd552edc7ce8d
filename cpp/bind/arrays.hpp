// Conversion between NumPy arrays and the views and vectors of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <optional>
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
using VectorOf = nb::ndarray<nb::numpy, const V, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An array that is returned to Python.
template <class... V>
using NumPy = nb::ndarray<nb::numpy, V...>;
// Return policy of array attributes: an array keeps its memory alive itself.
inline constexpr auto kArray = nb::rv_policy::reference;

template <class V>
bool is(const nb::dlpack::dtype& type) {
    return type == nb::dtype<V>();
}

// A matrix view that keeps its arrays alive.
struct MatrixView {
    Matrix matrix;
    AnyArray values, indices, indptr;

    static MatrixView dense(AnyArray array);
    static MatrixView csr(AnyArray data, AnyArray indices, AnyArray indptr, std::int64_t columns);

  private:
    void check_bounds(std::size_t values, std::size_t columns_given) const;
};

// Rows of numbered features that native code has made, without a fixed number of columns. NumPy
// arrays of them are made when Python asks for them.
class FeatureRows {
  public:
    // CSR arrays; the features of a row ascend.
    FeatureRows(std::vector<std::int32_t> indptr, std::vector<std::int32_t> indices,
                std::vector<double> values);

    const MatrixView& matrix() const { return view_; }
    NumPy<std::int64_t> indptr() const;
    NumPy<const std::int32_t> indices() const;
    NumPy<const double> values() const;

  private:
    MatrixView view_;
};

// Checks indices and values and reads them into an example.
void read_pairs(const Vector& indices, const Vector& values, double longest, Example& out);

// Sets of labels, one per row: CSR without values. The constructor checks the arrays, so that
// readers of rows need not.
class LabelRows {
  public:
    LabelRows(VectorOf<std::int64_t> indptr, VectorOf<std::int32_t> indices);

    std::size_t rows() const { return indptr_.shape(0) - 1; }
    std::span<const std::int32_t> row(std::int64_t i) const {
        const auto* at = indptr_.data() + i;
        return {indices_.data() + at[0], static_cast<std::size_t>(at[1] - at[0])};
    }
    // The arrays that Python passed.
    const VectorOf<std::int64_t>& indptr() const { return indptr_; }
    const VectorOf<std::int32_t>& indices() const { return indices_; }

  private:
    VectorOf<std::int64_t> indptr_;
    VectorOf<std::int32_t> indices_;
};

// Throws InputError unless an array has one entry per row of the batch.
inline void check_row_count(std::int64_t rows, std::size_t given, const char* what) {
    if (given != static_cast<std::size_t>(rows))
        throw InputError("X has " + std::to_string(rows) + " rows but " + what + " has " +
                         std::to_string(given));
}
template <class Array>
void check_row_count(std::int64_t rows, const std::optional<Array>& given, const char* what) {
    if (given) check_row_count(rows, given->shape(0), what);
}

// A new NumPy array that owns its memory.
template <class V>
struct Owned {
    V* data;
    NumPy<V> array;

    explicit Owned(std::vector<std::size_t> shape) {
        std::size_t count = 1;
        for (const std::size_t side : shape) count *= side;
        auto memory = std::make_unique<V[]>(count);
        data = memory.get();
        nb::capsule owner(memory.release(), [](void* p) noexcept { delete[] static_cast<V*>(p); });
        array = NumPy<V>(data, shape.size(), shape.data(), owner);
    }
};

// Moves a vector into a NumPy array of the given shape without copying its numbers.
template <class V, class Values>
NumPy<V> adopted_as(Values values, const std::vector<std::size_t>& shape) {
    auto kept = std::make_unique<Values>(std::move(values));
    V* data = kept->data();
    nb::capsule owner(kept.release(), [](void* p) noexcept { delete static_cast<Values*>(p); });
    return NumPy<V>(data, shape.size(), shape.data(), owner);
}
template <class V>
NumPy<V> adopted(std::vector<V>&& values) {
    const std::size_t size = values.size();
    return adopted_as<V>(std::move(values), {size});
}

}  // namespace tagalong::bind
