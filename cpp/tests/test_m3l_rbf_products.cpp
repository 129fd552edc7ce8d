// RBF products equal the formula, and have the same bits alone and in a batch.
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/errors.hpp"
#include "m3l/rbf_products.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::m3l_rbf_products_test {

using namespace m3l;

namespace {

template <class T>
struct Dense {
    std::int64_t rows, columns;
    std::vector<T> value;

    Dense(Random& random, std::int64_t rows, std::int64_t columns) : rows(rows), columns(columns) {
        for (std::int64_t e = 0; e < rows * columns; ++e)
            value.push_back(static_cast<T>(random.normal()));
    }
    Matrix matrix() const {
        Matrix out;
        out.rows = rows;
        out.columns = out.row_stride = columns;
        out.values = value.data();
        out.value_type = sizeof(T) == 4 ? Number::float32 : Number::float64;
        return out;
    }
    double product(std::size_t i, std::size_t j, double gamma) const {
        double squared = 0;
        for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
            const auto a = static_cast<double>(value[i * columns + c]),
                       b = static_cast<double>(value[j * columns + c]);
            squared += (a - b) * (a - b);
        }
        return std::exp(-gamma * squared);
    }
};

template <class T>
void compare(std::int64_t rows, std::int64_t columns, double gamma, double distance) {
    Random random(static_cast<std::uint64_t>(rows * 100 + columns));
    const Dense<T> data(random, rows, columns);
    const RbfProducts<T> products(data.matrix(), gamma);
    const auto n = static_cast<std::size_t>(rows);
    std::vector<std::int32_t> which;
    for (std::size_t i = 0; i < n; i += 1 + i % 3)
        which.push_back(static_cast<std::int32_t>(n - 1 - i));
    std::vector<float> memory(which.size() * n), single_row(n), few(which.size() * which.size());
    std::vector<float*> to;
    for (std::size_t k = 0; k < which.size(); ++k) to.push_back(memory.data() + k * n);
    products.rows(which, to);
    products.among(which, few.data());
    for (std::size_t k = 0; k < which.size(); ++k) {
        Note note("row ", which[k]);
        const std::int32_t one[] = {which[k]};
        float* const destination[] = {single_row.data()};
        products.rows(one, destination);
        for (std::size_t j = 0; j < n; ++j) {
            near(static_cast<double>(to[k][j]), data.product(which[k], j, gamma), distance);
            same(single_row[j], to[k][j]);
        }
        for (std::size_t j = 0; j < which.size(); ++j) {
            same(few[k * which.size() + j], to[k][which[j]]);
            same(few[j * which.size() + k], few[k * which.size() + j]);
        }
    }
}

Test products("m3l rbf products: equal to the formula, with the same bits alone and in a batch",
              [] {
                  for (const std::int64_t rows : {1, 15, 16, 33}) {
                      Note note("rows ", rows);
                      compare<float>(rows, 7, 0.1, 1e-6);
                      compare<double>(rows, 7, 0.1, 1e-7);
                  }
                  compare<float>(20, 1, 0.5, 1e-6);
                  compare<float>(18, 200, 0.001, 1e-6);
                  compare<float>(6, 40, 10.0, 1e-6);  // distances so large that products underflow
              });

Test lengths("m3l rbf products: a row whose norm overflows is refused", [] {
    Random random(1);
    Dense<float> data(random, 3, 2);
    data.value[4] = 1e15f;
    throws<InputError>([&] { RbfProducts<float>(data.matrix(), 1e9); },
                       "kernel: gamma times the squared length of row 2 is 1e+39; for numbers of "
                       "32 bits it must be "
                       "below 8.50706e+37");
    const Dense<double> wide(random, 3, 2);
    RbfProducts<double>(wide.matrix(), 1e9);
});

}  // namespace
}  // namespace tagalong::test::m3l_rbf_products_test
