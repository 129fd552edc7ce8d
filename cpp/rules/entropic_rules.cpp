#include "rules/entropic_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rules/pair_step.hpp"
#include "rules/smooth.hpp"

namespace tagalong {

namespace {

// Evaluations of curves per step and label. About a hundred are enough for most steps, some
// thousand for steps near the limits of double precision.
constexpr std::int64_t kEvaluationsPerLabel = 10'000;

}  // namespace

void EntropicRules::Side::clear() {
    labels.clear();
    scores.clear();
    curves.clear();
    amounts.clear();
}
void EntropicRules::Side::add(int label, double score, const SimplexCurve& curve) {
    labels.push_back(label);
    scores.push_back(score);
    curves.push_back(curve);
    amounts.push_back(0);
}

const SimplexCurve& EntropicRules::Side::curve_of(int label) const {
    const auto found = std::find(labels.begin(), labels.end(), label);
    return curves[static_cast<std::size_t>(found - labels.begin())];
}

void EntropicRules::WaterFilling::start(Side& side, double cap, Effort& effort) {
    side_ = &side;
    effort_ = &effort;
    // A rule that could not be solved may have left any amounts.
    std::fill(side.amounts.begin(), side.amounts.end(), 0.0);
    cap_ = cap;
    least_ = std::numeric_limits<double>::infinity();
    most_ = -least_;
    const auto include = [&](double k) {
        least_ = std::min(least_, k);
        most_ = std::max(most_, k);
    };
    for (const SimplexCurve& curve : side.curves) {
        for (const double x : curve.atoms) include(curve.sign * x);
        if (curve.outside > 0) include(0);
    }
    starts_.clear();
    ends_.clear();
    for (const SimplexCurve& curve : side.curves) {
        double start = curve.odds(0, least_, most_).value,
               end = curve.odds(cap, least_, most_).value;
        // A score that changes by no more than rounding errors is treated as constant.
        if (!(end - start > 1e-13 * (1 + std::abs(start)))) end = start;
        starts_.push_back(std::clamp(std::isnan(start) ? 0.0 : start, -1e4, 1e4));
        ends_.push_back(std::clamp(std::isnan(end) ? 0.0 : end, -1e4, 1e4));
    }
    last_ = lowest_ = *std::min_element(starts_.begin(), starts_.end());
    highest_ = *std::max_element(ends_.begin(), ends_.end());
}

double EntropicRules::WaterFilling::amount_at(std::size_t label, double odds) const {
    const double start = starts_[label], end = ends_[label];
    if (odds <= start) return 0;
    if (odds >= end) return cap_;
    const SimplexCurve& curve = side_->curves[label];
    if (curve.atoms.size() == 1)
        return cap_ * (odds - start) / (end - start);  // log-odds are linear
    return increasing_root(
        [&](double amount) {
            effort_->spend();
            ValueSlope at = curve.odds(amount, least_, most_);
            at.value -= odds;
            return at;
        },
        0.0, cap_, side_->amounts[label], kFinest, effort_);
}

ValueSlope EntropicRules::WaterFilling::at(double odds) {
    ValueSlope moved;
    effort_->spend(static_cast<std::int64_t>(starts_.size()));
    for (std::size_t i = 0; i < starts_.size(); ++i) {
        const double amount = side_->amounts[i] = amount_at(i, odds);
        moved.value += amount;
        if (amount > 0 && amount < cap_)
            moved.slope += 1 / side_->curves[i].odds(amount, least_, most_).slope;
    }
    return moved;
}

ValueSlope EntropicRules::WaterFilling::move(double mass) {
    last_ = increasing_root(
        [&](double odds) {
            ValueSlope moved = at(odds);
            moved.value -= mass;
            return moved;
        },
        lowest_, highest_, last_, kFinest, effort_);
    const ValueSlope moved = at(last_);
    const detail::Shares at(last_);
    const double range = most_ - least_;
    return {least_ + range * at.spent, range * at.spent * at.rest / moved.slope};
}

namespace {

// One side of the smooth step (see smooth.hpp): solves T log b + k_i(b) = level for each label.
class SmoothSide {
  public:
    SmoothSide(std::vector<SimplexCurve>& curves, std::vector<double>& amounts, double temperature,
               Effort& effort)
        : curves_(curves), amounts_(amounts), temperature_(temperature), effort_(effort) {
        lowest_ = std::numeric_limits<double>::infinity();
        for (const SimplexCurve& curve : curves_) {
            double least = 0, most = 0;
            for (const double x : curve.atoms) {
                least = std::min(least, curve.sign * x);
                most = std::max(most, curve.sign * x);
            }
            lowest_ = std::min(lowest_, curve.at(0).value);
            least_ = std::min(least_, least);
            most_ = std::max(most_, most);
        }
    }

    ValueSlope at(double level) {
        ValueSlope moved;
        for (std::size_t i = 0; i < curves_.size(); ++i) {
            // k lies in [least_, most_], which gives a bracket for log b.
            const double low = (level - most_) / temperature_,
                         high = (level - least_) / temperature_;
            const double guess = amounts_[i] > 0 ? std::log(amounts_[i]) : low;
            const double log_b = low == high
                                     ? low
                                     : increasing_root(
                                           [&](double v) {
                                               effort_.spend();
                                               const double b = std::exp(v);
                                               const ValueSlope k = curves_[i].at(b);
                                               return ValueSlope{temperature_ * v + k.value - level,
                                                                 temperature_ + k.slope * b};
                                           },
                                           low, high, guess, kFinest, &effort_);
            const double b = std::exp(log_b);
            amounts_[i] = b;
            moved.value += b;
            moved.slope += b / (temperature_ + curves_[i].at(b).slope * b);
        }
        return moved;
    }
    double lower(double mass) const {
        return temperature_ * std::log(mass / static_cast<double>(curves_.size())) + least_;
    }
    double upper(double mass) const { return temperature_ * std::log(mass) + most_; }
    double lowest() const { return lowest_; }
    bool exact() const { return true; }

    // Whether the amounts sum to the mass.
    bool moved(double mass) const {
        double sum = 0;
        for (const double b : amounts_) sum += b;
        return std::abs(sum / mass - 1) < 1e-6;
    }
    // T H(b / mass), with H the entropy.
    double entropy(double mass) const {
        double total = 0;
        for (const double b : amounts_)
            if (b > 0) total -= b / mass * std::log(b / mass);
        return temperature_ * total;
    }

  private:
    std::vector<SimplexCurve>& curves_;
    std::vector<double>& amounts_;
    double temperature_;
    Effort& effort_;
    double lowest_ = 0;
    double least_ = 0;
    double most_ = 0;
};

// Writes the coefficients of one side, scaled so that their magnitudes sum to the mass.
void write(const std::vector<int>& labels, const std::vector<double>& amounts, double mass,
           double sign, Step& out) {
    double sum = 0;
    for (const double amount : amounts) sum += amount;
    // If no step changes the scores, all amounts are 0: share the mass equally.
    const double equal = mass / static_cast<double>(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i)
        out.set(labels[i], sign * (sum > 0 ? amounts[i] * (mass / sum) : equal));
}

}  // namespace

// Collects the labels for which is_active holds for the difference of scores to the most violating
// label of the other side.
template <class IsActive>
void EntropicRules::collect(const Sides& sides, const CurveOf& curve, IsActive&& is_active) {
    relevant_.clear();
    irrelevant_.clear();
    for (std::size_t i = 0; i < sides.relevant.size(); ++i)
        if (is_active(sides.relevant_scores[i] - sides.highest_score))
            relevant_.add(sides.relevant[i], sides.relevant_scores[i],
                          curve(sides.relevant[i], true));
    for (std::size_t k = 0; k < sides.irrelevant_scores.size(); ++k)
        if (sides.irrelevant_scores[k] != Sides::kNone &&
            is_active(sides.lowest_score - sides.irrelevant_scores[k]))
            irrelevant_.add(static_cast<int>(k), sides.irrelevant_scores[k],
                            curve(static_cast<int>(k), false));
}

void EntropicRules::single(const Sides& sides, const CurveOf& curve, const RuleParameters& rule,
                           Step& out) {
    if (sides.margin >= rule.margin) return;
    const double amount =
        pair_step(curve(sides.lowest_relevant, true), curve(sides.highest_irrelevant(), false),
                  rule.margin, rule.budget);
    out.set_pair(sides.lowest_relevant, sides.highest_irrelevant(), amount);
}

void EntropicRules::pairs(PairScheme scheme, const Sides& sides, const CurveOf& curve,
                          const RuleParameters& rule, Step& out) {
    const bool mistakes_only = scheme.pairs == PairScheme::Pairs::mistaken;
    const auto is_active = [&](double gap) { return mistakes_only ? gap <= 0 : gap < rule.margin; };
    if (!is_active(sides.margin)) return;
    collect(sides, curve, is_active);
    double count = 0;
    for (std::size_t i = 0; i < relevant_.labels.size(); ++i) {
        for (std::size_t j = 0; j < irrelevant_.labels.size(); ++j) {
            if (!is_active(relevant_.scores[i] - irrelevant_.scores[j])) continue;
            const double amount = scheme.amount == PairScheme::Amount::budget
                                      ? rule.budget
                                      : pair_step(relevant_.curves[i], irrelevant_.curves[j],
                                                  rule.margin, rule.budget);
            count += 1;
            relevant_.amounts[i] += amount;
            irrelevant_.amounts[j] += amount;
        }
    }
    if (count == 0) return;
    for (std::size_t i = 0; i < relevant_.labels.size(); ++i) {
        out.set(relevant_.labels[i], relevant_.amounts[i] / count);
        out.mass += relevant_.amounts[i] / count;
    }
    for (std::size_t j = 0; j < irrelevant_.labels.size(); ++j)
        out.set(irrelevant_.labels[j], -irrelevant_.amounts[j] / count);
}

void EntropicRules::optimal(const Sides& sides, const CurveOf& curve, const RuleParameters& rule,
                            Step& out) {
    if (sides.margin >= rule.margin) return;
    collect(sides, curve, [&](double gap) { return gap < rule.margin; });
    fill(sides, rule, out);
}

// Update III on the collected labels.
void EntropicRules::fill(const Sides& sides, const RuleParameters& rule, Step& out) {
    Effort effort = this->effort();
    raise_.start(relevant_, rule.budget, effort);
    lower_.start(irrelevant_, rule.budget, effort);
    double mass = rule.budget;
    if (raise_.can_move() && lower_.can_move()) {
        // The sum of the two levels minus the margin, for a given mass. Spend the whole budget, or
        // less if the excess becomes zero earlier.
        const auto excess = [&](double moved) {
            const ValueSlope up = raise_.move(moved), down = lower_.move(moved);
            return ValueSlope{up.value + down.value - rule.margin, up.slope + down.slope};
        };
        const ValueSlope all = excess(rule.budget);
        if (all.value > 0) {
            const double guess = rule.budget - all.value / all.slope;
            excess(mass = increasing_root(excess, 0.0, rule.budget, guess, kFinest, &effort));
        }
    }
    if (effort.exhausted())
        return step_on_worst_pair(sides, relevant_.curve_of(sides.lowest_relevant),
                                  irrelevant_.curve_of(sides.highest_irrelevant()), rule, out);
    if (mass <= 0) return;
    write(relevant_.labels, relevant_.amounts, mass, 1, out);
    write(irrelevant_.labels, irrelevant_.amounts, mass, -1, out);
    out.mass = mass;
}

Effort EntropicRules::effort() const {
    return Effort(kEvaluationsPerLabel *
                  static_cast<std::int64_t>(relevant_.labels.size() + irrelevant_.labels.size()));
}

void EntropicRules::smooth(const Sides& sides, const CurveOf& curve, const RuleParameters& rule,
                           Step& out) {
    collect(sides, curve, [](double) { return true; });
    Effort effort = this->effort();
    SmoothSide up(relevant_.curves, relevant_.amounts, rule.temperature, effort);
    SmoothSide down(irrelevant_.curves, irrelevant_.amounts, rule.temperature, effort);
    const double start = std::log(rule.budget / 2);
    SmoothPoint point{0, rule.temperature * start + up.lowest(),
                      rule.temperature * start + down.lowest()};
    solve_smooth(up, down, rule, point, effort);
    const double mass = detail::SmoothEquation(rule).mass(point.z);
    if (effort.exhausted() || !up.moved(mass) || !down.moved(mass)) {
        // Not solvable in double precision or within the effort: take the step of the limit T -> 0,
        // Update III, with entropy 0.
        out.solved = !effort.exhausted();
        return fill(sides, rule, out);
    }
    write(relevant_.labels, relevant_.amounts, mass, 1, out);
    write(irrelevant_.labels, irrelevant_.amounts, mass, -1, out);
    out.mass = mass;
    out.entropy = smooth_entropy(point.z, rule, up.entropy(mass) + down.entropy(mass));
}

}  // namespace tagalong
