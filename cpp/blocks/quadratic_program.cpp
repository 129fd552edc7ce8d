#include "blocks/quadratic_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/clones.hpp"

namespace tagalong {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostTurns = 400;
constexpr double kTolerance = 1e-12;
constexpr std::ptrdiff_t kUnused = -1;  // in place of a row: the budget that is not used
constexpr std::ptrdiff_t kNone = -2;

constexpr std::size_t kTogether = 4;
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
// Rows of factors are padded, so that loops go four numbers at a time without a rest.
constexpr std::size_t padded_row(std::size_t n) { return (n + kTogether - 1) / kTogether * kTogether; }

// row[k] -= the sum over four pivot rows of what each has at `at` and at k, for k from `at` on and perhaps some
// before, which nobody reads. The same for the row after it, so that pivots are read once for both.
TAGALONG_INLINE void take_four(double* row, const double* pivots, std::size_t at, std::size_t width) {
    const double *a = pivots, *b = a + width, *c = b + width, *d = c + width;
    const double fa = a[at], fb = b[at], fc = c[at], fd = d[at];
    const double ga = a[at + 1], gb = b[at + 1], gc = c[at + 1], gd = d[at + 1];
    for (std::size_t k = at - at % kTogether; k < width; k += kTogether) {
        const Four va = *reinterpret_cast<const Four*>(a + k), vb = *reinterpret_cast<const Four*>(b + k);
        const Four vc = *reinterpret_cast<const Four*>(c + k), vd = *reinterpret_cast<const Four*>(d + k);
        *reinterpret_cast<Four*>(row + k) -= (fa * va + fb * vb) + (fc * vc + fd * vd);
        *reinterpret_cast<Four*>(row + width + k) -= (ga * va + gb * vb) + (gc * vc + gd * vd);
    }
}

// A = U' U of a symmetric n x n matrix, of which the upper half is read and becomes U, row by row; pivots
// are kept off zero, which amounts to a tiny ridge on rows that depend on others. Four rows are finished at
// a time and then taken from all that follow, so that all loops run along rows. There are padded_row(n) rows
// of as many numbers.
TAGALONG_CLONES void cholesky(double* u, std::size_t n) {
    const std::size_t width = padded_row(n);
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, u[i * width + i]);
    const double least = 1e-13 * largest + 1e-300;
    for (std::size_t from = 0; from < n; from += kTogether) {
        const std::size_t end = std::min(n, from + kTogether);
        for (std::size_t i = from; i < end; ++i) {
            double* row = u + i * width;
            for (std::size_t j = from; j < i; ++j) {
                const double* __restrict pivot = u + j * width;
                const double factor = pivot[i];
#pragma omp simd
                for (std::size_t k = i; k < n; ++k) row[k] -= factor * pivot[k];
            }
            const double inverse = 1 / std::sqrt(std::max(row[i], least));
            row[i] = std::max(row[i], least);
#pragma omp simd
            for (std::size_t k = i; k < n; ++k) row[k] *= inverse;
        }
        for (std::size_t i = end; i < n; i += 2) take_four(u + i * width, u + from * width, i, width);
    }
}

// U' U x = b, x in the place of b.
TAGALONG_CLONES void solve_cholesky(const double* u, std::size_t n, double* x) {
    const std::size_t width = padded_row(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = u + i * width;
        const double value = x[i] /= row[i];
#pragma omp simd
        for (std::size_t k = i + 1; k < n; ++k) x[k] -= value * row[k];
    }
    for (std::size_t i = n; i-- > 0;) {
        const double* row = u + i * width;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t k = i + 1; k < n; ++k) sum += row[k] * x[k];
        x[i] = (x[i] - sum) / row[i];
    }
}

// g -= amount times row, row after row, four of them in one go.
TAGALONG_CLONES void take_rows(double* __restrict g, const double* Q, std::size_t m, const std::size_t* rows,
                               const double* amounts, std::size_t count) {
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const double *a = Q + rows[i] * m, *b = Q + rows[i + 1] * m, *c = Q + rows[i + 2] * m, *d = Q + rows[i + 3] * m;
        const double fa = amounts[i], fb = amounts[i + 1], fc = amounts[i + 2], fd = amounts[i + 3];
#pragma omp simd
        for (std::size_t k = 0; k < m; ++k) g[k] = (((g[k] - fa * a[k]) - fb * b[k]) - fc * c[k]) - fd * d[k];
    }
    for (; i < count; ++i) {
        const double* row = Q + rows[i] * m;
        const double amount = amounts[i];
#pragma omp simd
        for (std::size_t k = 0; k < m; ++k) g[k] -= amount * row[k];
    }
}

// The largest of g, and the least of those where u > 0.
struct Ends {
    double most, least;
};
TAGALONG_CLONES Ends ends_of(const double* g, const double* u, std::size_t m) {
    double most = -kInfinity, least = kInfinity;
#pragma omp simd reduction(max : most) reduction(min : least)
    for (std::size_t j = 0; j < m; ++j) {
        const double low = u[j] > 0 ? g[j] : kInfinity;
        most = g[j] > most ? g[j] : most;
        least = low < least ? low : least;
    }
    return {most, least};
}

}  // namespace

void BlockQp::load(std::span<const double> Q, std::span<const double> l, std::span<const double> v) {
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
    take_rows(g_.data(), Q_.data(), m_, &j, &amount, 1);
}

// What coefficients take from the gradient of none.
void BlockQp::take_from_gradient(std::span<const double> amounts) {
    rows_now_.clear();
    amounts_.clear();
    for (std::size_t j = 0; j < m_; ++j) {
        if (!(amounts[j] > 0)) continue;
        rows_now_.push_back(j);
        amounts_.push_back(amounts[j]);
    }
    take_rows(g_.data(), Q_.data(), m_, rows_now_.data(), amounts_.data(), rows_now_.size());
}

void BlockQp::move_together(std::span<const std::size_t> rows, std::span<const double> amounts) {
    for (std::size_t i = 0; i < rows.size(); ++i) u_[rows[i]] += amounts[i];
    take_rows(g_.data(), Q_.data(), m_, rows.data(), amounts.data(), rows.size());
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
    const Ends ends = ends_of(g_.data(), u_.data(), m_);
    if (ends.most > most) {
        most = ends.most;
        up = std::find(g_.begin(), g_.end(), most) - g_.begin();
    }
    if (ends.least < least) {
        least = ends.least;
        for (down = 0; !(u_[static_cast<std::size_t>(down)] > 0 && g_[static_cast<std::size_t>(down)] == least);) ++down;
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
    const std::size_t width = padded_row(n);
    factor_.resize(width * width);
    const double* other = Q_.data() + last * m_;
    const std::size_t* free = free_.data();
    with_last_.resize(n);
    double* with_last = with_last_.data();
    for (std::size_t b = 0; b < n; ++b) with_last[b] = other[free[b]];
    // Padding, and what is left of the diagonal, take part in sums that nobody reads.
    std::fill(factor_.begin() + static_cast<std::ptrdiff_t>(n * width), factor_.end(), 0.0);
    for (std::size_t a = 0; a < n; ++a) {
        const double* row = Q_.data() + free[a] * m_;
        double* out = factor_.data() + a * width;
        std::fill(out + a - a % kTogether, out + a, 0.0);
        std::fill(out + n, out + width, 0.0);
        const double both = other[last] - row[last];
        if (tight_)
            for (std::size_t b = a; b < n; ++b) out[b] = row[free[b]] + (both - with_last[b]);
        else
            for (std::size_t b = a; b < n; ++b) out[b] = row[free[b]];
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
    amounts_.clear();
    for (std::size_t a = 0; a < free_.size(); ++a) amounts_.push_back(length * direction_[a]);
    move_together(free_, amounts_);
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
    for (const double amount : u_) spent += amount;
    take_from_gradient(u_);
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
        take_from_gradient(u_);
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
