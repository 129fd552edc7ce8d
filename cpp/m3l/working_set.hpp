// A few variables of one label, whose products lie together in the nearest caches: steps on pairs of
// them (P4's Algorithms 1 and 2) cost next to nothing beside a look at whole rows of the kernel
// matrix. What the steps change for all other variables is told afterwards, once for all of them.
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
    AlignedVector<float> h, b, low, high, diagonal, before;
    AlignedVector<float> products;  // rows by rows

    void resize(std::size_t count) {
        for (auto* each : {&h, &b, &low, &high, &diagonal, &before}) each->resize(count);
        products.resize(count * count);
    }
    const float* products_of(std::size_t i) const { return products.data() + i * rows.size(); }

    // Steps on pairs until no variable of the set violates as much as `enough`, at most so many; r is
    // 4 R_ll. Returns their number. They begin with the variable that violates most, and take the
    // partner with which the step gains most.
    std::int64_t improve(double r, double enough, std::int64_t most) {
        const std::size_t n = rows.size();
        std::copy(b.begin(), b.end(), before.begin());
        std::int64_t steps = 0;
        Best p = most_violating(h.data(), b.data(), low.data(), high.data(), n);
        while (p.row < n && static_cast<double>(p.value) >= enough && steps < most) {
            const float* row_p = products_of(p.row);
            Best q{n, 0.0f};
            if (r > 0)
                q = best_partner(h.data(), b.data(), low.data(), high.data(), row_p,
                                 diagonal.data(), p.row, n);
            const TwoSteps step = q.row < n ? step_on(p.row, q.row, r) : step_on(p.row, r);
            const double by_p = move(p.row, step.first);
            const double by_q = q.row < n ? move(q.row, step.second) : 0.0;
            if (by_p == 0 && by_q == 0) break;  // as near as single precision gets
            p = take_step(h.data(), row_p, static_cast<float>(r * by_p),
                          q.row < n ? products_of(q.row) : row_p, static_cast<float>(r * by_q),
                          b.data(), low.data(), high.data(), n);
            ++steps;
        }
        return steps;
    }

  private:
    TwoSteps step_on(std::size_t p, double r) const {
        return {best_step(wide(h[p]), r * wide(diagonal[p]), wide(low[p]) - wide(b[p]),
                          wide(high[p]) - wide(b[p])),
                0};
    }
    TwoSteps step_on(std::size_t p, std::size_t q, double r) const {
        return solve_two({wide(h[p]),
                          wide(h[q]),
                          r * wide(diagonal[p]),
                          r * wide(diagonal[q]),
                          r * wide(products_of(p)[q]),
                          {wide(low[p]) - wide(b[p]), wide(low[q]) - wide(b[q])},
                          {wide(high[p]) - wide(b[p]), wide(high[q]) - wide(b[q])}});
    }
    // To the limit itself where the step ends there, so that a variable at its limit is known by it.
    double move(std::size_t i, double by) {
        const float start = b[i];
        const double moved = wide(start) + by;
        if (moved >= wide(high[i])) b[i] = high[i];
        else if (moved <= wide(low[i])) b[i] = low[i];
        else b[i] = static_cast<float>(moved);
        return static_cast<double>(b[i] - start);
    }
    static double wide(float number) { return static_cast<double>(number); }
};

}  // namespace tagalong::m3l
