// Matrices with any numbers: a matrix is refused, or all its rows can be read.
#include "core/matrix.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/errors.hpp"
#include "fuzz/input.hpp"

namespace tagalong::fuzz {
namespace {

constexpr double kLongest = 1e30;

// The rows of a matrix that was accepted are examples as learners expect them.
void use(const Matrix& matrix) {
    Example x;
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        matrix.read(i, x);
        x.finish(static_cast<Norm>(i % 3), 1.0);
        for (std::size_t e = 0; e < x.size(); ++e) {
            if (!std::isfinite(x.value[e]) || x.feature[e] >= matrix.columns) std::abort();
            if (e > 0 && x.feature[e] <= x.feature[e - 1]) std::abort();
        }
    }
}

template <class Value>
std::vector<Value> read_values(Input& input, std::size_t count) {
    std::vector<Value> out;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = input.number();
        out.push_back(sizeof(Value) == sizeof(double) || !(std::abs(value) > 3e38)
                          ? static_cast<Value>(value)
                          : static_cast<Value>(INFINITY));
    }
    return out;
}

template <class Value, class Index>
void attack(Input& input, Number value_type, Number index_type) {
    const std::size_t rows = input.below_or_equal(6), columns = input.below_or_equal(9);
    Matrix matrix;
    matrix.rows = static_cast<std::int64_t>(rows);
    matrix.columns = static_cast<std::int64_t>(columns);
    matrix.value_type = value_type;
    matrix.index_type = index_type;
    const bool sparse = input.byte() % 2 == 1;
    const std::size_t count = sparse ? input.below_or_equal(40) : rows * columns;
    // One more, so that there is an address even without numbers.
    std::vector<Value> values = read_values<Value>(input, count + 1);
    std::vector<Index> indices, indptr;
    matrix.values = values.data();
    matrix.row_stride = matrix.columns;
    if (sparse) {
        for (std::size_t i = 0; i <= count; ++i)
            indices.push_back(static_cast<Index>(static_cast<std::int8_t>(input.byte())));
        // The binding checks the first and the last position.
        indptr.push_back(0);
        for (std::size_t i = 1; i < rows; ++i)
            indptr.push_back(static_cast<Index>(static_cast<std::int8_t>(input.byte())));
        if (rows > 0) indptr.push_back(static_cast<Index>(count));
        matrix.indices = indices.data();
        matrix.indptr = indptr.data();
    }
    try {
        matrix.check(kLongest);
    } catch (const InputError&) {
        return;
    }
    use(matrix);
}

}  // namespace
}  // namespace tagalong::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using tagalong::Number;
    tagalong::fuzz::Input input(data, size);
    const std::uint8_t kind = input.byte() % 4;
    if (kind == 0)
        tagalong::fuzz::attack<float, std::int32_t>(input, Number::float32, Number::int32);
    else if (kind == 1)
        tagalong::fuzz::attack<float, std::int64_t>(input, Number::float32, Number::int64);
    else if (kind == 2)
        tagalong::fuzz::attack<double, std::int32_t>(input, Number::float64, Number::int32);
    else tagalong::fuzz::attack<double, std::int64_t>(input, Number::float64, Number::int64);
    return 0;
}
