// The step on two variables: compared with every point of a grid, and with the optimality
// conditions.
#include <algorithm>

#include "m3l/two_variables.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::m3l_two_variables_test {

using namespace m3l;

namespace {

TwoVariables random_problem(Random& random) {
    TwoVariables q{};
    q.g = random.normal();
    q.h = random.normal();
    q.a = random.chance(0.1) ? 0.0 : random.magnitude(0.01, 10);
    q.b = random.chance(0.1) ? 0.0 : random.magnitude(0.01, 10);
    // Sometimes singular, with either sign of c.
    const double share = random.chance(0.2) ? 1.0 : random.uniform();
    q.c = (random.chance(0.5) ? 1 : -1) * share * std::sqrt(q.a * q.b);
    for (int k = 0; k < 2; ++k) {
        q.low[k] = random.chance(0.3) ? 0.0 : -random.uniform();
        q.high[k] = random.chance(0.3) ? 0.0 : random.uniform();
    }
    return q;
}

Test grid("two variables: no point of a grid is better", [] {
    Random random(1);
    for (int problem = 0; problem < 3000; ++problem) {
        const TwoVariables q = random_problem(random);
        Note note("problem ", problem);
        const TwoSteps step = solve_two(q);
        check(q.low[0] <= step.first && step.first <= q.high[0],
              "the first variable is outside its bounds");
        check(q.low[1] <= step.second && step.second <= q.high[1],
              "the second variable is outside its bounds");
        const double found = q.value(step.first, step.second);
        constexpr int kSteps = 24;
        for (int i = 0; i <= kSteps; ++i)
            for (int j = 0; j <= kSteps; ++j) {
                const double d = q.low[0] + (q.high[0] - q.low[0]) * i / kSteps;
                const double e = q.low[1] + (q.high[1] - q.low[1]) * j / kSteps;
                at_most(q.value(d, e), found + 1e-12);
            }
    }
});

Test optimal("two variables: the projected derivatives are zero", [] {
    Random random(2);
    for (int problem = 0; problem < 3000; ++problem) {
        const TwoVariables q = random_problem(random);
        Note note("problem ", problem);
        const TwoSteps step = solve_two(q);
        const double slope[] = {q.g - q.a * step.first - q.c * step.second,
                                q.h - q.c * step.first - q.b * step.second};
        const double at[] = {step.first, step.second};
        for (int k = 0; k < 2; ++k) {
            if (at[k] < q.high[k]) at_most(slope[k], 1e-9);
            if (at[k] > q.low[k]) at_most(-slope[k], 1e-9);
        }
    }
});

Test kinks("two variables: empty boxes, zero curvature, zero derivative", [] {
    same(solve_two({1, 1, 1, 1, 0, {0, 0}, {0, 0}}).first, 0.0);
    same(best_step(2, 0, -1, 3), 3.0);
    same(best_step(-2, 0, -1, 3), -1.0);
    same(best_step(0, 0, -1, 3), 0.0);
    same(best_step(2, 4, -1, 3), 0.5);
});

}  // namespace
}  // namespace tagalong::test::m3l_two_variables_test
