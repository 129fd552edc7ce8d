// The root of an increasing function of one variable by safeguarded Newton iteration.
#pragma once

#include <cmath>

namespace tagalong {

struct ValueSlope {
    double value = 0;
    double slope = 0;
};

// f maps x to a ValueSlope and increases on [low, high]. Without a sign change there, the result is
// the end of the interval nearest to a root. The iteration bisects if a Newton step leaves the
// bracket or if the bracket has not halved within four iterations, so it always converges to the
// resolution of a double. A Newton step below the resolution is accepted only if the sign changes
// just beyond it, because Newton's method makes tiny steps far from the root where f is steep.
// `finest` is the resolution relative to the root; a larger value ends the search earlier.
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
