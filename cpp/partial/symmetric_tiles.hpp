// Symmetric matrices that only grow, in tiles of the upper triangle: half the memory traffic of a
// square, which is what limits ranking with full matrices.
//
// A tile is a square of as many rows and columns as numbers fit into 32 bytes. Tiles are ordered by
// column of tiles, from the top down to the diagonal, so that a larger matrix begins with the smaller
// one. Tiles on the diagonal are stored in full.
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
    // How many numbers a matrix of so many columns takes.
    static std::size_t numbers(std::size_t side) {
        return blocks(side) * (blocks(side) + 1) / 2 * kSide * kSide;
    }

    std::size_t side() const { return side_; }
    const T* data() const { return tiles_.data(); }
    T* data() { return tiles_.data(); }
    std::size_t size() const { return tiles_.size(); }

    T at(std::size_t row, std::size_t column) const { return tiles_[offset(row, column)]; }
    // Both mirror images, where both are stored.
    void set(std::size_t row, std::size_t column, T value) {
        tiles_[offset(row, column)] = value;
        tiles_[offset(column, row)] = value;
    }

    // Make room for so many columns; new ones are those of the unit matrix.
    void grow(std::size_t side) {
        if (side <= side_) return;
        const std::size_t before = blocks(side_) * kSide, after = blocks(side) * kSide;
        side_ = side;
        tiles_.resize(numbers(side), T(0));
        for (std::size_t i = before; i < after; ++i) tiles_[offset(i, i)] = T(1);
    }

    // out = matrix * x. Both are padded to whole tiles, x with zeros; `scratch` has room for a tile a block.
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

// out[i] = x' * matrix_i * x for many matrices of so many blocks of tiles.
void quadratic_forms(const float* const* matrices, const float* x, std::size_t blocks,
                     std::size_t count, double* out);
void quadratic_forms(const double* const* matrices, const double* x, std::size_t blocks,
                     std::size_t count, double* out);

// row * x for n numbers, n a multiple of a tile's side.
float inner_product(const float* row, const float* x, std::size_t n);
double inner_product(const double* row, const double* x, std::size_t n);

extern template class SymmetricTiles<float>;
extern template class SymmetricTiles<double>;

}  // namespace tagalong
