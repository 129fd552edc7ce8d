// Learnt relevances of the features in the adaptive geometry: the weights of feature j are
//
//     w_j = exp(2 beta_j) theta_j / sqrt(S_j).
// A feature whose weights already argue for the correction of a round gets more say. With z_j the
// value of the feature times the factor of its row, and theta as it was before the step alpha,
//     c_j = z_j sum_y alpha_y theta_jy / sum_y |alpha_y|
// is the share of the feature in the mean score of the correction. After the step,
//     V_j += c_j^2,   beta_j += 0.05 c_j / sqrt(V_j + c), clipped to [-0.7, 0.7],
// where c is the mean of all c_j^2, discounted per update. The constant feature keeps beta = 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tagalong {

// The features whose relevance is learnt. Rare features were present in under half of the updates.
enum class RelevanceOf { none, rare, all };

class Relevances {
  public:
    static constexpr double kRate = 0.05;
    static constexpr double kMost = 0.7;  // the largest |beta|
    static constexpr double kDiscount = 0.9999;
    static constexpr double kLargest = 1e100;  // of |c_j|: the squares do not overflow

    struct Row {
        double beta = 0;
        double V = 0;
        std::int64_t updates = 0;  // in which the feature was present
    };
    // Discounted sums over the updates: of c_j^2, and of the number of features.
    struct Mean {
        double squares = 0;
        double count = 0;
        double value() const { return count > 0 ? squares / count : 0; }
    };

    explicit Relevances(RelevanceOf of) : of_(of) {}

    RelevanceOf of() const { return of_; }
    bool learnt() const { return of_ != RelevanceOf::none; }
    const Row& row(std::size_t row) const { return rows_[row]; }
    std::int64_t updates() const { return updates_; }
    const Mean& mean() const { return mean_; }

    void add(const Row& row) {
        if (learnt()) rows_.push_back(row);
    }
    void restore(std::int64_t updates, const Mean& mean) {
        updates_ = updates;
        mean_ = mean;
    }

    // exp(2 beta_j)
    double factor(std::size_t row) const { return learnt() ? factor_of(rows_[row].beta) : 1.0; }

    // An update: the share c_j of each of its features in order, then finish(), then update() of
    // each of them in the same order.
    void begin() {
        shares_.clear();
        squares_ = 0;
        learning_ = 0;
    }
    void add_share(std::int32_t row, bool constant, double c) {
        const bool learns = !constant && is_learnt(row);
        c = learns ? std::clamp(c, -kLargest, kLargest) : 0;
        shares_.push_back(c);
        squares_ += c * c;
        learning_ += learns;
    }
    void finish() {
        ++updates_;
        if (learning_ == 0) return;
        mean_.squares = kDiscount * mean_.squares + squares_;
        mean_.count = kDiscount * mean_.count + learning_;
    }
    // Learns from the share at `place` and returns the new factor.
    double update(std::int32_t number, std::size_t place) {
        Row& row = rows_[static_cast<std::size_t>(number)];
        ++row.updates;
        const double c = shares_[place];
        row.V += c * c;
        const double spread = row.V + mean_.value();
        if (c != 0 && spread > 0)
            row.beta = std::clamp(row.beta + kRate * c / std::sqrt(spread), -kMost, kMost);
        return factor_of(row.beta);
    }

  private:
    static double factor_of(double beta) { return beta == 0 ? 1.0 : std::exp(2 * beta); }
    bool is_learnt(std::int32_t row) const {
        return of_ == RelevanceOf::all ||
               2 * rows_[static_cast<std::size_t>(row)].updates < updates_;
    }

    RelevanceOf of_;
    std::vector<Row> rows_;
    std::int64_t updates_ = 0;
    Mean mean_;
    // Scratch of an update.
    std::vector<double> shares_;
    double squares_ = 0;
    double learning_ = 0;  // features that learn
};

}  // namespace tagalong
