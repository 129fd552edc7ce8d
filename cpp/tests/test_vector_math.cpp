// vector_exp and vector_log compared with libm.
#include <cmath>
#include <limits>
#include <utility>

#include "core/vector_math.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::vector_math_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The largest relative error over many points from a to b, in units of epsilon.
double worst_exp(double low, double high) {
    Random random(1);
    double worst = 0;
    for (int i = 0; i < 40000; ++i) {
        const double x = random.between(low, high);
        worst = std::max(worst, std::abs(vector_exp(x) / std::exp(x) - 1) / kEpsilon);
    }
    return worst;
}

template <class Draw>
double worst_log(Draw&& draw) {
    Random random(2);
    double worst = 0;
    for (int i = 0; i < 40000; ++i) {
        const double x = draw(random), exact = std::log(x);
        if (exact != 0) worst = std::max(worst, std::abs(vector_log(x) / exact - 1) / kEpsilon);
    }
    return worst;
}

const Test exp_ranges{"vector math: exp is accurate to a few units in the last place", [] {
                          at_most(worst_exp(-1e-8, 1e-8), 1);
                          at_most(worst_exp(-1, 1), 3);
                          at_most(worst_exp(-40, 40), 3);
                          at_most(worst_exp(-700, 700), 3);
                          at_most(worst_exp(-700, -690), 3);
                          at_most(worst_exp(690, 700), 3);
                      }};

// The reduced argument is largest half-way between two multiples of ln 2.
const Test exp_seams{"vector math: exp at the boundaries of its range reduction", [] {
                         for (int k = -1000; k <= 1000; ++k) {
                             const double seam = (k + 0.5) * 0.69314718055994531;
                             for (const double x : {seam, std::nextafter(seam, -kInfinity),
                                                    std::nextafter(seam, kInfinity)})
                                 near(vector_exp(x) / std::exp(x), 1, 3 * kEpsilon);
                         }
                     }};

const Test exp_edges{"vector math: exp at the ends of its range", [] {
                         same(vector_exp(0.0), 1.0);
                         same(vector_exp(-0.0), 1.0);
                         same(vector_exp(-kInfinity), 0.0);
                         same(vector_exp(-1e300), 0.0);
                         same(vector_exp(std::nextafter(-700.0, -kInfinity)), 0.0);
                         near(vector_exp(-700.0) / std::exp(-700.0), 1, 3 * kEpsilon);
                         near(vector_exp(700.0) / std::exp(700.0), 1, 3 * kEpsilon);
                         same(vector_exp(701.0), vector_exp(700.0));
                         same(vector_exp(kInfinity), vector_exp(700.0));
                     }};

const Test exp_single{
    "vector math: exp in single precision", [] {
        constexpr double epsilon = std::numeric_limits<float>::epsilon();
        Random random(4);
        for (const auto& [low, high] :
             {std::pair{-1e-4, 1e-4}, {-1.0, 1.0}, {-20.0, 20.0}, {-87.0, 88.0}})
            for (int i = 0; i < 20000; ++i) {
                const auto x = static_cast<float>(random.between(low, high));
                near(static_cast<double>(vector_exp(x)) / std::exp(static_cast<double>(x)), 1,
                     3 * epsilon);
            }
        for (int k = -125; k <= 126; ++k) {
            const auto seam = static_cast<float>((k + 0.5) * 0.69314718055994531);
            if (seam < -87.0f || seam > 88.0f) continue;
            near(static_cast<double>(vector_exp(seam)) / std::exp(static_cast<double>(seam)), 1,
                 3 * epsilon);
        }
        same(vector_exp(0.0f), 1.0f);
        same(vector_exp(-87.5f), 0.0f);
        same(vector_exp(-std::numeric_limits<float>::infinity()), 0.0f);
        same(vector_exp(1e30f), vector_exp(88.0f));
    }};

const Test log_ranges{
    "vector math: log is accurate to a few units in the last place", [] {
        at_most(worst_log([](Random& random) { return random.between(0.7, 1.4); }), 3);
        at_most(worst_log([](Random& random) { return 1 + random.between(-1e-7, 1e-7); }), 3);
        at_most(worst_log([](Random& random) { return random.between(1e-3, 100); }), 3);
        at_most(worst_log([](Random& random) { return random.magnitude(1e-300, 1e300); }), 3);
    }};

const Test log_edges{
    "vector math: log at the ends of its range", [] {
        same(vector_log(1.0), 0.0);
        const double least = std::numeric_limits<double>::min(),
                     most = std::numeric_limits<double>::max();
        for (const double x :
             {least, most, 0.5, 2.0, std::sqrt(0.5), std::sqrt(2.0),
              std::nextafter(std::sqrt(0.5), 0.0), std::nextafter(std::sqrt(2.0), 2.0)})
            near(vector_log(x) / std::log(x), 1, 3 * kEpsilon);
        near(vector_log(1 + kEpsilon) / std::log1p(kEpsilon), 1, 3 * kEpsilon);
        near(vector_log(1 - kEpsilon / 2) / std::log1p(-kEpsilon / 2), 1, 3 * kEpsilon);
        for (int power = -1022; power < 1024; ++power) {
            const double expected = power * 0.69314718055994531;
            near(vector_log(std::ldexp(1.0, power)), expected, 3 * kEpsilon * std::abs(expected));
        }
    }};

const Test inverses{"vector math: log undoes exp", [] {
                        Random random(3);
                        for (int i = 0; i < 20000; ++i) {
                            const double x = random.between(-690, 690);
                            near(vector_log(vector_exp(x)), x, 4 * kEpsilon * (1 + std::abs(x)));
                        }
                    }};

}  // namespace
}  // namespace tagalong::test::vector_math_test
