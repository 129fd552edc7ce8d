#include "bind/arrays.hpp"

#include <algorithm>

#include "core/pairs.hpp"

namespace tagalong::bind {

static Number number_type(const nb::dlpack::dtype& type, const char* what) {
    if (is<float>(type)) return Number::float32;
    if (is<double>(type)) return Number::float64;
    if (is<std::int32_t>(type)) return Number::int32;
    if (is<std::int64_t>(type)) return Number::int64;
    throw InputError(std::string(what) + " must be float32, float64, int32 or int64");
}

MatrixView MatrixView::dense(AnyArray array) {
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

MatrixView MatrixView::csr(AnyArray data, AnyArray indices, AnyArray indptr, std::int64_t columns) {
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

void MatrixView::check_bounds(std::size_t values, std::size_t columns_given) const {
    const auto at = [&](std::int64_t i) -> std::int64_t {
        return matrix.index_type == Number::int32
                   ? static_cast<const std::int32_t*>(matrix.indptr)[i]
                   : static_cast<const std::int64_t*>(matrix.indptr)[i];
    };
    if (matrix.rows < 0 || at(0) < 0 || at(matrix.rows) > static_cast<std::int64_t>(values) ||
        values != columns_given)
        throw InputError("X: indptr, indices and data do not fit together");
}

// An array that owns the numbers of a vector.
template <class V>
static AnyArray owning(std::vector<V> values) {
    auto kept = std::make_unique<std::vector<V>>(std::move(values));
    const std::size_t size = kept->size();
    V* const data = kept->data();
    nb::capsule owner(kept.release(),
                      [](void* p) noexcept { delete static_cast<std::vector<V>*>(p); });
    return AnyArray(data, {size}, owner, {}, nb::dtype<V>());
}

FeatureRows::FeatureRows(std::vector<std::int32_t> indptr, std::vector<std::int32_t> indices,
                         std::vector<double> values) {
    std::int32_t last = -1;
    for (std::size_t i = 0; i + 1 < indptr.size(); ++i)
        if (indptr[i + 1] > indptr[i])
            last = std::max(last, indices[static_cast<std::size_t>(indptr[i + 1]) - 1]);
    view_ = MatrixView::csr(owning(std::move(values)), owning(std::move(indices)),
                            owning(std::move(indptr)), std::int64_t{last} + 1);
}

NumPy<std::int64_t> FeatureRows::indptr() const {
    Owned<std::int64_t> out({view_.indptr.shape(0)});
    std::copy_n(static_cast<const std::int32_t*>(view_.indptr.data()), view_.indptr.shape(0),
                out.data);
    return out.array;
}
NumPy<const std::int32_t> FeatureRows::indices() const {
    return NumPy<const std::int32_t>(view_.indices);
}
NumPy<const double> FeatureRows::values() const { return NumPy<const double>(view_.values); }

LabelRows::LabelRows(VectorOf<std::int64_t> indptr, VectorOf<std::int32_t> indices)
    : indptr_(std::move(indptr)), indices_(std::move(indices)) {
    const std::span<const std::int64_t> ends(indptr_.data(), indptr_.shape(0));
    if (ends.empty() || ends.front() < 0 || !std::is_sorted(ends.begin(), ends.end()) ||
        ends.back() > static_cast<std::int64_t>(indices_.shape(0)))
        throw InputError("indptr and indices of label rows do not fit together");
}

static bool is_integer(const Vector& array) {
    return is<std::int32_t>(array.dtype()) || is<std::int64_t>(array.dtype());
}

// An empty array may have any type: NumPy makes float64 of an empty list.
static NumberArray numbers_of(const Vector& array, const char* what) {
    if (array.shape(0) == 0) return {};
    return {array.data(), number_type(array.dtype(), what), array.stride(0), array.shape(0)};
}

void read_pairs(const Vector& indices, const Vector& values, double longest, Example& out) {
    if (indices.shape(0) != values.shape(0))
        throw InputError("x has " + std::to_string(indices.shape(0)) + " indices but " +
                         std::to_string(values.shape(0)) + " values");
    if (!is_integer(indices) && indices.shape(0) > 0)
        throw InputError("feature indices must be integers");
    tagalong::read_pairs(numbers_of(indices, "feature indices"), numbers_of(values, "values"),
                         longest, out);
}

}  // namespace tagalong::bind
