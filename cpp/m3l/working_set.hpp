// A working set: a few variables of one label, with the products of their rows in the first-level
// caches. Pair steps within it (P4's Algorithms 1 and 2) are cheap compared with a pass over whole
// rows of the kernel matrix. The derivatives of all other variables are updated afterwards, once
// per working set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/kernel_loops.hpp"
#include "m3l/two_variables.hpp"

namespace tagalong::m3l {

struct WorkingSet {
    std::vector<std::int32_t> rows;
    AlignedVector<float> h, b, low, high, diagonal, b_before;
    AlignedVector<float> products;  // (rows, rows), row-major

    void resize(std::size_t count) {
        for (auto* each : {&h, &b, &low, &high, &diagonal, &b_before}) each->resize(count);
        products.resize(count * count);
    }
    const float* products_of(std::size_t i) const { return products.data() + i * rows.size(); }

    // Makes pair steps until the violation of the set is below `target_violation` or `max_steps` is
    // reached; r is 4 R_ll. A step takes the variable with the largest violation and the partner
    // that gains most. Returns the number of steps.
    std::int64_t improve(double r, double target_violation, std::int64_t max_steps) {
        const std::size_t n = rows.size();
        std::copy(b.begin(), b.end(), b_before.begin());
        std::int64_t steps = 0;
        RowValue p = most_violating(h.data(), b.data(), low.data(), high.data(), n);
        while (p.row < n && static_cast<double>(p.value) >= target_violation && steps < max_steps) {
            const float* row_p = products_of(p.row);
            RowValue q{n, 0.0f};
            if (r > 0)
                q = best_partner(h.data(), b.data(), low.data(), high.data(), row_p,
                                 diagonal.data(), p.row, n);
            const TwoSteps step =
                q.row < n ? best_step_on(p.row, q.row, r) : best_step_on(p.row, r);
            const double moved_p = clip_and_move(p.row, step.first);
            const double moved_q = q.row < n ? clip_and_move(q.row, step.second) : 0.0;
            if (moved_p == 0 && moved_q == 0) break;  // single precision allows no progress
            p = subtract_step(h.data(), row_p, static_cast<float>(r * moved_p),
                              q.row < n ? products_of(q.row) : row_p,
                              static_cast<float>(r * moved_q), b.data(), low.data(), high.data(),
                              n);
            ++steps;
        }
        return steps;
    }

  private:
    TwoSteps best_step_on(std::size_t p, double r) const {
        return {
            best_step(as_double(h[p]), r * as_double(diagonal[p]),
                      as_double(low[p]) - as_double(b[p]), as_double(high[p]) - as_double(b[p])),
            0};
    }
    TwoSteps best_step_on(std::size_t p, std::size_t q, double r) const {
        return solve_two(
            {as_double(h[p]),
             as_double(h[q]),
             r * as_double(diagonal[p]),
             r * as_double(diagonal[q]),
             r * as_double(products_of(p)[q]),
             {as_double(low[p]) - as_double(b[p]), as_double(low[q]) - as_double(b[q])},
             {as_double(high[p]) - as_double(b[p]), as_double(high[q]) - as_double(b[q])}});
    }
    // Moves a variable by a step. A step that ends at a bound sets the variable exactly to it, so
    // that comparisons with the bound are exact. Returns the change.
    double clip_and_move(std::size_t i, double by) {
        const float start = b[i];
        const double moved = as_double(start) + by;
        if (moved >= as_double(high[i])) b[i] = high[i];
        else if (moved <= as_double(low[i])) b[i] = low[i];
        else b[i] = static_cast<float>(moved);
        return static_cast<double>(b[i] - start);
    }
    static double as_double(float number) { return static_cast<double>(number); }
};

}  // namespace tagalong::m3l
