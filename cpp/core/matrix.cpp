#include "core/matrix.hpp"

#include <cmath>
#include <string>

#include "core/entries.hpp"
#include "core/errors.hpp"

namespace tagalong {

void Matrix::read(std::int64_t i, Example& out) const {
    out.clear();
    visit_row(i, [&](std::int64_t column, double value) {
        if (value != 0) out.add(static_cast<std::int32_t>(column), value);
    });
}

void Matrix::check(double longest) const {
    if (sparse()) check_indptr();
    if (quick_check(longest)) return;
    Example merged;
    for (std::int64_t i = 0; i < rows; ++i) {
        double sum = 0;
        bool good = true;
        visit_arrays(i, [&](const auto* columns_of, const auto* data, std::size_t count) {
            sum = kernels::sum_of_magnitudes(data, count);
            good = !columns_of || kernels::all_inside(columns_of, columns, count);
        });
        // The sum of magnitudes bounds the length of the row, with or without duplicate columns.
        // Compute the length itself only if this bound is too large.
        if (good && sum * sum <= longest) continue;
        if (!good || !std::isfinite(sum)) throw_error(i, longest);
        read(i, merged);
        merged.merge();
        if (!(sum_of_squares(merged.value) <= longest)) throw_error(i, longest);
    }
}

// A quick sufficient test: checks all entries of the matrix as if they were one row. It nearly
// always succeeds.
bool Matrix::quick_check(double longest) const {
    if (rows == 0) return true;
    if (!sparse() && row_stride != columns) return false;
    const auto count = static_cast<std::size_t>(sparse() ? start(rows) - start(0) : rows * columns);
    double sum = 0;
    bool good = true;
    visit_arrays(0, [&](const auto* columns_of, const auto* data, std::size_t) {
        sum = kernels::sum_of_magnitudes(data, count);
        good = !columns_of || kernels::all_inside(columns_of, columns, count);
    });
    return good && sum * sum <= longest;
}

void Matrix::check_indptr() const {
    for (std::int64_t i = 0; i < rows; ++i)
        if (integer(indptr, index_type, i) > integer(indptr, index_type, i + 1))
            throw InputError("X: indptr must not decrease, but does at row " + std::to_string(i));
}

void Matrix::throw_error(std::int64_t i, double longest) const {
    visit_row(i, [&](std::int64_t column, double value) {
        if (column < 0 || column >= columns)
            throw InputError("X: row " + std::to_string(i) + " has column " +
                             std::to_string(column) + "; columns must be from 0 to " +
                             std::to_string(columns - 1));
        check_value(value, "X: row " + std::to_string(i) + ", column " + std::to_string(column));
    });
    throw InputError("X: row " + std::to_string(i) + too_long_message(longest));
}

}  // namespace tagalong
