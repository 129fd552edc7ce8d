#include "core/pairs.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "core/errors.hpp"

namespace tagalong {

template <class Out>
Out NumberArray::at(std::size_t i) const {
    const auto place = static_cast<std::int64_t>(i) * stride;
    switch (type) {
        case Number::int32:
            return static_cast<Out>(static_cast<const std::int32_t*>(data)[place]);
        case Number::int64:
            return static_cast<Out>(static_cast<const std::int64_t*>(data)[place]);
        case Number::float32:
            return static_cast<Out>(static_cast<const float*>(data)[place]);
        default:
            return static_cast<Out>(static_cast<const double*>(data)[place]);
    }
}

void read_pairs(const NumberArray& indices, const NumberArray& values, double longest,
                Example& out) {
    out.clear();
    double sum = 0;
    constexpr std::int64_t last = std::numeric_limits<std::int32_t>::max();
    for (std::size_t i = 0; i < indices.size; ++i) {
        const auto feature = indices.at<std::int64_t>(i);
        const auto value = values.at<double>(i);
        if (feature < 0 || feature > last)
            throw InputError("feature index " + std::to_string(feature) + " at position " +
                             std::to_string(i) + " must be from 0 to " + std::to_string(last));
        sum += std::abs(value);
        if (value != 0) out.add(static_cast<std::int32_t>(feature), value);
    }
    if (sum * sum <= longest) return;
    if (std::isfinite(sum)) {
        out.merge();
        if (sum_of_squares(out.value) <= longest) return;
    }
    for (std::size_t i = 0; i < indices.size; ++i)
        check_value(values.at<double>(i),
                    "x: feature " + std::to_string(indices.at<std::int64_t>(i)));
    throw InputError("x" + too_long_message(longest));
}

}  // namespace tagalong
