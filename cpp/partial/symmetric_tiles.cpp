#include "partial/symmetric_tiles.hpp"

#include "core/clones.hpp"

namespace tagalong {
namespace {

// A row of a tile, as a vector type: the sums must stay in registers across rows.
template <class T>
struct Lanes {
    typedef T Vector __attribute__((vector_size(32), may_alias));
    static constexpr std::size_t kCount = 32 / sizeof(T);
};

template <class T>
TAGALONG_INLINE const typename Lanes<T>::Vector& row(const T* at) {
    return *reinterpret_cast<const typename Lanes<T>::Vector*>(at);
}

template <class T>
TAGALONG_INLINE double sum(const typename Lanes<T>::Vector& lanes) {
    double total = 0;
    for (std::size_t l = 0; l < Lanes<T>::kCount; ++l) total += static_cast<double>(lanes[l]);
    return total;
}

// Several matrices at once: each number of x is loaded once for all of them, and their sums are
// independent of each other. The result for a matrix does not depend on the other matrices.
template <class T, std::size_t kMatrices>
TAGALONG_INLINE void quadratic_forms_of(const T* const* matrices, const T* x, std::size_t blocks,
                                        double* out) {
    using Vector = typename Lanes<T>::Vector;
    constexpr std::size_t L = Lanes<T>::kCount;
    const T* at[kMatrices];
    Vector total[kMatrices];
    for (std::size_t i = 0; i < kMatrices; ++i) {
        at[i] = matrices[i];
        total[i] = Vector{};
    }
    for (std::size_t block = 0; block < blocks; ++block) {
        Vector above[kMatrices], square[kMatrices];
        for (std::size_t i = 0; i < kMatrices; ++i) above[i] = square[i] = Vector{};
        for (std::size_t r = 0; r < block * L; ++r) {
            const T factor = x[r];
            for (std::size_t i = 0; i < kMatrices; ++i) above[i] += factor * row(at[i] + r * L);
        }
        for (std::size_t r = block * L; r < (block + 1) * L; ++r) {
            const T factor = x[r];
            for (std::size_t i = 0; i < kMatrices; ++i) square[i] += factor * row(at[i] + r * L);
        }
        const Vector x_block = row(x + block * L);
        for (std::size_t i = 0; i < kMatrices; ++i) {
            total[i] += x_block * (above[i] + above[i] + square[i]);
            at[i] += (block + 1) * L * L;
        }
    }
    for (std::size_t i = 0; i < kMatrices; ++i) out[i] = sum<T>(total[i]);
}

template <class T>
TAGALONG_INLINE void quadratic_forms_body(const T* const* matrices, const T* x, std::size_t blocks,
                                          std::size_t count, double* out) {
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) quadratic_forms_of<T, 4>(matrices + i, x, blocks, out + i);
    for (; i < count; ++i) quadratic_forms_of<T, 1>(matrices + i, x, blocks, out + i);
}

template <class T>
TAGALONG_INLINE T inner_product_body(const T* left, const T* x, std::size_t n) {
    typename Lanes<T>::Vector total = {};
    for (std::size_t j = 0; j < n; j += Lanes<T>::kCount) total += row(left + j) * row(x + j);
    return static_cast<T>(sum<T>(total));
}

template <class T>
TAGALONG_INLINE void multiply_body(const T* tile, const T* x, std::size_t blocks, T* out,
                                   T* scratch) {
    using Vector = typename Lanes<T>::Vector;
    constexpr std::size_t L = Lanes<T>::kCount;
    auto* partial = reinterpret_cast<Vector*>(scratch);
    for (std::size_t r = 0; r < blocks * L; ++r) partial[r] = Vector{};
    for (std::size_t block = 0; block < blocks; ++block, tile += block * L * L) {
        const Vector x_block = row(x + block * L);
        Vector column = {};
        for (std::size_t r = 0; r < block * L; ++r) {
            const Vector& numbers = row(tile + r * L);
            column += x[r] * numbers;
            partial[r] += x_block * numbers;
        }
        for (std::size_t r = block * L; r < (block + 1) * L; ++r)
            column += x[r] * row(tile + r * L);
        *reinterpret_cast<Vector*>(out + block * L) = column;
    }
    for (std::size_t r = 0; r < blocks * L; ++r)
        out[r] = static_cast<T>(static_cast<double>(out[r]) + sum<T>(partial[r]));
}

template <class T>
TAGALONG_INLINE void add_outer_body(T* tile, const T* x, std::size_t blocks, T factor) {
    using Vector = typename Lanes<T>::Vector;
    constexpr std::size_t L = Lanes<T>::kCount;
    for (std::size_t block = 0; block < blocks; ++block, tile += block * L * L) {
        const Vector x_block = factor * row(x + block * L);
        for (std::size_t r = 0; r < (block + 1) * L; ++r)
            *reinterpret_cast<Vector*>(tile + r * L) += x[r] * x_block;
    }
}

TAGALONG_CLONES void multiply(const float* tiles, const float* x, std::size_t blocks, float* out,
                              float* scratch) {
    multiply_body(tiles, x, blocks, out, scratch);
}
TAGALONG_CLONES void multiply(const double* tiles, const double* x, std::size_t blocks, double* out,
                              double* scratch) {
    multiply_body(tiles, x, blocks, out, scratch);
}
TAGALONG_CLONES void add_outer(float* tiles, const float* x, std::size_t blocks, float factor) {
    add_outer_body(tiles, x, blocks, factor);
}
TAGALONG_CLONES void add_outer(double* tiles, const double* x, std::size_t blocks, double factor) {
    add_outer_body(tiles, x, blocks, factor);
}

}  // namespace

TAGALONG_CLONES void quadratic_forms(const float* const* matrices, const float* x,
                                     std::size_t blocks, std::size_t count, double* out) {
    quadratic_forms_body(matrices, x, blocks, count, out);
}
TAGALONG_CLONES void quadratic_forms(const double* const* matrices, const double* x,
                                     std::size_t blocks, std::size_t count, double* out) {
    quadratic_forms_body(matrices, x, blocks, count, out);
}
TAGALONG_CLONES float inner_product(const float* row, const float* x, std::size_t n) {
    return inner_product_body(row, x, n);
}
TAGALONG_CLONES double inner_product(const double* row, const double* x, std::size_t n) {
    return inner_product_body(row, x, n);
}

template <class T>
void SymmetricTiles<T>::multiply(const T* x, T* out, T* scratch) const {
    tagalong::multiply(data(), x, blocks(side_), out, scratch);
}
template <class T>
void SymmetricTiles<T>::add_outer(const T* x, T factor) {
    tagalong::add_outer(data(), x, blocks(side_), factor);
}

template class SymmetricTiles<float>;
template class SymmetricTiles<double>;

}  // namespace tagalong
