// The step on two variables with box constraints (P4's Eqs. 26 to 28 and Algorithm 2):
//
//     max over d, e of  g d + h e - (a d^2 + 2 c d e + b e^2) / 2,  low <= (d, e) <= high,
//
// for a, b >= 0 and c^2 <= ab. The optimum is the stationary point, if that is feasible, or lies on
// an edge of the box, where one variable remains.
#pragma once

#include <algorithm>
#include <cmath>

namespace tagalong::m3l {

struct TwoVariables {
    double g, h;     // derivatives at 0
    double a, b, c;  // curvatures
    double low[2], high[2];

    double value(double d, double e) const {
        return g * d + h * e - 0.5 * (a * d * d + 2 * c * d * e + b * e * e);
    }
};

struct TwoSteps {
    double first = 0, second = 0;
};

// The optimal step of one variable; without curvature, to the bound that its derivative points to.
inline double best_step(double derivative, double curvature, double low, double high) {
    if (derivative == 0) return std::clamp(0.0, low, high);
    if (!(curvature > 0)) return derivative > 0 ? high : low;
    return std::clamp(derivative / curvature, low, high);
}

inline TwoSteps solve_two(const TwoVariables& q) {
    const double determinant = q.a * q.b - q.c * q.c;
    if (determinant > 1e-12 * q.a * q.b) {
        const double d = (q.g * q.b - q.h * q.c) / determinant,
                     e = (q.h * q.a - q.g * q.c) / determinant;
        if (q.low[0] <= d && d <= q.high[0] && q.low[1] <= e && e <= q.high[1]) return {d, e};
    }
    TwoSteps best;
    double best_value = -HUGE_VAL;
    const auto consider = [&](double d, double e) {
        const double value = q.value(d, e);
        if (value > best_value) {
            best_value = value;
            best = {d, e};
        }
    };
    for (const double d : {q.low[0], q.high[0]})
        consider(d, best_step(q.h - q.c * d, q.b, q.low[1], q.high[1]));
    for (const double e : {q.low[1], q.high[1]})
        consider(best_step(q.g - q.c * e, q.a, q.low[0], q.high[0]), e);
    return best;
}

}  // namespace tagalong::m3l
