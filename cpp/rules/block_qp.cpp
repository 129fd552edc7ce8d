#include "block_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "clones.hpp"

namespace tagalong {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostTurns = 400;
constexpr double kTolerance = 1e-12;
constexpr std::ptrdiff_t kUnused = -1;  // in place of a row: the budget that is not used
constexpr std::ptrdiff_t kNone = -2;

// row[k] -= the sum over four pivot rows of what each has at `at` and at k, for k from `at` on.
TAGALONG_INLINE void take_four(double* __restrict row, const double* pivots, std::size_t at, std::size_t n) {
    const double *a = pivots, *b = a + n, *c = b + n, *d = c + n;
    const double fa = a[at], fb = b[at], fc = c[at], fd = d[at];
#pragma omp simd
    for (std::size_t k = at; k < n; ++k) row[k] -= (fa * a[k] + fb * b[k]) + (fc * c[k] + fd * d[k]);
}

// A = U' U of a symmetric n x n matrix, of which the upper half is read and becomes U, row by row; pivots
// are kept off zero, which amounts to a tiny ridge on rows that depend on others. Four rows are finished at
// a time and then taken from all that follow, so that all loops run along rows.
TAGALONG_CLONES void cholesky(double* u, std::size_t n) {
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, u[i * n + i]);
    const double least = 1e-13 * largest + 1e-300;
    constexpr std::size_t kTogether = 4;
    for (std::size_t from = 0; from < n; from += kTogether) {
        const std::size_t end = std::min(n, from + kTogether);
        for (std::size_t i = from; i < end; ++i) {
            double* row = u + i * n;
            for (std::size_t j = from; j < i; ++j) {
                const double* __restrict pivot = u + j * n;
                const double factor = pivot[i];
#pragma omp simd
                for (std::size_t k = i; k < n; ++k) row[k] -= factor * pivot[k];
            }
            const double inverse = 1 / std::sqrt(std::max(row[i], least));
            row[i] = std::max(row[i], least);
#pragma omp simd
            for (std::size_t k = i; k < n; ++k) row[k] *= inverse;
        }
        for (std::size_t i = end; i < n; ++i) take_four(u + i * n, u + from * n, i, n);
    }
}

// U' U x = b, x in the place of b.
TAGALONG_CLONES void solve_cholesky(const double* u, std::size_t n, double* x) {
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = u + i * n;
        const double value = x[i] /= row[i];
#pragma omp simd
        for (std::size_t k = i + 1; k < n; ++k) x[k] -= value * row[k];
    }
    for (std::size_t i = n; i-- > 0;) {
        const double* row = u + i * n;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t k = i + 1; k < n; ++k) sum += row[k] * x[k];
        x[i] = (x[i] - sum) / row[i];
    }
}

}  // namespace

void BlockQp::load(std::span<const double> Q, std::span<const double> l, std::span<const double> v) {
    m_ = l.size();
    Q_.assign(Q.begin(), Q.end());
    g_.assign(l.begin(), l.end());
    if (std::all_of(v.begin(), v.end(), [](double weight) { return weight == 1; })) return;
    for (std::size_t j = 0; j < m_; ++j) {
        g_[j] /= v[j];
        for (std::size_t k = 0; k < m_; ++k) Q_[j * m_ + k] /= v[j] * v[k];
    }
}

void BlockQp::add_to_gradient(std::size_t j, double amount) {
    const double* row = Q_.data() + j * m_;
    for (std::size_t k = 0; k < m_; ++k) g_[k] -= amount * row[k];
}

void BlockQp::move(std::size_t j, double amount) {
    if (amount == 0) return;
    u_[j] += amount;
    add_to_gradient(j, amount);
}

double BlockQp::measure_gap() const {
    double top = 0, product = 0;
    for (std::size_t j = 0; j < m_; ++j) {
        top = std::max(top, g_[j]);
        product += g_[j] * u_[j];
    }
    return std::max(0.0, budget_ * top - product);
}

// Budget from where it gains least to where it gains most.
bool BlockQp::pair_step() {
    std::ptrdiff_t up = kUnused, down = unused_ > 0 ? kUnused : kNone;
    double most = 0, least = unused_ > 0 ? 0 : kInfinity;
    for (std::size_t j = 0; j < m_; ++j) {
        if (g_[j] > most) {
            most = g_[j];
            up = static_cast<std::ptrdiff_t>(j);
        }
        if (u_[j] > 0 && g_[j] < least) {
            least = g_[j];
            down = static_cast<std::ptrdiff_t>(j);
        }
    }
    if (down == kNone || up == down || !(most > least)) return false;
    const auto at = [&](std::ptrdiff_t a, std::ptrdiff_t b) {
        return a < 0 || b < 0 ? 0.0 : Q_[static_cast<std::size_t>(a) * m_ + static_cast<std::size_t>(b)];
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
    factor_.resize(n * n);
    for (std::size_t a = 0; a < n; ++a) {
        const double *row = Q_.data() + free_[a] * m_, *other = Q_.data() + last * m_;
        double* out = factor_.data() + a * n;
        for (std::size_t b = a; b < n; ++b) out[b] = row[free_[b]];
        if (!tight_) continue;
        const double both = other[last] - row[last];
        for (std::size_t b = a; b < n; ++b) out[b] += both - other[free_[b]];
    }
    cholesky(factor_.data(), n);
}

// To the optimum over the rows in use. If the whole budget is used, the last of them takes what the
// others leave, so that the sum stays as it is to the last digit.
void BlockQp::find_direction() {
    const std::size_t n = free_.size() - (tight_ ? 1 : 0);
    const std::size_t last = free_.back();
    direction_.resize(free_.size());
    for (std::size_t a = 0; a < n; ++a) direction_[a] = tight_ ? g_[free_[a]] - g_[last] : g_[free_[a]];
    solve_cholesky(factor_.data(), n, direction_.data());
    if (!tight_) return;
    double rest = 0;
    for (std::size_t a = 0; a < n; ++a) rest -= direction_[a];
    direction_[n] = rest;
}

BlockQp::Newton BlockQp::newton_step() {
    const bool tight = unused_ == 0;
    rows_now_.clear();
    for (std::size_t j = 0; j < m_; ++j)
        if (u_[j] > 0) rows_now_.push_back(j);
    if (rows_now_.size() < (tight ? 2u : 1u)) return Newton::none;
    // The factor serves as long as the same rows are in use.
    if (rows_now_ != in_use_ || tight != tight_) {
        in_use_ = rows_now_;
        tight_ = tight;
        free_ = in_use_;
        std::iter_swap(std::max_element(free_.begin(), free_.end(), [&](auto a, auto b) { return u_[a] < u_[b]; }),
                       free_.end() - 1);
        factorise();
    }
    find_direction();
    double slope = 0, spending = 0;
    for (std::size_t a = 0; a < free_.size(); ++a) {
        slope += g_[free_[a]] * direction_[a];
        spending += direction_[a];
    }
    if (!(slope > 0)) return Newton::none;
    double length = 1;
    std::size_t blocking = free_.size();
    for (std::size_t a = 0; a < free_.size(); ++a)
        if (u_[free_[a]] + length * direction_[a] <= 0) {
            length = -u_[free_[a]] / direction_[a];
            blocking = a;
        }
    bool fills = false;
    if (!tight && spending * length >= unused_) {
        length = unused_ / spending;
        fills = true;
        blocking = free_.size();
    }
    if (!(length > 0)) return Newton::none;
    for (std::size_t a = 0; a < free_.size(); ++a) move(free_[a], length * direction_[a]);
    for (std::size_t a = 0; a < free_.size(); ++a)
        if (a == blocking || u_[free_[a]] < 0) u_[free_[a]] = 0;
    if (!tight) unused_ = fills ? 0 : std::max(0.0, unused_ - spending * length);
    return length < 1 ? Newton::part : Newton::whole;
}

// False if the best step on a single row is better: rows have much in common then.
bool BlockQp::separate_start(std::span<const double> l, std::span<const double> v) {
    separate_.clear();
    double single = 0;
    for (std::size_t j = 0; j < m_; ++j) {
        const double q = Q_[j * m_ + j], loss = l[j] / v[j];
        separate_.push_back({-loss, 1, q});
        const double step = std::clamp(q > 0 ? loss / q : budget_, 0.0, budget_);
        single = std::max(single, step * (loss - step * q / 2));
    }
    surrogate_optimum(separate_, 0, budget_, u_);
    double spent = 0, value = 0;
    for (std::size_t j = 0; j < m_; ++j) {
        if (u_[j] > 0) add_to_gradient(j, u_[j]);
        spent += u_[j];
    }
    for (std::size_t j = 0; j < m_; ++j) value += u_[j] * (l[j] / v[j] + g_[j]) / 2;
    // Of a budget that is used up, rounding leaves nothing.
    unused_ = spent < budget_ * (1 - 1e-12) ? budget_ - spent : 0;
    // Rows of hardly any length can spend more than there is, by rounding.
    return value >= single && spent <= budget_ * (1 + 1e-12);
}

void BlockQp::start(std::span<const double> l, std::span<const double> v, const std::vector<double>& lambda) {
    double spent = 0;
    u_.assign(m_, 0.0);
    if (lambda.size() == m_)
        for (std::size_t j = 0; j < m_; ++j) spent += u_[j] = v[j] * lambda[j];
    if (spent > 0) {
        if (spent > budget_)
            for (double& value : u_) value *= budget_ / spent;
        unused_ = std::max(0.0, budget_ - spent);
        for (std::size_t j = 0; j < m_; ++j)
            if (u_[j] > 0) add_to_gradient(j, u_[j]);
        return;
    }
    if (separate_start(l, v)) return;
    u_.assign(m_, 0.0);
    unused_ = budget_;
    for (std::size_t j = 0; j < m_; ++j) g_[j] = l[j] / v[j];
}

int BlockQp::solve(std::span<const double> Q, std::span<const double> l, std::span<const double> v, double budget,
                   std::vector<double>& lambda) {
    load(Q, l, v);
    in_use_.clear();
    budget_ = budget;
    start(l, v, lambda);
    int turn = 0, stalled = 0;
    double best = kInfinity;
    for (; turn < kMostTurns; ++turn) {
        gap_ = measure_gap();
        double scale = 0;
        for (std::size_t j = 0; j < m_; ++j) scale += std::abs(l[j] / v[j]) * u_[j];
        if (gap_ <= kTolerance * scale) break;
        stalled = gap_ < 0.9 * best ? 0 : stalled + 1;
        best = std::min(best, gap_);
        if (stalled > 60) break;  // what is left is rounding
        // A good start needs no pair steps.
        bool any = turn == 0 && newton_step() == Newton::whole;
        if (!any)
            for (std::size_t i = 0; i < m_ + 4 && pair_step(); ++i) any = true;
        for (std::size_t i = 0; i < m_ && newton_step() != Newton::none; ++i) {
            any = true;
            if (measure_gap() <= kTolerance * scale) break;
        }
        if (!any) break;
    }
    lambda.resize(m_);
    for (std::size_t j = 0; j < m_; ++j) lambda[j] = u_[j] / v[j];
    return turn;
}

}  // namespace tagalong
