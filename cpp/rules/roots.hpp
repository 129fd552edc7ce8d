// The root of an increasing function of one variable by safeguarded Newton iteration.
#pragma once

#include <cmath>
#include <cstdint>

namespace tagalong {

struct ValueSlope {
    double value = 0;
    double slope = 0;
};

// The number of evaluations that the searches of one step may make. Searches are nested, so a bound
// for each search would only bound their product, which is far too large. All searches of a step
// share one Effort: when it is used up, each of them ends with the point it has reached.
class Effort {
  public:
    explicit Effort(std::int64_t limit) : left_(limit) {}
    void spend(std::int64_t evaluations = 1) { left_ -= evaluations; }
    bool exhausted() const { return left_ < 0; }

  private:
    std::int64_t left_;
};

inline constexpr double kFinest = 4e-16;  // near the relative precision of a double

// f maps x to a ValueSlope and increases on [low, high]. Without a sign change there, the result is
// the end of the interval nearest to a root. The iteration bisects if a Newton step leaves the
// bracket or if the bracket has not halved within four iterations. So the bracket halves at least
// 99 times within kMostRounds: the error is at the resolution of a double or below 1e-29 of the
// interval. If f returns NaN, the search ends too. A Newton step below the resolution is accepted
// only if the sign changes just beyond it, because Newton's method makes tiny steps far from the
// root where f is steep. `finest` is the resolution relative to the root; a larger value ends the
// search earlier. So does an exhausted effort; f has to spend it.
template <class Function>
double increasing_root(Function&& f, double low, double high, double guess, double finest = kFinest,
                       const Effort* effort = nullptr) {
    constexpr int kMostRounds = 400;
    double x = guess > low && guess < high ? guess : 0.5 * (low + high);
    double last_width = high - low;
    for (int round = 0; round < kMostRounds && !(effort && effort->exhausted()); ++round) {
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
