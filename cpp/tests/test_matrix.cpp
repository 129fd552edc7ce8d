// Matrix: every layout and number type gives the same rows, and check() reports invalid input.
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/errors.hpp"
#include "core/matrix.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::matrix_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kMostFloat = static_cast<double>(std::numeric_limits<float>::max());

template <class V>
constexpr Number number_of() {
    if constexpr (std::is_same_v<V, float>) return Number::float32;
    if constexpr (std::is_same_v<V, double>) return Number::float64;
    return sizeof(V) == 4 ? Number::int32 : Number::int64;
}

template <class V>
struct Dense {
    std::vector<V> values;
    std::int64_t rows, columns, stride;

    Matrix view() const {
        Matrix matrix;
        matrix.rows = rows;
        matrix.columns = columns;
        matrix.values = values.data();
        matrix.value_type = number_of<V>();
        matrix.row_stride = stride;
        return matrix;
    }
};

template <class V, class I>
struct Csr {
    std::vector<V> values;
    std::vector<I> indices;
    std::vector<I> indptr{0};
    std::int64_t columns = 0;

    Matrix view() const {
        Matrix matrix;
        matrix.rows = static_cast<std::int64_t>(indptr.size()) - 1;
        matrix.columns = columns;
        matrix.values = values.data();
        matrix.value_type = number_of<V>();
        matrix.indices = indices.data();
        matrix.indptr = indptr.data();
        matrix.index_type = number_of<I>();
        return matrix;
    }
};

// Multiples of 1/8, which a float represents exactly.
double random_eighth(Random& random) {
    return random.chance(0.4) ? 0.0 : random.below(64) / 8.0 - 4;
}

template <class V>
Dense<V> random_dense(Random& random, std::int64_t rows, std::int64_t columns,
                      std::int64_t stride) {
    Dense<V> dense{std::vector<V>(static_cast<std::size_t>(rows * stride), V(77)), rows, columns,
                   stride};
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            dense.values[static_cast<std::size_t>(i * stride + j)] =
                static_cast<V>(random_eighth(random));
    return dense;
}

template <class V, class I>
Csr<V, I> to_csr(const Dense<double>& dense, Random& random) {
    Csr<V, I> csr;
    csr.columns = dense.columns;
    for (std::int64_t i = 0; i < dense.rows; ++i) {
        std::vector<std::int64_t> order;
        for (std::int64_t j = 0; j < dense.columns; ++j)
            if (dense.values[static_cast<std::size_t>(i * dense.stride + j)] != 0 ||
                random.chance(0.2))
                order.push_back(j);
        random.shuffle(order);
        for (const std::int64_t j : order) {
            csr.indices.push_back(static_cast<I>(j));
            csr.values.push_back(
                static_cast<V>(dense.values[static_cast<std::size_t>(i * dense.stride + j)]));
        }
        csr.indptr.push_back(static_cast<I>(csr.indices.size()));
    }
    return csr;
}

void same_rows(const Matrix& actual, const Matrix& expected) {
    same(actual.rows, expected.rows);
    Example a, b;
    for (std::int64_t i = 0; i < expected.rows; ++i) {
        actual.read(i, a);
        expected.read(i, b);
        a.finish(Norm::euclidean, 1);
        b.finish(Norm::euclidean, 1);
        check(a.feature == b.feature, "features differ");
        same_bits(a.value, b.value);
    }
    actual.check(kMostFloat);
}

const Test layouts{"matrix: dense and CSR of every number type give the same bits", [] {
                       Random random(1);
                       for (int round = 0; round < 30; ++round) {
                           const std::int64_t rows = random.below(6),
                                              columns = 1 + random.below(12);
                           const auto dense = random_dense<double>(random, rows, columns, columns);
                           const Matrix expected = dense.view();
                           check(!expected.sparse(), "a dense matrix is reported as sparse");
                           const Dense<float> single{
                               {dense.values.begin(), dense.values.end()}, rows, columns, columns};
                           same_rows(single.view(), expected);
                           check(to_csr<float, std::int32_t>(dense, random).view().sparse(),
                                 "a sparse matrix is reported as dense");
                           same_rows(to_csr<float, std::int32_t>(dense, random).view(), expected);
                           same_rows(to_csr<float, std::int64_t>(dense, random).view(), expected);
                           same_rows(to_csr<double, std::int32_t>(dense, random).view(), expected);
                           same_rows(to_csr<double, std::int64_t>(dense, random).view(), expected);
                       }
                   }};

template <class V>
void read_with_stride() {
    Random random(2);
    const auto wide = random_dense<V>(random, 5, 7, 11);
    Dense<V> narrow{{}, 5, 7, 7};
    for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j < 7; ++j) narrow.values.push_back(wide.values[i * 11 + j]);
    same_rows(wide.view(), narrow.view());

    // Rows in reverse order, as in a reversed NumPy array.
    Matrix backwards = narrow.view();
    backwards.values = narrow.values.data() + 4 * 7;
    backwards.row_stride = -7;
    Example a, b;
    for (std::int64_t i = 0; i < 5; ++i) {
        backwards.read(i, a);
        narrow.view().read(4 - i, b);
        check(a.feature == b.feature, "features differ");
        same_bits(a.value, b.value);
    }
}

const Test strides{"matrix: rows with a stride, also a negative one", [] {
                       read_with_stride<float>();
                       read_with_stride<double>();
                   }};

const Test unchanged_rows{
    "matrix: a row is read unchanged except for zeros", [] {
        const Csr<double, std::int32_t> csr{{2, 0, 3, 4}, {4, 1, 4, 0}, {0, 4}, 5};
        Example x;
        x.add(1, 1.0);
        csr.view().read(0, x);
        check(x.feature == std::vector<std::int32_t>{4, 4, 0}, "features differ");
        same_bits(x.value, {2.0, 3.0, 4.0});
    }};

const Test empty_is_valid{"matrix: no rows, empty rows and no columns are valid", [] {
                              Csr<double, std::int64_t> csr;
                              csr.view().check(kMost);
                              csr.indptr = {0, 0, 0};
                              csr.view().check(kMost);
                              Example x;
                              csr.view().read(1, x);
                              same(x.size(), 0u);
                              Dense<float>{{}, 3, 0, 0}.view().check(kMost);
                          }};

template <class V>
void refuse_values() {
    Dense<V> dense{std::vector<V>(12, V(1)), 3, 4, 4};
    const auto refused = [&](double value, const char* message,
                             const Where& where = Where::current()) {
        dense.values[6] = static_cast<V>(value);
        throws<InputError>([&] { dense.view().check(kMostFloat); }, message, where);
    };
    refused(kNaN, "X: row 1, column 2 is NaN; values must be finite");
    refused(kInfinity, "X: row 1, column 2 is infinity; values must be finite");
    refused(-kInfinity, "X: row 1, column 2 is -infinity; values must be finite");
    refused(
        2e19,
        "X: row 1 is too long: the sum of its squares exceeds 3.40282e+38, the largest number of "
        "the storage type; scale the features down");
    dense.values[6] = static_cast<V>(1e19);
    dense.view().check(kMostFloat);
    // Each row is short enough, but all rows together overflow.
    dense.values[0] = dense.values[6] = dense.values[8] = static_cast<V>(1.5e19);
    dense.view().check(kMostFloat);
}

template <class V, class I>
void refuse_csr() {
    Csr<V, I> csr{{1, 2, 3}, {0, 4, 2}, {0, 1, 3}, 5};
    csr.view().check(kMost);
    const auto refused = [&](const char* message, const Where& where = Where::current()) {
        throws<InputError>([&] { csr.view().check(kMost); }, message, where);
    };
    csr.indices[1] = 5;
    refused("X: row 1 has column 5; columns must be from 0 to 4");
    csr.indices[1] = -1;
    refused("X: row 1 has column -1; columns must be from 0 to 4");
    csr.indices[1] = 4;
    csr.values[2] = static_cast<V>(kNaN);
    refused("X: row 1, column 2 is NaN; values must be finite");
    csr.values[2] = 3;
    csr.indptr = {0, 3, 1};
    refused("X: indptr must not decrease, but does at row 1");
}

const Test values{"matrix: NaN, infinity and too long rows are refused", [] {
                      refuse_values<float>();
                      refuse_values<double>();
                  }};

const Test structure{"matrix: columns out of range and a decreasing indptr are refused", [] {
                         refuse_csr<float, std::int32_t>();
                         refuse_csr<float, std::int64_t>();
                         refuse_csr<double, std::int32_t>();
                         refuse_csr<double, std::int64_t>();
                     }};

const Test wide_columns{
    "matrix: 64-bit columns are not truncated to 32 bits", [] {
        const Csr<double, std::int64_t> csr{{1}, {(std::int64_t{1} << 32) + 2}, {0, 1}, 5};
        throws<InputError>([&] { csr.view().check(kMost); },
                           "X: row 0 has column 4294967298; columns must be from 0 to 4");
    }};

const Test largest_numbers{
    "matrix: a row whose squares overflow is refused", [] {
        const Dense<double> dense{{1e200, 1}, 1, 2, 2};
        throws<InputError>(
            [&] { dense.view().check(kMost); },
            "X: row 0 is too long: the sum of its squares exceeds 1.79769e+308, the largest "
            "number of the storage type; scale the features down");
    }};

}  // namespace
}  // namespace tagalong::test::matrix_test
