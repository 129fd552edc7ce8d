// increasing_root finds the known roots of functions.
#include <cmath>

#include "rules/roots.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::roots_test {
namespace {

template <class Function>
void finds(Function&& f, double low, double high, double root, double distance,
           const Where& where = Where::current()) {
    for (const double guess : {low, 0.5 * (low + high), high, low - 1, high + 1, root})
        near(increasing_root(f, low, high, guess), root, distance, where);
}

const Test smooth_functions{
    "roots: smooth functions, to full precision", [] {
        finds([](double x) { return ValueSlope{x * x * x - 2, 3 * x * x}; }, 0, 5, std::cbrt(2.0),
              4e-16);
        finds([](double x) { return ValueSlope{std::exp(x) - 10, std::exp(x)}; }, -50, 50,
              std::log(10.0), 1e-15);
        finds([](double x) { return ValueSlope{std::log(x) + 5, 1 / x}; }, 1e-300, 1e6,
              std::exp(-5.0), 1e-17);
        finds(
            [](double x) {
                return ValueSlope{std::tanh(x - 3), 1 - std::pow(std::tanh(x - 3), 2)};
            },
            -600, 600, 3, 4e-15);
        finds([](double x) { return ValueSlope{2 * x - 3, 2}; }, -1e6, 1e6, 1.5, 4e-16);
    }};

const Test at_zero{"roots: a root at zero", [] {
                       finds([](double x) { return ValueSlope{std::sinh(x), std::cosh(x)}; }, -3, 2,
                             0, 1e-50);
                       finds([](double x) { return ValueSlope{x, 1}; }, -3, 2, 0, 1e-50);
                   }};

const Test awkward{
    "roots: no slope, wrong slope, kinks, jumps", [] {
        finds([](double x) { return ValueSlope{x - 0.7, 0}; }, 0, 1, 0.7, 1e-15);
        finds([](double x) { return ValueSlope{x - 0.7, 1e-3}; }, 0, 1, 0.7, 1e-15);
        finds(
            [](double x) {
                return ValueSlope{x < 0.3 ? 1000 * (x - 0.3) : 0.001 * (x - 0.3),
                                  x < 0.3 ? 1000.0 : 0.001};
            },
            0, 1, 0.3, 1e-15);
        finds([](double x) { return ValueSlope{x < 0.3 ? -1.0 : 1.0, 0}; }, 0, 1, 0.3, 1e-15);
        finds(
            [](double x) {
                return ValueSlope{std::cbrt(x - 0.4), std::pow(std::abs(x - 0.4), -2.0 / 3) / 3};
            },
            0, 1, 0.4, 1e-15);
    }};

const Test one_sided{"roots: without a sign change, the end of the interval nearest to a root", [] {
                         const auto negative = [](double x) { return ValueSlope{x - 10, 1}; };
                         const auto positive = [](double x) { return ValueSlope{x + 10, 1}; };
                         near(increasing_root(negative, 1, 2, 1.5), 2, 1e-15);
                         near(increasing_root(positive, 1, 2, 1.5), 1, 1e-15);
                         near(increasing_root(negative, -2, 0, -1), 0, 1e-50);
                         near(increasing_root(positive, 0, 2, 1), 0, 1e-50);
                         near(increasing_root(negative, -600, 5, 0), 5, 1e-14);
                     }};

const Test powers{"roots: powers with many exponents", [] {
                      Random random(1);
                      for (int round = 0; round < 2000; ++round) {
                          const double power = random.magnitude(0.05, 30),
                                       root = random.magnitude(1e-6, 1e3);
                          const Note note("power ", power, ", root ", root);
                          const double found = increasing_root(
                              [&](double x) {
                                  const double ratio = std::pow(x / root, power);
                                  return ValueSlope{ratio - 1, power * ratio / x};
                              },
                              0, 2e3, random.between(0, 2e3));
                          near(found / root, 1, 1e-13);
                      }
                  }};

const Test effort{
    "roots: tens of evaluations for smooth functions, at most hundreds for any function", [] {
        int count = 0;
        increasing_root([&](double x) { return ++count, ValueSlope{std::exp(x) - 3, std::exp(x)}; },
                        -5, 5, 0);
        at_most(count, 80);
        count = 0;
        increasing_root([&](double x) { return ++count, ValueSlope{x < 1e-200 ? -1.0 : 1.0, 0}; },
                        -1e300, 1e300, 0);
        at_most(count, 800);
    }};

}  // namespace
}  // namespace tagalong::test::roots_test
