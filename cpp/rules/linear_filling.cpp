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

// Of the irrelevant labels, those above where their level will end, nearly; returns where that is.
// With all labels on board the level comes out too low; those below it leave, until none does. A few
// passes without branches, the later ones over those that are left, where sorting hundreds of labels
// would have to find the dozens that join.
double LinearFilling::sieve(const Sides& sides, double q, const RuleParameters& rule) {
    constexpr int most_passes = 8, passes_over_all = 2;
    const double reach = sides.low - rule.margin;
    // Rounding must not shut out a label at the level itself.
    const auto below = [&](double level) { return std::max(reach, level - 1e-9 * (1 + std::abs(level))); };
    double v = reach;
    double u = std::numeric_limits<double>::infinity();
    std::span<const double> scores = sides.below;
    for (int pass = 0; pass < most_passes; ++pass) {
        if (pass == passes_over_all) scores = keep(sides, below(v));
        const kernels::Tally down = kernels::tally_above(scores.data(), v, scores.size());
        kernels::Tally up{};
        for (const Side::Entry& entry : relevant_.entries) {
            if (!(entry.height < u)) continue;
            ++up.count;
            up.sum += entry.height;
        }
        if (down.count == 0 || up.count == 0) break;
        const double mass = mass_for(up.sum, up.count, -down.sum, down.count, q, rule);
        const double level = (down.sum - q * mass) / down.count;
        if (!(level > v)) break;
        v = level;
        u = (up.sum + q * mass) / up.count;
    }
    if (scores.size() == sides.below.size()) keep(sides, below(v));
    return below(v);
}

// The irrelevant labels above a bound, and their scores.
std::span<const double> LinearFilling::keep(const Sides& sides, double bound) {
    const std::size_t K = sides.below.size();
    if (kept_.size() < K) kept_.resize(K);
    if (kept_scores_.size() < K) kept_scores_.resize(K);
    kept_count_ = kernels::above(sides.below.data(), bound, kept_.data(), K);
    for (std::size_t i = 0; i < kept_count_; ++i) kept_scores_[i] = sides.below[static_cast<std::size_t>(kept_[i])];
    return {kept_scores_.data(), kept_count_};
}

// Those of them that are above this one; the highest label always.
void LinearFilling::enter(const Sides& sides, double bound) {
    irrelevant_.entries.clear();
    for (std::size_t i = 0; i < kept_count_; ++i)
        if (kept_scores_[i] > bound) irrelevant_.entries.push_back({-kept_scores_[i], kept_[i]});
    if (irrelevant_.entries.empty()) irrelevant_.entries.push_back({-sides.high, sides.highest});
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
    relevant_.entries.clear();
    for (std::size_t i = 0; i < sides.relevant.size(); ++i)
        if (sides.above[i] < sides.high + rule.margin || sides.relevant[i] == sides.lowest)
            relevant_.entries.push_back({sides.above[i], sides.relevant[i]});
    const double reach = sides.low - rule.margin;
    const double bound = sieve(sides, q, rule);
    enter(sides, bound);
    double mass = fill(q, rule);
    if (bound > reach && !(-irrelevant_.level(mass, q) > bound)) {
        // The level ended lower than seemed likely: labels that were left out may have to move.
        keep(sides, reach);
        enter(sides, reach);
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
