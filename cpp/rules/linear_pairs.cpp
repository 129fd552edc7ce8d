#include "rules/linear_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "rules/pair_step.hpp"

namespace tagalong {
namespace {

// The length of the prefix of entries that satisfy a condition; the condition is monotone.
template <class Entries, class Condition>
std::size_t prefix(const Entries& entries, Condition&& holds) {
    return static_cast<std::size_t>(std::partition_point(entries.begin(), entries.end(), holds) -
                                    entries.begin());
}

}  // namespace

void LinearPairs::Ordered::finish(bool descending) {
    std::sort(entries.begin(), entries.end(), [=](const Entry& a, const Entry& b) {
        if (a.score != b.score) return descending ? a.score > b.score : a.score < b.score;
        return a.label < b.label;
    });
    sums.assign(1, 0.0);
    for (const Entry& entry : entries) sums.push_back(sums.back() + entry.score);
}

// Writes the coefficients of all labels. sum(score, other side, is_relevant) returns the sum of
// lambda over the pairs of one label. Returns the sum over the irrelevant labels.
template <class Sum>
double LinearPairs::distribute(Sum&& sum, Step& out) const {
    for (const Entry& r : relevant_.entries) {
        const double amount = sum(r.score, irrelevant_, true);
        out.set(r.label, amount);
        out.mass += amount;
    }
    double down = 0;
    for (const Entry& s : irrelevant_.entries) {
        const double amount = sum(s.score, relevant_, false);
        out.set(s.label, -amount);
        down += amount;
    }
    return down;
}

// The kappa for which the sum of max(0, l - kappa) over the pairs equals target. The sum is convex,
// decreasing and piecewise linear in kappa, so Newton's method from 0 increases to the root in
// finitely many steps. Each step reduces the product of value and slope at least fourfold, so there
// are O(log K) steps, never more than kMostSteps unless rounding errors prevent any progress. Then
// the sum may exceed the target.
double LinearPairs::surrogate_level(double margin, double target) const {
    constexpr int kMostSteps = 200;
    double kappa = 0;
    for (int step = 0; step < kMostSteps; ++step) {
        double total = 0;
        double count = 0;
        for (const Entry& r : relevant_.entries) {
            const std::size_t n = prefix(irrelevant_.entries, [&](const Entry& s) {
                return r.score - s.score < margin - kappa;
            });
            total += static_cast<double>(n) * (margin - kappa - r.score) + irrelevant_.sum(0, n);
            count += static_cast<double>(n);
        }
        if (!(total > target) || count == 0) return kappa;
        const double next = kappa + (total - target) / count;
        if (!(next > kappa)) return kappa;
        kappa = next;
    }
    return kappa;
}

void LinearPairs::step(PairScheme scheme, const Sides& sides, double q, const RuleParameters& rule,
                       Step& out) {
    const bool mistakes_only = scheme.pairs == PairScheme::Pairs::mistaken;
    // Whether a pair with this difference of scores is active. Both sides use the same test, so
    // that rounding cannot make them disagree about a pair.
    const auto is_active = [&](double gap) { return mistakes_only ? gap <= 0 : gap < rule.margin; };
    if (!is_active(sides.margin)) return;

    relevant_.entries.clear();
    for (std::size_t i = 0; i < sides.relevant.size(); ++i)
        if (is_active(sides.relevant_scores[i] - sides.highest_score))
            relevant_.entries.push_back({sides.relevant_scores[i], sides.relevant[i]});
    relevant_.finish(false);
    irrelevant_.entries.clear();
    for (std::size_t k = 0; k < sides.irrelevant_scores.size(); ++k)
        if (sides.irrelevant_scores[k] != Sides::kNone &&
            is_active(sides.lowest_score - sides.irrelevant_scores[k]))
            irrelevant_.entries.push_back({sides.irrelevant_scores[k], static_cast<int>(k)});
    irrelevant_.finish(true);

    // The number of active pairs of a label, which are a prefix of the other side.
    const auto pairs = [&](double score, const Ordered& others, bool is_relevant) {
        return prefix(others.entries, [&](const Entry& other) {
            return is_active(is_relevant ? score - other.score : other.score - score);
        });
    };
    double pair_count = 0;
    for (const Entry& r : relevant_.entries)
        pair_count += static_cast<double>(pairs(r.score, irrelevant_, true));

    const double v = 2 * q;
    double down = 0;
    if (scheme.amount == PairScheme::Amount::budget) {
        down = distribute(
            [&](double score, const Ordered& others, bool is_relevant) {
                return rule.budget * static_cast<double>(pairs(score, others, is_relevant)) /
                       pair_count;
            },
            out);
    } else if (scheme.amount == PairScheme::Amount::surrogate) {
        const double kappa = surrogate_level(rule.margin, rule.budget * v);
        down = distribute(
            [&](double score, const Ordered& others, bool is_relevant) {
                const std::size_t n = prefix(others.entries, [&](const Entry& other) {
                    const double gap = is_relevant ? score - other.score : other.score - score;
                    return gap < rule.margin - kappa;
                });
                const double sign = is_relevant ? 1 : -1;
                const double total = static_cast<double>(n) * (rule.margin - kappa - sign * score) +
                                     sign * others.sum(0, n);
                return std::max(0.0, total) / v;
            },
            out);
    } else {
        // min(C, l/v) = C if the difference of scores is at most gamma - C v.
        const double full_gap = rule.margin - rule.budget * v;
        down = distribute(
            [&](double score, const Ordered& others, bool is_relevant) {
                const std::size_t all = pairs(score, others, is_relevant);
                const std::size_t full =
                    std::min(all, prefix(others.entries, [&](const Entry& other) {
                                 return (is_relevant ? score - other.score : other.score - score) <=
                                        full_gap;
                             }));
                const double sign = is_relevant ? 1 : -1;
                const double partial =
                    static_cast<double>(all - full) * (rule.margin - sign * score) +
                    sign * others.sum(full, all);
                return (rule.budget * static_cast<double>(full) + partial / v) / pair_count;
            },
            out);
    }
    if (!out.balance(out.mass, down, rule.budget)) step_on_worst_pair(sides, q, rule, out);
}

}  // namespace tagalong
