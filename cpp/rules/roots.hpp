// The root of an increasing function of one variable: Newton's method inside a bracket.
#pragma once

#include <cmath>

namespace tagalong {

struct ValueSlope {
    double value = 0;
    double slope = 0;
};

// f(x) -> ValueSlope, increasing on [low, high]. If f has no sign change there, the end that is
// nearest to a root comes back. A Newton step that leaves the bracket, or that has not halved
// it in time, becomes a bisection, so the search always ends at the resolution of a double.
template <class Function>
double increasing_root(Function&& f, double low, double high, double guess) {
    double x = guess > low && guess < high ? guess : 0.5 * (low + high);
    double last_width = high - low;
    for (int round = 0; round < 200; ++round) {
        const ValueSlope at = f(x);
        if (at.value == 0) return x;
        (at.value < 0 ? low : high) = x;
        const double width = high - low;
        double next = x - at.value / at.slope;
        const bool slow = round % 4 == 3 && width > 0.5 * last_width;
        if (round % 4 == 3) last_width = width;
        if (!(next > low && next < high) || slow) next = 0.5 * (low + high);
        const double resolution = 4e-16 * (std::abs(x) + 1e-290);
        if (std::abs(next - x) <= resolution || width <= resolution) return next;
        x = next;
    }
    return x;
}

}  // namespace tagalong
