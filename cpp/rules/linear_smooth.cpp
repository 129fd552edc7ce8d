#include "rules/linear_smooth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/clones.hpp"
#include "core/score_kernels.hpp"
#include "core/vector_math.hpp"

namespace tagalong {
namespace {

// W(z) = sum_k (-k)^(k-1) / k! z^k, converging for z < 1/e.
constexpr double kSeries[8] = {1,          -1,          3.0 / 2,       -8.0 / 3,
                               125.0 / 24, -54.0 / 5.0, 16807.0 / 720, -16384.0 / 315};

TAGALONG_INLINE double series_w(double z) {
    double p = kSeries[7];
    for (int k = 6; k >= 0; --k) p = p * z + kSeries[k];
    return p * z;
}

// omega(y) = W(e^y), the solution w of w + log w = y, together with u = 1 / (1 + w), which occurs
// in its derivatives. Divisions dominate these loops, so one division gives both numbers: w = a / b
// implies 1 / (1 + w) = b / (a + b).
struct Omega {
    double w;
    double u;  // 1 / (1 + w)
};
TAGALONG_INLINE Omega quotient(double a, double b) {
    const double sum = a + b, inverse = 1 / (b * sum);
    return {a * sum * inverse, b * b * inverse};
}

// One iteration of Fritsch, Shafer and Crowley: the relative error of w becomes its fourth power,
// at the cost of one logarithm.
TAGALONG_INLINE Omega refine(double y, double w) {
    const double r = y - w - vector_log(w);
    const double one = 1 + w;
    const double q = 2 * one * (one + 2.0 / 3 * r);
    const double bottom = one * (q - 2 * r);
    return quotient(w * (bottom + r * (q - r)), bottom);
}

// ln y for y >= 1 with an error below 0.01: the exponent plus a quadratic in the mantissa.
TAGALONG_INLINE double rough_log(double y) {
    const auto bits = std::bit_cast<std::uint64_t>(y);
    const double exponent =
        std::bit_cast<double>((bits >> 52) | 0x4330000000000000ull) - 4503599627371519.0;
    const double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
    return 0.6931471805599453 * (exponent + (2.0 - m * (1.0 / 3)) * m - 5.0 / 3);
}

// omega(y) with a relative error below 3%, from y and z = e^y.
TAGALONG_INLINE Omega guess_omega(double y, double z) {
    const double e = z < 3.0 ? z : 3.0;
    const double large_y = y < 1.0 ? 1.0 : y;
    const double top =
        y < 1.0 ? e * (60 + e * (114 + 17 * e)) : large_y * (1 + large_y - rough_log(large_y));
    const double bottom = y < 1.0 ? 60 + e * (174 + 101 * e) : 1 + large_y;
    return quotient(top, bottom);
}

// omega(y + d) from omega(y) by a Taylor series of order 4 in d.
TAGALONG_INLINE double taylor_step(Omega at, double d) {
    const double w = at.w, u = at.u, u2 = u * u, u3 = u * u2;
    const double s3 = (1 - 2 * w) * (1.0 / 6), s4 = (1 + w * (6 * w - 8)) * u2 * (1.0 / 24);
    return w + w * d * (u + d * u3 * (0.5 + d * u2 * (s3 + d * s4)));
}

// Writes the powers exp((key - largest) / T); returns their sum and their sum of squares.
struct PowerPass {
    double sum, squares;
};
TAGALONG_CLONES PowerPass power_pass(const double* keys, double largest, double inverse_T,
                                     double* power, std::size_t n) {
    double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
    for (std::size_t k = 0; k < n; ++k) {
        const double p = vector_exp((keys[k] - largest) * inverse_T);
        power[k] = p;
        sum += p;
        squares += p * p;
    }
    return {sum, squares};
}

TAGALONG_CLONES void power_sums_pass(const double* power, double threshold, std::size_t n,
                                     double* out) {
    const double unit = 1 / threshold;
    double s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0, s8 = 0;
#pragma omp simd reduction(+ : s1, s2, s3, s4, s5, s6, s7, s8)
    for (std::size_t k = 0; k < n; ++k) {
        const double p = power[k] <= threshold ? power[k] * unit : 0.0;
        const double p2 = p * p, p3 = p2 * p, p4 = p2 * p2;
        s1 += p;
        s2 += p2;
        s3 += p3;
        s4 += p4;
        s5 += p4 * p;
        s6 += p4 * p2;
        s7 += p4 * p3;
        s8 += p4 * p4;
    }
    const double sums[8] = {s1, s2, s3, s4, s5, s6, s7, s8};
    std::copy(sums, sums + 8, out);
}

// Three methods to compute w at a new level. Each returns sum w and sum w / (1 + w) = sum w u.
TAGALONG_CLONES ValueSlope guess_pass(const double* y, double shift, const double* power,
                                      double z_per_power, double* w, double* u, std::size_t n) {
    double sum = 0, slope = 0;
#pragma omp simd reduction(+ : sum, slope)
    for (std::size_t i = 0; i < n; ++i) {
        const Omega to = guess_omega(y[i] + shift, z_per_power * power[i]);
        w[i] = to.w;
        u[i] = to.u;
        sum += to.w;
        slope += to.w * to.u;
    }
    return {sum, slope};
}
TAGALONG_CLONES ValueSlope refine_pass(const double* y, double shift, double d, double* w,
                                       double* u, std::size_t n) {
    double sum = 0, slope = 0;
#pragma omp simd reduction(+ : sum, slope)
    for (std::size_t i = 0; i < n; ++i) {
        const Omega to = refine(y[i] + shift, taylor_step({w[i], u[i]}, d));
        w[i] = to.w;
        u[i] = to.u;
        sum += to.w;
        slope += to.w * to.u;
    }
    return {sum, slope};
}
TAGALONG_CLONES ValueSlope taylor_pass(double d, double* w, double* u, std::size_t n) {
    double sum = 0, slope = 0;
#pragma omp simd reduction(+ : sum, slope)
    for (std::size_t i = 0; i < n; ++i) {
        const double to = taylor_step({w[i], u[i]}, d);
        w[i] = to;
        u[i] = 1 / (1 + to);
        sum += to;
        slope += to * u[i];
    }
    return {sum, slope};
}

TAGALONG_CLONES void amounts_pass(const double* power, const double* keys, double z_per_power,
                                  double factor, double threshold, double* out, std::size_t n,
                                  LinearSmoothSide::Amounts* total) {
    double mass = 0, weighted = 0, squares = 0;
#pragma omp simd reduction(+ : mass, weighted, squares)
    for (std::size_t k = 0; k < n; ++k) {
        const double z = power[k] <= threshold ? z_per_power * power[k] : 0.0;
        const double b = factor * series_w(z);
        out[k] = b;
        mass += b;
        weighted += b * (power[k] > 0 ? keys[k] : 0.0);
        squares += b * b;
    }
    *total = {mass, weighted, squares};
}

}  // namespace

void LinearSmoothSide::start(std::span<const double> keys, double q, double temperature) {
    keys_ = keys;
    q_ = q;
    temperature_ = temperature;
    largest_ = kernels::largest(keys.data(), keys.size());
    count_ = static_cast<double>(keys.size());
    anchor_ = largest_;
    power_.resize(keys.size());
    if (heavy_.size() < keys.size()) {
        heavy_.resize(keys.size());
        for (auto* numbers : {&heavy_y_, &heavy_power_, &heavy_w_, &heavy_u_})
            numbers->resize(keys.size());
    }
    const PowerPass pass =
        power_pass(keys.data(), anchor_, 1 / temperature, power_.data(), keys.size());
    log_sum_ = std::log(pass.sum);
    effective_ = pass.sum * pass.sum / pass.squares;
}

double LinearSmoothSide::equal_labels_level(double mass) const {
    return temperature_ * (std::log(mass) - log_sum_) - largest_ + q_ * mass / effective_;
}

void LinearSmoothSide::separate(double level) {
    separated_level_ = level;
    const double offset = std::log(q_ / temperature_);
    const double light_key = temperature_ * (std::log(kLight) - offset) - level;
    // At low temperatures, powers relative to the largest key would underflow for light labels
    // whose mass matters. In that case take them relative to the threshold.
    if (std::abs(anchor_ - light_key) > 600 * temperature_) {
        anchor_ = light_key;
        power_pass(keys_.data(), anchor_, 1 / temperature_, power_.data(), power_.size());
    }
    threshold_ = std::exp((light_key - anchor_) / temperature_);
    power_sums_pass(power_.data(), threshold_, power_.size(), power_sums_);
    heavy_count_ = kernels::indices_above(power_.data(), threshold_, heavy_.data(), power_.size());
    const double per_key = 1 / temperature_;
    for (std::size_t i = 0; i < heavy_count_; ++i) {
        heavy_y_[i] = keys_[heavy_[i]] * per_key + offset;
        heavy_power_[i] = power_[heavy_[i]];
    }
    heavy_state_ = Heavy::unknown;
}

// Far from the solution, approximate amounts of the heavy labels are enough. Near it, one iteration
// refines them. At the end, a Taylor series follows small changes of the level.
ValueSlope LinearSmoothSide::heavy_at(double level) {
    const std::size_t n = heavy_count_;
    const double shift = level / temperature_;
    const double d = (level - heavy_level_) / temperature_;
    heavy_level_ = level;
    if (heavy_state_ == Heavy::unknown || !(std::abs(d) < 0.5)) {
        heavy_state_ = Heavy::rough;
        return guess_pass(heavy_y_.data(), shift, heavy_power_.data(), threshold_z_ / threshold_,
                          heavy_w_.data(), heavy_u_.data(), n);
    }
    if (heavy_state_ == Heavy::exact && std::abs(d) < 0.003)
        return taylor_pass(d, heavy_w_.data(), heavy_u_.data(), n);
    // A relative error of a few percent becomes about 1e-8, and is negligible after the next call.
    heavy_state_ = heavy_state_ == Heavy::rough || std::abs(d) > 0.1 ? Heavy::near : Heavy::exact;
    return refine_pass(heavy_y_.data(), shift, d, heavy_w_.data(), heavy_u_.data(), n);
}

ValueSlope LinearSmoothSide::at(double level) {
    double growth = std::exp((level - separated_level_) / temperature_);
    // If the level is far above, the series is inaccurate for light labels. If it is far below, the
    // powers of some heavy labels no longer determine their z.
    if (!(growth <= kSlack && growth >= kLeastGrowth)) {
        separate(level);
        growth = 1;
    }
    threshold_z_ = kLight * growth;
    // The light labels by series: sum W(z) and sum W/(1+W) = sum z W'(z).
    double mass = 0, slope = 0, z_power = 1;
    for (int k = 0; k < kTerms; ++k) {
        z_power *= threshold_z_;
        const double term = kSeries[k] * z_power * power_sums_[k];
        mass += term;
        slope += (k + 1) * term;
    }
    const ValueSlope heavy = heavy_at(level);
    return {temperature_ / q_ * (mass + heavy.value), (slope + heavy.slope) / q_};
}

// The largest amount is at least mass / count and at most mass.
double LinearSmoothSide::lower(double mass) const {
    const double share = mass / count_;
    return temperature_ * std::log(share) + q_ * share - largest_;
}
double LinearSmoothSide::upper(double mass) const {
    return temperature_ * std::log(mass) + q_ * mass - largest_;
}

LinearSmoothSide::Amounts LinearSmoothSide::amounts(double* out) const {
    Amounts total;
    const double factor = temperature_ / q_;
    amounts_pass(power_.data(), keys_.data(), threshold_z_ / threshold_, factor, threshold_, out,
                 power_.size(), &total);
    for (std::size_t i = 0; i < heavy_count_; ++i) {
        const double b = factor * heavy_w_[i];
        out[heavy_[i]] = b;
        total.mass += b;
        total.weighted_keys += b * keys_[heavy_[i]];
        total.squares += b * b;
    }
    return total;
}

namespace {

// Evaluations of the sides per step. A few are enough for most steps, some hundred for the hardest
// ones that are solvable in double precision.
constexpr std::int64_t kMostEvaluations = 5'000;

// The root z of T z + coupling * sigmoid(z) = target: the equation that ties the levels
// (smooth.hpp) if both levels are linear in the mass.
double tied_z(double T, double coupling, double target, double guess) {
    const auto left = [&](double z) {
        const double spent = 1 / (1 + std::exp(-z));
        return ValueSlope{T * z + coupling * spent - target, T + coupling * spent * (1 - spent)};
    };
    return increasing_root(left, -600.0, 600.0, guess, 1e-3);
}

}  // namespace

// The starting point of solve_smooth, from two estimates:
// - Each side consists of its effective number of equal labels. This is accurate if many labels
//   move, each of them little.
// - Update III: the labels that move reach common levels u and v by amounts near m / n. Then
//   level_1 is u + T log(m / n_1) and level_2 is T log(m / n_2) - v. Each pass removes labels that
//   do not move. This is accurate if few labels dominate.
// Each estimate neglects labels that the other one counts, so the larger mass and the lower levels
// are closer to the solution.
SmoothPoint LinearSmooth::estimate(const Sides& sides, double q, const RuleParameters& rule,
                                   double log_loss) const {
    constexpr int passes = 5;
    const double T = rule.temperature;
    const auto coupling = [&](double n_1, double n_2) {
        return q * rule.budget * (1 / n_1 + 1 / n_2);
    };
    const double equal_labels_z = tied_z(
        T, coupling(relevant_.effective_labels(), irrelevant_.effective_labels()), T * log_loss, 0);
    double z = equal_labels_z;
    double u = std::numeric_limits<double>::infinity(),
           v = sides.lowest_score - rule.margin - 6 * T;
    kernels::CountAndSum up, down;
    for (int pass = 0; pass < passes; ++pass) {
        down = kernels::count_and_sum_above(sides.irrelevant_scores.data(), v,
                                            sides.irrelevant_scores.size());
        if (down.count == 0) down = {1, sides.highest_score};
        up = {};
        for (const double score : sides.relevant_scores) {
            up.count += score < u ? 1.0 : 0.0;
            up.sum += score < u ? score : 0.0;
        }
        if (up.count == 0) up = {1, sides.lowest_score};
        const double target = rule.margin - up.sum / up.count + down.sum / down.count +
                              T * std::log(up.count * down.count);
        z = tied_z(T, coupling(up.count, down.count), target, z);
        const double mass = rule.budget / (1 + std::exp(-z)), before = v;
        u = (up.sum + q * mass) / up.count;
        v = (down.sum - q * mass) / down.count;
        if (!(v > before)) break;
    }
    z = std::max(z, equal_labels_z);
    const double mass = rule.budget / (1 + std::exp(-z));
    return {z, std::min(u + T * std::log(mass / up.count), relevant_.equal_labels_level(mass)),
            std::min(T * std::log(mass / down.count) - v, irrelevant_.equal_labels_level(mass))};
}

void LinearSmooth::step(const Sides& sides, double q, const RuleParameters& rule, Step& out) {
    relevant_keys_.resize(sides.relevant_scores.size());
    for (std::size_t i = 0; i < sides.relevant_scores.size(); ++i)
        relevant_keys_[i] = -sides.relevant_scores[i];
    relevant_.start(relevant_keys_, q, rule.temperature);
    irrelevant_.start(sides.irrelevant_scores, q, rule.temperature);

    // The loss underflows: no step.
    const double log_loss =
        rule.margin / rule.temperature + relevant_.log_sum() + irrelevant_.log_sum();
    if (!(log_loss > -500)) return;

    SmoothPoint point = estimate(sides, q, rule, log_loss);
    relevant_.separate(point.level_1);
    irrelevant_.separate(point.level_2);
    Effort effort(kMostEvaluations);
    solve_smooth(relevant_, irrelevant_, rule, point, effort);
    out.solved = !effort.exhausted();

    relevant_amounts_.resize(relevant_keys_.size());
    irrelevant_amounts_.resize(sides.irrelevant_scores.size());
    const auto up = relevant_.amounts(relevant_amounts_.data());
    const auto down = irrelevant_.amounts(irrelevant_amounts_.data());
    const double mass = detail::SmoothEquation(rule).mass(point.z);
    const double fix_up = mass / up.mass, fix_down = mass / down.mass;
    if (!(out.solved && std::abs(fix_up - 1) < 1e-6 && std::abs(fix_down - 1) < 1e-6)) {
        // The temperature is too low, or the scores are too large, to solve the three equations in
        // double precision or within the effort. Take the step of the limit T -> 0, Update III,
        // with entropy 0.
        water_filling_.step(sides, q, rule, out);
        return;
    }
    for (std::size_t k = 0; k < irrelevant_amounts_.size(); ++k)
        out.alpha[k] = -fix_down * irrelevant_amounts_[k];
    for (std::size_t i = 0; i < relevant_amounts_.size(); ++i)
        out.alpha[sides.relevant[i]] = fix_up * relevant_amounts_[i];
    out.touch_all();
    out.mass = mass;
    // T log b = level + key - q b gives the entropies without another logarithm.
    const auto side_entropy = [&](const LinearSmoothSide::Amounts& side, double level) {
        return -(level + (side.weighted_keys - q * side.squares) / side.mass) +
               rule.temperature * std::log(mass);
    };
    out.entropy = smooth_entropy(
        point.z, rule, side_entropy(up, point.level_1) + side_entropy(down, point.level_2));
}

}  // namespace tagalong
