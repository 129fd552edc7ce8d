// Symmetric matrices that only grow, stored as tiles of the upper triangle. This halves the memory
// traffic, which limits the speed of ranking with full matrices.
//
// A tile is a square block whose rows are 32 bytes long. Tiles are ordered by column of tiles, from
// the top down to the diagonal, so a smaller matrix is a prefix of a larger one. Tiles on the
// diagonal are stored in full.
#pragma once

#include <cstddef>
#include <utility>

#include "core/aligned.hpp"

namespace tagalong {

template <class T>
class SymmetricTiles {
  public:
    static constexpr std::size_t kSide = 32 / sizeof(T);

    static std::size_t blocks(std::size_t side) { return (side + kSide - 1) / kSide; }
    // Number of stored numbers for a matrix with this number of columns.
    static std::size_t numbers(std::size_t side) {
        return blocks(side) * (blocks(side) + 1) / 2 * kSide * kSide;
    }

    std::size_t side() const { return side_; }
    const T* data() const { return tiles_.data(); }
    T* data() { return tiles_.data(); }
    std::size_t size() const { return tiles_.size(); }

    T at(std::size_t row, std::size_t column) const { return tiles_[offset(row, column)]; }
    // Sets both mirror images if both are stored.
    void set(std::size_t row, std::size_t column, T value) {
        tiles_[offset(row, column)] = value;
        tiles_[offset(column, row)] = value;
    }

    // Enlarges the matrix to this number of columns; the new part is the identity.
    void grow(std::size_t side) {
        if (side <= side_) return;
        const std::size_t before = blocks(side_) * kSide, after = blocks(side) * kSide;
        side_ = side;
        tiles_.resize(numbers(side), T(0));
        for (std::size_t i = before; i < after; ++i) tiles_[offset(i, i)] = T(1);
    }

    // out = matrix * x. Both vectors are padded to whole tiles, x with zeros. `scratch` has room
    // for one tile per block.
    void multiply(const T* x, T* out, T* scratch) const;
    // matrix += factor * x * x'
    void add_outer(const T* x, T factor);

  private:
    static std::size_t offset(std::size_t row, std::size_t column) {
        std::size_t high = column / kSide, low = row / kSide;
        if (low > high) {
            std::swap(low, high);
            std::swap(row, column);
        }
        return (high * (high + 1) / 2 + low) * kSide * kSide + row % kSide * kSide + column % kSide;
    }

    std::size_t side_ = 0;
    AlignedVector<T> tiles_;
};

// out[i] = x' * matrix_i * x for `count` matrices of `blocks` blocks of tiles.
void quadratic_forms(const float* const* matrices, const float* x, std::size_t blocks,
                     std::size_t count, double* out);
void quadratic_forms(const double* const* matrices, const double* x, std::size_t blocks,
                     std::size_t count, double* out);

// row * x for n numbers, where n is a multiple of a tile's side.
float inner_product(const float* row, const float* x, std::size_t n);
double inner_product(const double* row, const double* x, std::size_t n);

extern template class SymmetricTiles<float>;
extern template class SymmetricTiles<double>;

}  // namespace tagalong
