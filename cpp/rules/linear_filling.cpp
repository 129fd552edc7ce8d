#include "rules/linear_filling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/score_kernels.hpp"

namespace tagalong {

namespace {

// The mass at which the levels of the two sides differ by gamma, at most the budget.
double mass_for(double sum_1, double count_1, double sum_2, double count_2, double q,
                const RuleParameters& rule) {
    const double apart =
        (rule.margin - sum_1 / count_1 - sum_2 / count_2) / (q * (1 / count_1 + 1 / count_2));
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

// Finds the set of labels that move without sorting. If the set contains all candidates, the
// computed level v of the irrelevant labels is too low and the level u of the relevant ones is too
// high. Each pass removes the labels beyond the levels and recomputes the levels. If a pass removes
// no label, the set is the solution. A few branch-free passes are enough; from the third pass on,
// they read only the remaining irrelevant labels.
LinearFilling::Sieved LinearFilling::sieve(const Sides& sides, double q,
                                           const RuleParameters& rule) {
    constexpr int most_passes = 12, passes_over_all = 2;
    Sieved at{std::numeric_limits<double>::infinity(), sides.low - rule.margin, false};
    std::span<const double> scores = sides.below;
    double least = at.v, last_up = -1, last_down = -1;
    for (int pass = 0; pass < most_passes; ++pass) {
        if (pass == passes_over_all) {
            least = at.v;
            scores = keep(sides, least);
        }
        const kernels::Tally down = kernels::tally_above(scores.data(), at.v, scores.size());
        kernels::Tally up{};
        for (const Side::Entry& entry : relevant_.entries) {
            if (!(entry.height < at.u)) continue;
            ++up.count;
            up.sum += entry.height;
        }
        if (down.count == 0 || up.count == 0) break;
        at.settled = up.count == last_up && down.count == last_down;
        if (at.settled) break;
        const double mass = mass_for(up.sum, up.count, -down.sum, down.count, q, rule);
        const double v = (down.sum - q * mass) / down.count;
        if (!(v >= least)) break;  // labels that were removed would have to return
        at.u = (up.sum + q * mass) / up.count;
        at.v = v;
        last_up = up.count;
        last_down = down.count;
    }
    if (at.settled && scores.size() == sides.below.size()) keep(sides, at.v);
    return at;
}

// Collects the irrelevant labels above a bound and their scores.
std::span<const double> LinearFilling::keep(const Sides& sides, double bound) {
    const std::size_t K = sides.below.size();
    if (kept_.size() < K) kept_.resize(K);
    if (kept_scores_.size() < K) kept_scores_.resize(K);
    kept_count_ = kernels::above(sides.below.data(), bound, kept_.data(), K);
    for (std::size_t i = 0; i < kept_count_; ++i)
        kept_scores_[i] = sides.below[static_cast<std::size_t>(kept_[i])];
    return {kept_scores_.data(), kept_count_};
}

// Enters the collected labels above a second bound into the side; at least the highest label.
void LinearFilling::enter(const Sides& sides, double bound) {
    irrelevant_.entries.clear();
    for (std::size_t i = 0; i < kept_count_; ++i)
        if (kept_scores_[i] > bound) irrelevant_.entries.push_back({-kept_scores_[i], kept_[i]});
    if (irrelevant_.entries.empty()) irrelevant_.entries.push_back({-sides.high, sides.highest});
}

// Adds labels to the sides in sorted order until the levels are optimal; returns the mass. Sorting
// makes this slower than sieve(), but it always finds the solution.
double LinearFilling::fill(double q, const RuleParameters& rule) {
    relevant_.start();
    irrelevant_.start();
    for (;;) {
        const double mass = mass_for(relevant_.sum, relevant_.count(), irrelevant_.sum,
                                     irrelevant_.count(), q, rule);
        const double next_relevant = relevant_.next_mass(q);
        const double next_irrelevant = irrelevant_.next_mass(q);
        if (std::min(next_relevant, next_irrelevant) >= mass) return mass;
        (next_relevant <= next_irrelevant ? relevant_ : irrelevant_).join();
    }
}

double LinearFilling::solve(const Sides& sides, double q, const RuleParameters& rule) {
    const Sieved at = sieve(sides, q, rule);
    if (at.settled) {
        enter(sides, at.v);
        std::erase_if(relevant_.entries,
                      [&](const Side::Entry& entry) { return !(entry.height < at.u); });
        relevant_.join_all();
        irrelevant_.join_all();
        return mass_for(relevant_.sum, relevant_.count(), irrelevant_.sum, irrelevant_.count(), q,
                        rule);
    }
    // The sieve has not converged: sort all labels that can move.
    keep(sides, sides.low - rule.margin);
    enter(sides, sides.low - rule.margin);
    return fill(q, rule);
}

void LinearFilling::step(const Sides& sides, double q, const RuleParameters& rule, Step& out) {
    if (sides.margin >= rule.margin) return;
    // Only labels within gamma of the most violating label of the other side can move.
    relevant_.entries.clear();
    for (std::size_t i = 0; i < sides.relevant.size(); ++i)
        if (sides.above[i] < sides.high + rule.margin || sides.relevant[i] == sides.lowest)
            relevant_.entries.push_back({sides.above[i], sides.relevant[i]});
    const double mass = solve(sides, q, rule);

    const auto move = [&](const Side& side, double sign) {
        const double level = side.level(mass, q);
        for (std::size_t i = 0; i < side.joined; ++i)
            out.set(side.entries[i].label,
                    sign * std::max(0.0, (level - side.entries[i].height) / q));
    };
    move(relevant_, 1);
    move(irrelevant_, -1);
    out.mass = mass;
}

}  // namespace tagalong
