// The exception for invalid input, and parts of its messages.
#pragma once

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace tagalong {

struct InputError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline std::string format_number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

inline void check_value(double value, const std::string& place) {
    if (!std::isfinite(value))
        throw InputError(place + " is " + format_number(value) + "; values must be finite");
}

inline std::string too_long_message(double longest) {
    return " is too long: the sum of its squares exceeds " + format_number(longest) +
           ", the largest number of the storage type; scale the features down";
}

}  // namespace tagalong
