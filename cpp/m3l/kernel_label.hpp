// The dual variables of one label of a kernel problem: b with its bounds, and h, the derivatives of
// the dual objective of m3l/problem.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/kernel_loops.hpp"
#include "m3l/problem.hpp"

namespace tagalong::m3l {

// Whether a label is relevant for a row.
enum class Relevance : char { irrelevant, relevant, unknown };

struct KernelLabel {
    AlignedVector<float> b, low, high, h;
    std::vector<double> target;
    // The largest projected derivative, as of the last measure_violation().
    double violation = std::numeric_limits<double>::infinity();

    // Starts with b = 0 and h = 0.
    KernelLabel(const Problem& problem, std::size_t l, std::span<const Relevance> relevance)
        : b(problem.rows, 0.0f),
          low(problem.rows, 0.0f),
          high(problem.rows, 0.0f),
          h(problem.rows, 0.0f) {
        if (problem.margins_vary_by_row()) target = problem.targets(l);
        else target.resize(problem.rows);
        for (std::size_t i = 0; i < problem.rows; ++i) {
            const bool relevant = relevance[i] == Relevance::relevant;
            if (!problem.margins_vary_by_row())
                target[i] = relevant ? problem.margin_relevant[l] : -problem.margin_irrelevant[l];
            if (relevance[i] == Relevance::unknown) continue;
            const double bound =
                (relevant ? problem.bound_relevant[l] : problem.bound_irrelevant[l]) *
                problem.weight(i);
            (relevant ? high[i] : low[i]) = static_cast<float>(relevant ? bound : -bound);
        }
    }

    bool between_bounds(std::size_t i) const { return low[i] < b[i] && b[i] < high[i]; }
    // How far a variable may move down (not positive) and up.
    double room_below(std::size_t i) const {
        return static_cast<double>(low[i]) - static_cast<double>(b[i]);
    }
    double room_above(std::size_t i) const {
        return static_cast<double>(high[i]) - static_cast<double>(b[i]);
    }
    // Moves a variable by a step. A step that ends at a bound sets the variable exactly to it, so
    // that comparisons with the bound are exact. Returns the change.
    double move(std::size_t i, double by) {
        const float start = b[i];
        if (by >= room_above(i)) b[i] = high[i];
        else if (by <= room_below(i)) b[i] = low[i];
        else b[i] = static_cast<float>(static_cast<double>(start) + by);
        return static_cast<double>(b[i] - start);
    }
    float violation_at(std::size_t i) const {
        const float up = b[i] < high[i] ? h[i] : 0.0f;
        const float down = b[i] > low[i] ? -h[i] : 0.0f;
        return std::max({up, down, 0.0f});
    }
    void measure_violation() {
        violation = static_cast<double>(
            most_violating(h.data(), b.data(), low.data(), high.data(), b.size()).value);
    }
    // Adds the status of this label's variables to a sum over labels, term by term.
    void add_status(SolutionStatus& sum) {
        measure_violation();
        sum.violation = std::max(sum.violation, violation);
        for (std::size_t i = 0; i < b.size(); ++i) {
            const auto derivative = static_cast<double>(h[i]), value = static_cast<double>(b[i]);
            const double slack =
                static_cast<double>(derivative > 0 ? high[i] : low[i]) * derivative;
            sum.gap += slack - value * derivative;
            sum.dual += value * (target[i] + derivative) / 2;
        }
    }
};

}  // namespace tagalong::m3l
