// Logistic regression that learns online, by second-order steps with exponentially discounted old
// answers.
//
// Numbers are standardised by their running means and variances and clipped to +-4; a constant 1
// is added, giving x. With p = sigma(w.x), the outcome y and the weight a of an answer,
//     h = a max(p (1 - p), .02),  phi = 1 - a / min(500, 50 + t / 3),
//     P <- (P - P x x'P h / (phi + h x'P x)) / phi,   w <- w + a (y - p) P x,
// where t is the sum of the weights so far. Directions in which x does not vary would grow in P
// without bound: once a diagonal entry exceeds 1.1, rows and columns are scaled down so that none
// exceeds 1, its start.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "predictions/caution.hpp"
#include "predictions/state_reader.hpp"

namespace tagalong {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

template <std::size_t N>  // the number of inputs, without the constant
class OnlineLogistic {
  public:
    using Numbers = std::array<double, N>;
    static constexpr double kLargestLogit = 8;

    // Assumptions about the numbers.
    struct Limits {
        Numbers least_variance;  // they are standardised as if they varied at least so much
        Numbers least_weight;    // 0: a larger number never makes a suggestion less likely right
        double largest_variance = Caution{}.largest_variance;  // of a coefficient
    };
    static constexpr Limits unlimited() {
        Limits limits{};
        limits.least_weight.fill(-1e9);
        return limits;
    }

    explicit OnlineLogistic(const Limits& limits = unlimited()) : limits_(limits) {
        for (std::size_t i = 0; i <= N; ++i) P_[i][i] = 1;
        variance_.fill(1);
    }

    double logit(const Numbers& numbers) const {
        const Row x = standardised(numbers);
        double sum = 0;
        for (std::size_t i = 0; i <= N; ++i) sum += w_[i] * x[i];
        return std::clamp(sum, -kLargestLogit, kLargestLogit);
    }

    // Learns an outcome with this weight. `p` is the probability before.
    void observe(const Numbers& numbers, double p, bool right, double weight) {
        const Row x = standardised(numbers);
        const double h = weight * std::max(p * (1 - p), kLeastCurvature);
        const double fade = 1 - weight / std::min(500.0, 50 + answers_ / 3);
        Row Px{};
        for (std::size_t j = 0; j <= N; ++j)  // by columns: the sums of all rows proceed together
            for (std::size_t i = 0; i <= N; ++i) Px[i] += P_[j][i] * x[j];
        double curvature = 0;
        for (std::size_t i = 0; i <= N; ++i) curvature += x[i] * Px[i];
        const double shrink = h / (fade + h * curvature);
        const double inverse_fade = 1 / fade;
        for (std::size_t i = 0; i <= N; ++i) {
            // The product of two entries first, so that P stays symmetric to the bit: a difference
            // between P and its transpose would grow by 1 / phi with every answer.
            for (std::size_t j = 0; j <= N; ++j)
                P_[i][j] = (P_[i][j] - shrink * (Px[i] * Px[j])) * inverse_fade;
        }
        // P x after the update is P x before it, divided by (phi + h x'P x).
        const double step = weight * ((right ? 1 : 0) - p) / (fade + h * curvature);
        for (std::size_t i = 0; i <= N; ++i) w_[i] += step * Px[i];
        for (std::size_t i = 0; i < N; ++i) w_[i] = std::max(w_[i], limits_.least_weight[i]);
        limit_diagonal();
        answers_ += weight;
        update_moments(numbers);
    }

    void write(std::vector<double>& out) const {
        out.insert(out.end(), {answers_, rows_});
        out.insert(out.end(), w_.begin(), w_.end());
        for (const Row& row : P_) out.insert(out.end(), row.begin(), row.end());
        out.insert(out.end(), mean_.begin(), mean_.end());
        out.insert(out.end(), variance_.begin(), variance_.end());
    }
    void read(StateReader& state) {
        answers_ = state.number(0, 1e16);
        rows_ = state.number(0, kMemory);
        for (double& weight : w_) weight = state.number(-1e9, 1e9);
        for (std::size_t i = 0; i <= N; ++i)
            for (std::size_t j = 0; j <= N; ++j) {
                const double entry = state.number(-kDimension, kDimension);
                if (j >= i) P_[i][j] = P_[j][i] = entry;
            }
        if (!is_positive_definite()) state.refuse();
        for (double& mean : mean_) mean = state.number(-kLargest, kLargest);
        for (double& variance : variance_) variance = state.number(0, 1e250);
    }

  private:
    using Row = std::array<double, N + 1>;
    static constexpr double kDimension = N + 1;
    static constexpr double kLeastCurvature = 0.02;
    static constexpr double kMemory = 1000;    // rows that means and variances cover
    static constexpr double kLargest = 1e100;  // its square is finite

    double limit(std::size_t i) const { return i + 1 == N ? 1.1 : limits_.largest_variance; }
    void limit_diagonal() {
        bool any = false;
        for (std::size_t i = 0; i <= N; ++i) any |= P_[i][i] > limit(i);
        if (!any) return;
        Row factor;
        for (std::size_t i = 0; i <= N; ++i) factor[i] = 1 / std::sqrt(std::max(P_[i][i], 1.0));
        for (std::size_t i = 0; i <= N; ++i)
            for (std::size_t j = 0; j <= N; ++j) P_[i][j] *= factor[i] * factor[j];
    }
    Row standardised(const Numbers& numbers) const {
        Row x{};
        x[N] = 1;
        if (rows_ == 0) return x;
        for (std::size_t i = 0; i < N; ++i) {
            const double deviation = bounded(numbers[i]) - mean_[i];
            const double variance = std::max({variance_[i], limits_.least_variance[i], 1e-12});
            x[i] = std::clamp(deviation / std::sqrt(variance), -4.0, 4.0);
        }
        return x;
    }
    // The mean starts at the first row and the variance at 1. Rows count fully, whatever their
    // weight.
    void update_moments(const Numbers& numbers) {
        if (rows_ == 0)
            for (std::size_t i = 0; i < N; ++i) mean_[i] = bounded(numbers[i]);
        rows_ = std::min(rows_ + 1, kMemory);
        const double rate = std::max(1 / kMemory, 1 / (rows_ + 1));
        for (std::size_t i = 0; i < N; ++i) {
            const double deviation = bounded(numbers[i]) - mean_[i];
            mean_[i] += rate * deviation;
            variance_[i] += rate * (deviation * deviation - variance_[i]);
        }
    }
    // By Cholesky factorisation, with some room for rounding.
    bool is_positive_definite() const {
        std::array<Row, N + 1> L{};
        for (std::size_t i = 0; i <= N; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                double rest = P_[i][j];
                for (std::size_t k = 0; k < j; ++k) rest -= L[i][k] * L[j][k];
                if (i == j && !(rest > -1e-12 * kDimension)) return false;
                if (i == j) L[i][i] = std::sqrt(std::max(rest, 1e-300));
                else L[i][j] = rest / L[j][j];
            }
        return true;
    }
    static double bounded(double number) {
        return number == number ? std::clamp(number, -kLargest, kLargest) : 0;
    }

    double answers_ = 0, rows_ = 0;
    Row w_{};
    std::array<Row, N + 1> P_{};
    Numbers mean_{}, variance_{};
    Limits limits_;
};

}  // namespace tagalong
