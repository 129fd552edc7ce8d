#include "rules/linear_water_filling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/score_kernels.hpp"
#include "rules/pair_step.hpp"

namespace tagalong {

namespace {

// The mass at which the levels of the two sides differ by gamma, at most the budget.
double mass_for(double sum_1, double count_1, double sum_2, double count_2, double q,
                const RuleParameters& rule) {
    const double unlimited =
        (rule.margin - sum_1 / count_1 - sum_2 / count_2) / (q * (1 / count_1 + 1 / count_2));
    return std::min(unlimited, rule.budget);
}

}  // namespace

void LinearWaterFilling::Side::start() {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.height != b.height ? a.height < b.height : a.label < b.label;
    });
    joined = 0;
    sum = 0;
    join();
}

double LinearWaterFilling::Side::next_mass(double q) const {
    if (joined == entries.size()) return std::numeric_limits<double>::infinity();
    return (count() * entries[joined].height - sum) / q;
}

// Finds, without sorting, the set of labels that move. It starts with all candidates. As long as it
// is too large, the computed level v of the irrelevant labels is too low and the level u of the
// relevant ones is too high. Each pass removes the labels beyond the levels and recomputes the
// levels. If a pass removes no label, the set is the solution. A few branch-free passes are enough;
// from the third pass on, they read only the remaining irrelevant labels.
LinearWaterFilling::Levels LinearWaterFilling::find_moving_labels(const Sides& sides, double q,
                                                                  const RuleParameters& rule) {
    constexpr int most_passes = 12, passes_over_all = 2;
    Levels at{std::numeric_limits<double>::infinity(), sides.lowest_score - rule.margin, false};
    std::span<const double> scores = sides.irrelevant_scores;
    double least = at.v, last_up = -1, last_down = -1;
    for (int pass = 0; pass < most_passes; ++pass) {
        if (pass == passes_over_all) {
            least = at.v;
            scores = collect_above(sides, least);
        }
        const kernels::CountAndSum down =
            kernels::count_and_sum_above(scores.data(), at.v, scores.size());
        kernels::CountAndSum up{};
        for (const Side::Entry& entry : relevant_.entries) {
            if (!(entry.height < at.u)) continue;
            ++up.count;
            up.sum += entry.height;
        }
        if (down.count == 0 || up.count == 0) break;
        at.converged = up.count == last_up && down.count == last_down;
        if (at.converged) break;
        const double mass = mass_for(up.sum, up.count, -down.sum, down.count, q, rule);
        const double v = (down.sum - q * mass) / down.count;
        if (!(v >= least)) break;  // labels were removed that belong to the set
        at.u = (up.sum + q * mass) / up.count;
        at.v = v;
        last_up = up.count;
        last_down = down.count;
    }
    if (at.converged && scores.size() == sides.irrelevant_scores.size()) collect_above(sides, at.v);
    return at;
}

// Collects the irrelevant labels above a bound and their scores.
std::span<const double> LinearWaterFilling::collect_above(const Sides& sides, double bound) {
    const std::size_t K = sides.irrelevant_scores.size();
    if (collected_.size() < K) collected_.resize(K);
    if (collected_scores_.size() < K) collected_scores_.resize(K);
    collected_count_ =
        kernels::indices_above(sides.irrelevant_scores.data(), bound, collected_.data(), K);
    for (std::size_t i = 0; i < collected_count_; ++i)
        collected_scores_[i] = sides.irrelevant_scores[static_cast<std::size_t>(collected_[i])];
    return {collected_scores_.data(), collected_count_};
}

// Makes the collected labels above a second bound the entries of the irrelevant side; at least the
// highest irrelevant label.
void LinearWaterFilling::add_irrelevant_above(const Sides& sides, double bound) {
    irrelevant_.entries.clear();
    for (std::size_t i = 0; i < collected_count_; ++i)
        if (collected_scores_[i] > bound)
            irrelevant_.entries.push_back({-collected_scores_[i], collected_[i]});
    if (irrelevant_.entries.empty())
        irrelevant_.entries.push_back({-sides.highest_score, sides.highest_irrelevant()});
}

// Adds labels to the sides in sorted order until the levels are optimal; returns the mass. Sorting
// makes this slower than find_moving_labels(), but it always finds the solution. When all labels
// have joined, both next masses are infinite, so the loop ends after one round per label; NaN ends
// it too.
double LinearWaterFilling::fill_sorted(double q, const RuleParameters& rule) {
    relevant_.start();
    irrelevant_.start();
    for (;;) {
        const double mass = mass_for(relevant_.sum, relevant_.count(), irrelevant_.sum,
                                     irrelevant_.count(), q, rule);
        const double next_relevant = relevant_.next_mass(q);
        const double next_irrelevant = irrelevant_.next_mass(q);
        if (!(std::min(next_relevant, next_irrelevant) < mass)) return mass;
        (next_relevant <= next_irrelevant ? relevant_ : irrelevant_).join();
    }
}

double LinearWaterFilling::solve(const Sides& sides, double q, const RuleParameters& rule) {
    const Levels at = find_moving_labels(sides, q, rule);
    if (at.converged) {
        add_irrelevant_above(sides, at.v);
        std::erase_if(relevant_.entries,
                      [&](const Side::Entry& entry) { return !(entry.height < at.u); });
        relevant_.join_all();
        irrelevant_.join_all();
        return mass_for(relevant_.sum, relevant_.count(), irrelevant_.sum, irrelevant_.count(), q,
                        rule);
    }
    // find_moving_labels has not converged: sort all labels that can move.
    collect_above(sides, sides.lowest_score - rule.margin);
    add_irrelevant_above(sides, sides.lowest_score - rule.margin);
    return fill_sorted(q, rule);
}

void LinearWaterFilling::step(const Sides& sides, double q, const RuleParameters& rule, Step& out) {
    if (sides.margin >= rule.margin) return;
    // Only labels within gamma of the most violating label of the other side can move.
    relevant_.entries.clear();
    for (std::size_t i = 0; i < sides.relevant.size(); ++i)
        if (sides.relevant_scores[i] < sides.highest_score + rule.margin ||
            sides.relevant[i] == sides.lowest_relevant)
            relevant_.entries.push_back({sides.relevant_scores[i], sides.relevant[i]});
    const double mass = solve(sides, q, rule);

    const auto move = [&](const Side& side, double sign) {
        const double level = side.level(mass, q);
        double sum = 0;
        for (std::size_t i = 0; i < side.joined; ++i) {
            const double amount = std::max(0.0, (level - side.entries[i].height) / q);
            out.set(side.entries[i].label, sign * amount);
            sum += amount;
        }
        return sum;
    };
    const double up = move(relevant_, 1), down = move(irrelevant_, -1);
    out.mass = mass;
    if (!out.balance(up, down, rule.budget)) step_on_worst_pair(sides, q, rule, out);
}

}  // namespace tagalong
