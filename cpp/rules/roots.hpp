// The root of an increasing function of one variable: Newton's method inside a bracket.
#pragma once

#include <cmath>

namespace tagalong {

struct ValueSlope {
    double value = 0;
    double slope = 0;
};

// f(x) -> ValueSlope, increasing on [low, high]. If f has no sign change there, the end that is
// nearest to a root comes back. A Newton step that leaves the bracket, or a bracket that has not
// halved in time, leads to a bisection, so the search always ends at the resolution of a double.
// A step too small to matter is believed only if the sign changes just beyond it: where f is
// steep, Newton's method stands still far from the root. A resolution above that of a double, a part
// of the root itself, ends the search sooner.
template <class Function>
double increasing_root(Function&& f, double low, double high, double guess, double finest = 4e-16) {
    double x = guess > low && guess < high ? guess : 0.5 * (low + high);
    double last_width = high - low;
    for (int round = 0; round < 400; ++round) {
        const ValueSlope at = f(x);
        if (at.value == 0) return x;
        (at.value < 0 ? low : high) = x;
        const double width = high - low;
        const double resolution = finest * (std::abs(x) + 1e-290);
        if (!(width > resolution)) return x;
        double next = x - at.value / at.slope;
        bool bisect = round % 4 == 3 && width > 0.5 * last_width;
        if (round % 4 == 3) last_width = width;
        if (std::abs(next - x) <= resolution) {
            const double beyond = at.value < 0 ? x + 4 * resolution : x - 4 * resolution;
            if (!(beyond > low && beyond < high) || (f(beyond).value < 0) != (at.value < 0))
                return next;
            (at.value < 0 ? low : high) = beyond;
            bisect = true;
        }
        if (bisect || !(next > low && next < high)) next = 0.5 * (low + high);
        x = next;
    }
    return x;
}

}  // namespace tagalong
