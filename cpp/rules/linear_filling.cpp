#include "linear_filling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.hpp"

namespace tagalong {

namespace {

// The mass that brings the levels of two sides gamma apart, within the budget.
double mass_for(double sum_1, double count_1, double sum_2, double count_2, double q, const RuleParameters& rule) {
    const double apart = (rule.margin - sum_1 / count_1 - sum_2 / count_2) / (q * (1 / count_1 + 1 / count_2));
    return std::min(apart, rule.budget);
}

}  // namespace

void LinearFilling::Side::start() {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.height != b.height ? a.height < b.height : a.label < b.label;
    });
    joined = 0;
    sum = 0;
    join();
}

double LinearFilling::Side::next_mass(double q) const {
    if (joined == entries.size()) return std::numeric_limits<double>::infinity();
    return (count() * entries[joined].height - sum) / q;
}

// Where the level of the irrelevant side will end, nearly: with all labels on board it comes out
// too low; those below it leave, until none does. A few passes without branches, where sorting
// hundreds of labels would have to find the dozens that join.
double LinearFilling::likely_level(const Sides& sides, double q, const RuleParameters& rule) const {
    constexpr int most_passes = 8;
    double v = sides.low - rule.margin;
    double u = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < most_passes; ++pass) {
        const kernels::Tally below = kernels::tally_above(sides.below.data(), v, sides.below.size());
        kernels::Tally above{};
        for (const Side::Entry& entry : relevant_.entries) {
            if (!(entry.height < u)) continue;
            ++above.count;
            above.sum += entry.height;
        }
        if (below.count == 0 || above.count == 0) break;
        const double mass = mass_for(above.sum, above.count, -below.sum, below.count, q, rule);
        const double level = (below.sum - q * mass) / below.count;
        if (!(level > v)) break;
        v = level;
        u = (above.sum + q * mass) / above.count;
    }
    return v;
}

// The irrelevant labels above a bound; the highest one always.
void LinearFilling::gather(const Sides& sides, double bound) {
    candidates_.resize(sides.below.size());
    const std::size_t count =
        kernels::above(sides.below.data(), bound, candidates_.data(), sides.below.size());
    irrelevant_.entries.clear();
    for (std::size_t i = 0; i < count; ++i)
        irrelevant_.entries.push_back({-sides.below[candidates_[i]], candidates_[i]});
    if (count == 0) irrelevant_.entries.push_back({-sides.high, sides.highest});
}

// Lets labels join until both sides stand where they belong; the mass they move.
double LinearFilling::fill(double q, const RuleParameters& rule) {
    relevant_.start();
    irrelevant_.start();
    for (;;) {
        const double mass =
            mass_for(relevant_.sum, relevant_.count(), irrelevant_.sum, irrelevant_.count(), q, rule);
        const double next_relevant = relevant_.next_mass(q);
        const double next_irrelevant = irrelevant_.next_mass(q);
        if (std::min(next_relevant, next_irrelevant) >= mass) return mass;
        (next_relevant <= next_irrelevant ? relevant_ : irrelevant_).join();
    }
}

void LinearFilling::step(const Sides& sides, double q, const RuleParameters& rule, Step& out) {
    if (sides.margin >= rule.margin) return;
    // Only labels within gamma of the other side's best can move.
    const double reach = sides.low - rule.margin;
    relevant_.entries.clear();
    for (std::size_t i = 0; i < sides.relevant.size(); ++i)
        if (sides.above[i] < sides.high + rule.margin || sides.relevant[i] == sides.lowest)
            relevant_.entries.push_back({sides.above[i], sides.relevant[i]});
    const double likely = likely_level(sides, q, rule);
    const double bound = std::max(reach, likely - 1e-9 * (1 + std::abs(likely)));
    gather(sides, bound);
    double mass = fill(q, rule);
    if (bound > reach && !(-irrelevant_.level(mass, q) > bound)) {
        // The level ended lower than seemed likely: labels that were left out may have to move.
        gather(sides, reach);
        mass = fill(q, rule);
    }

    const auto move = [&](const Side& side, double sign) {
        const double level = side.level(mass, q);
        for (std::size_t i = 0; i < side.joined; ++i)
            out.set(side.entries[i].label, sign * std::max(0.0, (level - side.entries[i].height) / q));
    };
    move(relevant_, 1);
    move(irrelevant_, -1);
    out.mass = mass;
}

}  // namespace tagalong
