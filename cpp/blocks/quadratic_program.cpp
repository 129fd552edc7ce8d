#include "blocks/quadratic_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "blocks/dense_kernels.hpp"

namespace tagalong {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMaxIterations = 400;
constexpr double kTolerance = 1e-12;
constexpr std::ptrdiff_t kUnused = -1;  // in place of a row: the unused budget
constexpr std::ptrdiff_t kNone = -2;

}  // namespace

void BlockQp::load(std::span<const double> Q, std::span<const double> l,
                   std::span<const double> v) {
    m_ = l.size();
    Q_ = Q;
    g_.assign(l.begin(), l.end());
    if (std::all_of(v.begin(), v.end(), [](double weight) { return weight == 1; })) return;
    scaled_.assign(Q.begin(), Q.end());
    for (std::size_t j = 0; j < m_; ++j) {
        g_[j] /= v[j];
        for (std::size_t k = 0; k < m_; ++k) scaled_[j * m_ + k] /= v[j] * v[k];
    }
    Q_ = scaled_;
}

void BlockQp::move(std::size_t j, double amount) {
    if (amount == 0) return;
    u_[j] += amount;
    dense::subtract_rows(g_.data(), Q_.data(), m_, &j, &amount, 1);
}

// Subtracts Q amounts from the gradient at u = 0.
void BlockQp::subtract_from_gradient(std::span<const double> amounts) {
    current_rows_.clear();
    amounts_.clear();
    for (std::size_t j = 0; j < m_; ++j) {
        if (!(amounts[j] > 0)) continue;
        current_rows_.push_back(j);
        amounts_.push_back(amounts[j]);
    }
    dense::subtract_rows(g_.data(), Q_.data(), m_, current_rows_.data(), amounts_.data(),
                         current_rows_.size());
}

void BlockQp::move_together(std::span<const std::size_t> rows, std::span<const double> amounts) {
    for (std::size_t i = 0; i < rows.size(); ++i) u_[rows[i]] += amounts[i];
    dense::subtract_rows(g_.data(), Q_.data(), m_, rows.data(), amounts.data(), rows.size());
}

double BlockQp::measure_gap() const {
    double top = 0, product = 0;
    for (std::size_t j = 0; j < m_; ++j) {
        top = std::max(top, g_[j]);
        product += g_[j] * u_[j];
    }
    return std::max(0.0, budget_ * top - product);
}

// Moves budget from the row (or the unused budget) with the smallest gradient to the one with the
// largest. Returns false if no such step increases the objective.
bool BlockQp::pair_step() {
    std::ptrdiff_t up = kUnused, down = unused_ > 0 ? kUnused : kNone;
    double most = 0, least = unused_ > 0 ? 0 : kInfinity;
    const dense::GradientRange range = dense::gradient_range(g_.data(), u_.data(), m_);
    if (range.most > most) {
        most = range.most;
        up = std::find(g_.begin(), g_.end(), most) - g_.begin();
    }
    if (range.least < least) {
        least = range.least;
        std::size_t j = 0;
        while (j < m_ && !(u_[j] > 0 && g_[j] == least)) ++j;
        if (j == m_) return false;  // rounding has spoilt the gradient
        down = static_cast<std::ptrdiff_t>(j);
    }
    if (down == kNone || up == down || !(most > least)) return false;
    const auto at = [&](std::ptrdiff_t a, std::ptrdiff_t b) {
        return a < 0 || b < 0 ? 0.0
                              : Q_[static_cast<std::size_t>(a) * m_ + static_cast<std::size_t>(b)];
    };
    const double curvature = at(up, up) + at(down, down) - 2 * at(up, down);
    const double available = down == kUnused ? unused_ : u_[static_cast<std::size_t>(down)];
    double amount = curvature > 0 ? (most - least) / curvature : kInfinity;
    const bool all = amount >= available;
    if (all) amount = available;
    if (down == kUnused) {
        unused_ = all ? 0 : unused_ - amount;
    } else {
        move(static_cast<std::size_t>(down), -amount);
        if (all) u_[static_cast<std::size_t>(down)] = 0;
    }
    if (up == kUnused) unused_ += amount;
    else move(static_cast<std::size_t>(up), amount);
    return true;
}

void BlockQp::factorise() {
    const std::size_t n = free_.size() - (tight_ ? 1 : 0);
    const std::size_t last = free_.back();
    const std::size_t width = dense::padded_row(n);
    factor_.resize(width * width);
    const double* other = Q_.data() + last * m_;
    const std::size_t* free = free_.data();
    with_last_.resize(n);
    double* with_last = with_last_.data();
    for (std::size_t b = 0; b < n; ++b) with_last[b] = other[free[b]];
    // Padding and entries left of the diagonal enter only sums that are never read: set them to 0.
    std::fill(factor_.begin() + static_cast<std::ptrdiff_t>(n * width), factor_.end(), 0.0);
    for (std::size_t a = 0; a < n; ++a) {
        const double* row = Q_.data() + free[a] * m_;
        double* out = factor_.data() + a * width;
        std::fill(out + a - a % dense::kLanes, out + a, 0.0);
        std::fill(out + n, out + width, 0.0);
        const double both = other[last] - row[last];
        if (tight_)
            for (std::size_t b = a; b < n; ++b) out[b] = row[free[b]] + (both - with_last[b]);
        else
            for (std::size_t b = a; b < n; ++b) out[b] = row[free[b]];
    }
    dense::cholesky(factor_.data(), n);
}

// The direction to the optimum over the free rows. If the whole budget is used, the last free row
// balances the others, so that the sum of the coefficients does not change.
void BlockQp::find_direction() {
    const std::size_t n = free_.size() - (tight_ ? 1 : 0);
    const std::size_t last = free_.back();
    direction_.resize(free_.size());
    for (std::size_t a = 0; a < n; ++a)
        direction_[a] = tight_ ? g_[free_[a]] - g_[last] : g_[free_[a]];
    dense::solve_cholesky(factor_.data(), n, direction_.data());
    if (!tight_) return;
    double rest = 0;
    for (std::size_t a = 0; a < n; ++a) rest -= direction_[a];
    direction_[n] = rest;
}

// Selects the rows with positive coefficients and factorises the matrix of their products. The
// factor is reused while the rows stay the same. Returns false if there are too few rows for a
// step.
bool BlockQp::choose_free_rows() {
    const bool tight = unused_ == 0;
    current_rows_.clear();
    for (std::size_t j = 0; j < m_; ++j)
        if (u_[j] > 0) current_rows_.push_back(j);
    if (current_rows_.size() < (tight ? 2u : 1u)) return false;
    if (current_rows_ == factored_rows_ && tight == tight_) return true;
    factored_rows_ = current_rows_;
    tight_ = tight;
    free_ = factored_rows_;
    std::iter_swap(
        std::max_element(free_.begin(), free_.end(), [&](auto a, auto b) { return u_[a] < u_[b]; }),
        free_.end() - 1);
    factorise();
    return true;
}

// The largest step along the direction, at most 1, at which no coefficient is negative and the
// budget is not exceeded.
BlockQp::StepLength BlockQp::longest_step(double spending) const {
    StepLength found{1, free_.size(), false};
    for (std::size_t a = 0; a < free_.size(); ++a)
        if (u_[free_[a]] + found.length * direction_[a] <= 0) {
            found.length = -u_[free_[a]] / direction_[a];
            found.blocking = a;
        }
    if (!tight_ && spending * found.length >= unused_)
        found = {unused_ / spending, free_.size(), true};
    return found;
}

BlockQp::Newton BlockQp::newton_step() {
    if (!choose_free_rows()) return Newton::none;
    find_direction();
    double slope = 0, spending = 0;
    for (std::size_t a = 0; a < free_.size(); ++a) {
        slope += g_[free_[a]] * direction_[a];
        spending += direction_[a];
    }
    if (!(slope > 0)) return Newton::none;
    const auto [length, blocking, fills] = longest_step(spending);
    if (!(length > 0)) return Newton::none;
    amounts_.clear();
    for (std::size_t a = 0; a < free_.size(); ++a) amounts_.push_back(length * direction_[a]);
    move_together(free_, amounts_);
    for (std::size_t a = 0; a < free_.size(); ++a)
        if (a == blocking || u_[free_[a]] < 0) u_[free_[a]] = 0;
    if (!tight_) unused_ = fills ? 0 : std::max(0.0, unused_ - spending * length);
    return length < 1 ? Newton::part : Newton::whole;
}

// Starts from the optimum of the surrogate without products of different rows. Returns false if the
// best step on a single row has a better objective: then the rows overlap strongly.
bool BlockQp::surrogate_start(std::span<const double> l, std::span<const double> v) {
    surrogate_rows_.clear();
    double single = 0;
    for (std::size_t j = 0; j < m_; ++j) {
        const double q = Q_[j * m_ + j], loss = l[j] / v[j];
        surrogate_rows_.push_back({-loss, 1, q});
        const double step = std::clamp(q > 0 ? loss / q : budget_, 0.0, budget_);
        single = std::max(single, step * (loss - step * q / 2));
    }
    surrogate_optimum(surrogate_rows_, 0, budget_, u_);
    double spent = 0, value = 0;
    for (const double amount : u_) spent += amount;
    subtract_from_gradient(u_);
    for (std::size_t j = 0; j < m_; ++j) value += u_[j] * (l[j] / v[j] + g_[j]) / 2;
    // Ignore rounding errors if the budget is used up.
    unused_ = spent < budget_ * (1 - 1e-12) ? budget_ - spent : 0;
    // For rows of tiny norm, rounding errors can exceed the budget.
    return value >= single && spent <= budget_ * (1 + 1e-12);
}

void BlockQp::start(std::span<const double> l, std::span<const double> v,
                    const std::vector<double>& lambda) {
    double spent = 0;
    u_.assign(m_, 0.0);
    if (lambda.size() == m_)
        for (std::size_t j = 0; j < m_; ++j) spent += u_[j] = v[j] * lambda[j];
    if (spent > 0) {
        if (spent > budget_)
            for (double& value : u_) value *= budget_ / spent;
        unused_ = std::max(0.0, budget_ - spent);
        subtract_from_gradient(u_);
        return;
    }
    if (surrogate_start(l, v)) return;
    u_.assign(m_, 0.0);
    unused_ = budget_;
    for (std::size_t j = 0; j < m_; ++j) g_[j] = l[j] / v[j];
}

int BlockQp::solve(std::span<const double> Q, std::span<const double> l, std::span<const double> v,
                   double budget, std::vector<double>& lambda) {
    load(Q, l, v);
    factored_rows_.clear();
    budget_ = budget;
    start(l, v, lambda);
    int iteration = 0, stalled = 0;
    double best = kInfinity;
    for (; iteration < kMaxIterations; ++iteration) {
        gap_ = measure_gap();
        double scale = 0;
        for (std::size_t j = 0; j < m_; ++j) scale += std::abs(l[j] / v[j]) * u_[j];
        if (gap_ <= kTolerance * scale) break;
        stalled = gap_ < 0.9 * best ? 0 : stalled + 1;
        best = std::min(best, gap_);
        if (stalled > 60) break;  // only rounding errors remain
        // From a good start, a full Newton step replaces the pair steps.
        bool any = iteration == 0 && newton_step() == Newton::whole;
        if (!any)
            for (std::size_t i = 0; i < m_ + 4 && pair_step(); ++i) any = true;
        for (std::size_t i = 0; i < m_ && newton_step() != Newton::none; ++i) {
            any = true;
            if (measure_gap() <= kTolerance * scale) break;
        }
        if (!any) break;
    }
    solved_ = iteration < kMaxIterations;
    lambda.resize(m_);
    for (std::size_t j = 0; j < m_; ++j) lambda[j] = u_[j] / v[j];
    return iteration;
}

}  // namespace tagalong
