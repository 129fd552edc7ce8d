// Products of dense rows by the radial basis function, exp(-gamma |a - b|^2), many at a time. Rows
// are interleaved in groups of sixteen: for each column, the sixteen numbers lie together. They are
// multiplied with the numbers of a few other rows, whose sums stay in registers. Each sum runs over
// the columns in order, so a product has the same bits whichever rows are computed with it, and for
// any vector width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/aligned.hpp"
#include "core/matrix.hpp"
#include "m3l/lanes.hpp"

namespace tagalong::m3l {

// Rows interleaved in groups of `width`, padded with rows of zeros.
template <class T>
struct Panels {
    std::size_t width = 0, columns = 0;
    AlignedVector<T> value;
    AlignedVector<T> exponent_term;  // -gamma |x|^2 per row

    const T* group(std::size_t at) const { return value.data() + at * width * columns; }
    std::size_t groups() const { return exponent_term.size() / width; }
};

template <class T>
class RbfProducts {
  public:
    // Copies a validated dense matrix of numbers of type T.
    RbfProducts(const Matrix& from, double gamma);

    std::size_t size() const { return rows_; }
    // Computes the products of some rows with all rows; those of which[k] go to out[k].
    void rows(std::span<const std::int32_t> which, std::span<float* const> out) const;
    // Computes the products of some rows with each other, row-major.
    void among(std::span<const std::int32_t> which, float* out) const;

  private:
    // Copies some rows into groups of another width.
    Panels<T> gather(std::span<const std::int32_t> which, std::size_t width) const;

    std::size_t rows_;
    T two_gamma_;  // 2 gamma
    Panels<T> all_;
};

}  // namespace tagalong::m3l
