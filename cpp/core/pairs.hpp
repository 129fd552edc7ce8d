// One example given as two arrays: feature indices and values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/matrix.hpp"

namespace tagalong {

// A view of a one-dimensional array in one of the number types NumPy uses.
struct NumberArray {
    const void* data = nullptr;
    Number type = Number::float64;
    std::int64_t stride = 1;  // in numbers
    std::size_t size = 0;

    template <class Out>
    Out at(std::size_t i) const;
};

// Reads equally many indices (of an integer type) and values into an example. Throws InputError if
// an index is out of range, a value is not finite, or the squared length exceeds `longest`.
void read_pairs(const NumberArray& indices, const NumberArray& values, double longest,
                Example& out);

}  // namespace tagalong
