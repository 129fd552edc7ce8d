// Products of dense rows by the radial basis function, exp(-gamma |a - b|^2), many at a time. Sixteen rows
// lie side by side, a number of each after the other: one of those is multiplied with a number of
// each of a few other rows, whose sums stay in registers. A sum runs over the columns in order, so
// that a product has the same bits whatever is computed along with it, and on any width of vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/aligned.hpp"
#include "core/matrix.hpp"
#include "m3l/lanes.hpp"

namespace tagalong::m3l {

// Rows in groups of so many, each number of a group's rows after the other, filled up with zeros.
template <class T>
struct Panels {
    std::size_t width = 0, columns = 0;
    AlignedVector<T> value;
    AlignedVector<T> far;  // -gamma |x|^2 a row

    const T* group(std::size_t at) const { return value.data() + at * width * columns; }
    std::size_t groups() const { return far.size() / width; }
};

template <class T>
class RbfProducts {
  public:
    // A checked dense matrix of numbers of type T, which is copied.
    RbfProducts(const Matrix& from, double gamma);

    std::size_t size() const { return rows_; }
    // The products of each of some rows with all rows, to where it says.
    void rows(std::span<const std::int32_t> which, std::span<float* const> out) const;
    // The products of some rows with each other, row by row.
    void among(std::span<const std::int32_t> which, float* out) const;

  private:
    // Some rows, in groups of another width.
    Panels<T> some(std::span<const std::int32_t> which, std::size_t width) const;

    std::size_t rows_;
    T twice_;  // 2 gamma
    Panels<T> all_;
};

}  // namespace tagalong::m3l
