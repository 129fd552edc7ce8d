// A non-owning view of a matrix, dense or CSR, in the number types of NumPy and SciPy. Learners
// read it row by row into an Example; at most one row is copied at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/example.hpp"

namespace tagalong {

enum class Number { float32, float64, int32, int64 };

struct Matrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    const void* values = nullptr;  // float32 or float64
    Number value_type = Number::float64;
    // Dense: numbers from the start of one row to the start of the next. CSR: unused.
    std::int64_t row_stride = 0;
    // CSR only; null for a dense matrix.
    const void* indices = nullptr;
    const void* indptr = nullptr;
    Number index_type = Number::int32;

    bool sparse() const { return indptr != nullptr; }

    // CSR: the position of the first entry of row i.
    std::int64_t start(std::int64_t i) const { return integer(indptr, index_type, i); }
    // The number of entries of row i, including explicit zeros.
    std::size_t entries(std::int64_t i) const {
        return static_cast<std::size_t>(sparse() ? integer(indptr, index_type, i + 1) -
                                                       integer(indptr, index_type, i)
                                                 : columns);
    }

    // Calls visit(columns, values, count) with pointers of the types in which row i is stored. For
    // a dense row, columns is null.
    template <class Visit>
    void visit_arrays(std::int64_t i, Visit&& visit) const {
        if (value_type == Number::float32) visit_typed(i, static_cast<const float*>(values), visit);
        else visit_typed(i, static_cast<const double*>(values), visit);
    }

    // Calls visit(column, value) for each entry of row i in storage order.
    template <class Visit>
    void visit_row(std::int64_t i, Visit&& visit) const {
        visit_arrays(i, [&](const auto* columns_of, const auto* data, std::size_t count) {
            if (columns_of)
                for (std::size_t e = 0; e < count; ++e)
                    visit(static_cast<std::int64_t>(columns_of[e]), static_cast<double>(data[e]));
            else
                for (std::size_t e = 0; e < count; ++e)
                    visit(static_cast<std::int64_t>(e), static_cast<double>(data[e]));
        });
    }

    // Reads the non-zero entries of row i in storage order, neither sorted nor normalised.
    void read(std::int64_t i, Example& out) const;

    // Throws InputError for the first invalid entry or row: a value that is not finite, a column
    // outside the matrix, or a row whose squared length exceeds `longest`.
    void check(double longest) const;

  private:
    static std::int64_t integer(const void* data, Number type, std::int64_t at) {
        return type == Number::int32 ? static_cast<const std::int32_t*>(data)[at]
                                     : static_cast<const std::int64_t*>(data)[at];
    }

    template <class V, class Visit>
    void visit_typed(std::int64_t i, const V* data, Visit&& visit) const {
        if (!sparse())
            visit(static_cast<const std::int32_t*>(nullptr), data + i * row_stride, entries(i));
        else if (index_type == Number::int32)
            visit(static_cast<const std::int32_t*>(indices) + start(i), data + start(i),
                  entries(i));
        else
            visit(static_cast<const std::int64_t*>(indices) + start(i), data + start(i),
                  entries(i));
    }
    bool quick_check(double longest) const;
    void check_indptr() const;
    [[noreturn]] void throw_error(std::int64_t i, double longest) const;
};

}  // namespace tagalong
