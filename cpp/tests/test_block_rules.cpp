// Block rules: how schemes distribute the budget over the rows, and the best step along one row of
// the simplex.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "blocks/rule_table.hpp"
#include "blocks/simplex_step.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::block_rules_test {
namespace {

using Rows = std::vector<BlockRow>;

// The coefficients of a scheme in the linear geometry.
std::vector<double> shared(std::string_view update, Rows rows, double margin, double budget) {
    for (BlockRow& row : rows)
        if (row.q > 0)
            row.own_step = std::clamp((margin - row.value) / row.q, 0.0, budget / row.weight);
    std::vector<double> lambda;
    block_rule(update).linear({rows, margin, budget, {}}, lambda);
    return lambda;
}

const Test table{"block rules: the coefficients of every scheme", [] {
                     // Rows: a mistake, at score 0, within the margin, at the margin, beyond the
                     // margin.
                     const Rows rows{{-1, 1, 4}, {0, 1, 1}, {0.5, 1, 2}, {1, 1, 1}, {3, 1, 1}};
                     same_bits(shared("simperc", rows, 1, 0.75), {0.375, 0.375, 0, 0, 0});
                     same_bits(shared("conproj", rows, 1, 0.75), {0.25, 0.375, 0, 0, 0});
                     same_bits(shared("simproj", rows, 1, 0.75),
                               {0.5 / 3, 0.75 / 3, 0.25 / 3, 0, 0});
                     same_bits(shared("max", rows, 1, 0.75), {0.5, 0, 0, 0, 0});
                 }};

const Test ties{
    "block rules: on equal losses, max takes the first row", [] {
        same_bits(shared("max", {{0.5, 1, 1}, {-1, 1, 2}, {-1, 1, 4}, {-1, 1, 1}}, 1, 9),
                  {0, 1, 0, 0});
        // Losses per weight: 4, 4, 2.
        same_bits(shared("max", {{-1, 0.5, 1}, {-7, 2, 1}, {-1, 1, 1}}, 1, 0.25), {0.5, 0, 0});
    }};

const Test weights{"block rules: a weight divides the cap, not the step", [] {
                       const Rows rows{{-1, 4, 4}, {0, 0.5, 1}};
                       same_bits(shared("simperc", rows, 1, 1), {0.125, 1});
                       same_bits(shared("conproj", rows, 1, 1), {0.125, 0.5});
                   }};

const Test empty{"block rules: a row without features counts but gets no step", [] {
                     const Rows rows{{0, 1, 0}, {-1, 1, 4}};
                     same_bits(shared("simperc", rows, 1, 1), {0, 0.5});
                     same_bits(shared("simproj", rows, 1, 1), {0, 0.25});
                     // The row with the largest loss has no features, so no step is possible.
                     same_bits(shared("max", {{0, 1, 0}, {0.5, 1, 1}}, 1, 1), {0, 0});
                     same(shared("max", {}, 1, 1).size(), 0u);
                 }};

std::vector<double> surrogate_by_bisection(const Rows& rows, double margin, double budget) {
    const auto at = [&](double price) {
        std::vector<double> lambda;
        for (const BlockRow& row : rows)
            lambda.push_back(
                row.q > 0 ? std::max(0.0, margin - row.value - price * row.weight) / row.q : 0.0);
        return lambda;
    };
    const auto spent = [&](double price) {
        double sum = 0;
        const auto lambda = at(price);
        for (std::size_t j = 0; j < rows.size(); ++j) sum += rows[j].weight * lambda[j];
        return sum;
    };
    if (spent(0) <= budget) return at(0);
    double low = 0, high = 1;
    while (spent(high) > budget) high *= 2;
    for (int i = 0; i < 200; ++i) {
        const double middle = 0.5 * (low + high);
        (spent(middle) > budget ? low : high) = middle;
    }
    return at(high);
}

const Test surrogate{
    "block rules: the optimum of the surrogate equals a bisection", [] {
        Random random(1);
        for (int repeat = 0; repeat < 400; ++repeat) {
            Rows rows(static_cast<std::size_t>(random.below(12)));
            for (BlockRow& row : rows) {
                // Sometimes equal losses.
                row.value = random.chance(0.3) ? 0.25 * random.below(5) : random.between(-2, 2);
                row.weight = repeat % 2 ? 1 : random.magnitude(0.1, 10);
                row.q = random.chance(0.1) ? 0 : random.magnitude(0.01, 100);
            }
            const double budget = random.magnitude(1e-4, 1e3);
            const Note note("repeat ", repeat, ", rows ", rows.size(), ", budget ", budget);
            std::vector<double> found;
            block_rule("simopt").linear({rows, 1, budget, {}}, found);
            const auto expected = surrogate_by_bisection(rows, 1, budget);
            same(found.size(), expected.size());
            double spent = 0;
            for (std::size_t j = 0; j < rows.size(); ++j) {
                near(found[j], expected[j], 1e-10 * (expected[j] + budget));
                spent += rows[j].weight * found[j];
            }
            // The multiplier tau is a difference of numbers that may be much larger than the
            // budget, so it is inexact.
            at_most(spent, budget * (1 + 1e-10));
        }
    }};

// The same row with values slightly off 1, so that the closed form does not apply.
double step_by_search(double plus, double minus, double zero, double margin, double cap) {
    const double atoms[] = {-1, 1 - 1e-13, 1}, masses[] = {minus, plus / 2, plus / 2};
    return simplex_step({1, atoms, masses, zero}, margin, cap);
}

const Test closed{
    "block rules: the closed form for rows in {-1, 0, 1} equals the root", [] {
        Random random(2);
        for (int repeat = 0; repeat < 2000; ++repeat) {
            double plus = random.magnitude(1e-6, 1),
                   minus = random.chance(0.2) ? 0 : random.magnitude(1e-6, 1);
            double zero = random.chance(0.2) ? 0 : random.magnitude(1e-6, 1);
            if (minus == 0 && zero == 0) minus = 0.5;
            const double total = plus + minus + zero, margin = random.between(0.01, 0.99);
            const double cap = random.magnitude(1e-2, 1e2);
            const Note note("plus ", plus, ", minus ", minus, ", zero ", zero, ", margin ", margin,
                            ", cap ", cap);
            const double found =
                ternary_step(plus / total, minus / total, zero / total, margin, cap);
            near(found, step_by_search(plus, minus, zero, margin, cap), 1e-9 * (1 + found));
            at_most(0, found);
            at_most(found, cap);
        }
    }};

const Test ends{"block rules: edge cases of a step along one row", [] {
                    // No mass has value +1, or the margin is out of reach: the step is the cap.
                    same(ternary_step(0, 0.5, 0.5, 0.3, 2), 2.0);
                    same(ternary_step(0.5, 0.2, 0.3, 1, 2), 2.0);
                    same(ternary_step(0.5, 0.2, 0.3, 1.5, 2), 2.0);
                    // The margin is already met.
                    same(ternary_step(1, 0, 0, 0.5, 2), 0.0);
                    same(ternary_step(0.9, 0.05, 0.05, 0.5, 2), 0.0);
                    // Real-valued rows: the root, or the cap if that is smaller.
                    const double atoms[] = {-0.5, 2}, masses[] = {0.4, 0.2};
                    const SimplexCurve row{1, atoms, masses, 0.4};
                    const double found = simplex_step(row, 0.9, 10);
                    near(row.at(found).value, 0.9, 1e-12);
                    same(simplex_step(row, 0.9, found / 2), found / 2);
                    same(simplex_step(row, 0.1, 10), 0.0);
                    same(simplex_step(row, 2.5, 10), 10.0);
                }};

const Test scaled{"block rules: masses need not sum to 1", [] {
                      const double atoms[] = {-1, 1}, small[] = {0.03, 0.02}, large[] = {3e5, 2e5};
                      near(simplex_step({1, atoms, small, 0.05}, 0.4, 9),
                           simplex_step({1, atoms, large, 5e5}, 0.4, 9), 1e-12);
                  }};

}  // namespace
}  // namespace tagalong::test::block_rules_test
