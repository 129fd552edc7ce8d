#include "linear_filling.hpp"

#include <algorithm>
#include <limits>

#include "kernels.hpp"

namespace tagalong {

namespace {

// Highest first, as the heap functions want it.
constexpr auto higher = [](const auto& a, const auto& b) {
    return a.height != b.height ? a.height > b.height : a.label > b.label;
};

}  // namespace

void LinearFilling::Side::start() {
    std::make_heap(waiting.begin(), waiting.end(), higher);
    joined.clear();
    sum = 0;
    join();
}

void LinearFilling::Side::join() {
    std::pop_heap(waiting.begin(), waiting.end(), higher);
    joined.push_back(waiting.back());
    waiting.pop_back();
    sum += joined.back().height;
}

double LinearFilling::Side::next_mass(double q) const {
    if (waiting.empty()) return std::numeric_limits<double>::infinity();
    return (count() * waiting.front().height - sum) / q;
}

void LinearFilling::step(const Sides& sides, double q, const RuleParameters& rule, Step& out) {
    if (sides.margin >= rule.margin) return;
    // Only labels within gamma of the other side's best can move.
    const double reach = sides.low - rule.margin;
    relevant_.waiting.clear();
    for (std::size_t i = 0; i < sides.relevant.size(); ++i)
        if (sides.above[i] < sides.high + rule.margin || sides.relevant[i] == sides.lowest)
            relevant_.waiting.push_back({sides.above[i], sides.relevant[i]});
    irrelevant_.waiting.clear();
    candidates_.resize(sides.below.size());
    const std::size_t count =
        kernels::above(sides.below.data(), reach, candidates_.data(), sides.below.size());
    for (std::size_t i = 0; i < count; ++i)
        irrelevant_.waiting.push_back({-sides.below[candidates_[i]], candidates_[i]});
    if (count == 0) irrelevant_.waiting.push_back({-sides.high, sides.highest});
    relevant_.start();
    irrelevant_.start();

    double mass = 0;
    for (;;) {
        const double i = relevant_.count();
        const double j = irrelevant_.count();
        // u - v = gamma with the present labels, but not beyond the budget.
        mass = (rule.margin - relevant_.sum / i - irrelevant_.sum / j) / (q * (1 / i + 1 / j));
        mass = std::min(mass, rule.budget);
        const double next_relevant = relevant_.next_mass(q);
        const double next_irrelevant = irrelevant_.next_mass(q);
        if (std::min(next_relevant, next_irrelevant) >= mass) break;
        (next_relevant <= next_irrelevant ? relevant_ : irrelevant_).join();
    }

    const auto fill = [&](const Side& side, double sign) {
        const double level = side.level(mass, q);
        for (const Side::Entry& entry : side.joined)
            out.set(entry.label, sign * std::max(0.0, (level - entry.height) / q));
    };
    fill(relevant_, 1);
    fill(irrelevant_, -1);
    out.mass = mass;
}

}  // namespace tagalong
