#include "block_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tagalong {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostTurns = 400;
constexpr double kTolerance = 1e-12;
constexpr std::ptrdiff_t kUnused = -1;  // in place of a row: the budget that is not used
constexpr std::ptrdiff_t kNone = -2;

// Cholesky of a symmetric n x n matrix in place, row by row, lower half; pivots are kept off zero,
// which amounts to a tiny ridge on rows that depend on others.
void cholesky(std::vector<double>& a, std::size_t n) {
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, a[i * n + i]);
    const double least = 1e-13 * largest + 1e-300;
    for (std::size_t i = 0; i < n; ++i) {
        double* row = a.data() + i * n;
        for (std::size_t j = 0; j <= i; ++j) {
            const double* other = a.data() + j * n;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (std::size_t k = 0; k < j; ++k) sum += row[k] * other[k];
            row[j] = i == j ? std::sqrt(std::max(row[j] - sum, least)) : (row[j] - sum) / other[j];
        }
    }
}

void solve_cholesky(const std::vector<double>& a, std::size_t n, double* x) {
    for (std::size_t i = 0; i < n; ++i) {
        double sum = x[i];
        for (std::size_t k = 0; k < i; ++k) sum -= a[i * n + k] * x[k];
        x[i] = sum / a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        x[i] /= a[i * n + i];
        for (std::size_t k = 0; k < i; ++k) x[k] -= a[i * n + k] * x[i];
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

void BlockQp::move(std::size_t j, double amount) {
    if (amount == 0) return;
    u_[j] += amount;
    const double* row = Q_.data() + j * m_;
    for (std::size_t k = 0; k < m_; ++k) g_[k] -= amount * row[k];
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

// To the optimum over the rows in use. If the whole budget is used, the last of them takes what the
// others leave, so that the sum stays as it is to the last digit.
void BlockQp::find_direction(bool tight) {
    const std::size_t n = free_.size() - (tight ? 1 : 0);
    const std::size_t last = free_.back();
    factor_.resize(n * n);
    direction_.resize(free_.size());
    for (std::size_t a = 0; a < n; ++a) {
        const double* row = Q_.data() + free_[a] * m_;
        direction_[a] = tight ? g_[free_[a]] - g_[last] : g_[free_[a]];
        for (std::size_t b = 0; b <= a; ++b) {
            factor_[a * n + b] = row[free_[b]];
            if (tight) factor_[a * n + b] += Q_[last * m_ + last] - row[last] - Q_[free_[b] * m_ + last];
        }
    }
    cholesky(factor_, n);
    solve_cholesky(factor_, n, direction_.data());
    if (!tight) return;
    double rest = 0;
    for (std::size_t a = 0; a < n; ++a) rest -= direction_[a];
    direction_[n] = rest;
}

bool BlockQp::newton_step() {
    free_.clear();
    for (std::size_t j = 0; j < m_; ++j)
        if (u_[j] > 0) free_.push_back(j);
    const bool tight = unused_ == 0;
    if (free_.size() < (tight ? 2u : 1u)) return false;
    // The largest one last.
    std::iter_swap(std::max_element(free_.begin(), free_.end(), [&](auto a, auto b) { return u_[a] < u_[b]; }),
                   free_.end() - 1);
    find_direction(tight);
    double slope = 0, spending = 0;
    for (std::size_t a = 0; a < free_.size(); ++a) {
        slope += g_[free_[a]] * direction_[a];
        spending += direction_[a];
    }
    if (!(slope > 0)) return false;
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
    if (!(length > 0)) return false;
    for (std::size_t a = 0; a < free_.size(); ++a) move(free_[a], length * direction_[a]);
    for (std::size_t a = 0; a < free_.size(); ++a)
        if (a == blocking || u_[free_[a]] < 0) u_[free_[a]] = 0;
    if (!tight) unused_ = fills ? 0 : std::max(0.0, unused_ - spending * length);
    return true;
}

int BlockQp::solve(std::span<const double> Q, std::span<const double> l, std::span<const double> v, double budget,
                   std::vector<double>& lambda) {
    load(Q, l, v);
    budget_ = budget;
    u_.assign(m_, 0.0);
    double spent = 0;
    if (lambda.size() == m_)
        for (std::size_t j = 0; j < m_; ++j) spent += u_[j] = v[j] * lambda[j];
    if (spent > budget)
        for (double& value : u_) value *= budget / spent;
    unused_ = std::max(0.0, budget - spent);
    for (std::size_t j = 0; j < m_; ++j)
        if (u_[j] > 0)
            for (std::size_t k = 0; k < m_; ++k) g_[k] -= u_[j] * Q_[j * m_ + k];
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
        bool any = false;
        for (std::size_t i = 0; i < m_ + 4 && pair_step(); ++i) any = true;
        for (std::size_t i = 0; i < m_ && newton_step(); ++i) {
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
