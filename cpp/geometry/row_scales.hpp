// The factors that turn the rows of theta into weights in a linear geometry: r_j / sqrt(S_j) in the
// adaptive geometry, with r_j = exp(2 beta_j) if relevances are learnt and 1 otherwise; 1 in the
// Euclidean geometry.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace tagalong {

class RowScales {
  public:
    explicit RowScales(bool grow) : grow_(grow) {}

    // One factor per row; null if all are 1 or there are no rows.
    const double* data() const { return values_.empty() ? nullptr : values_.data(); }
    double of(std::int32_t row) const {
        return grow_ ? values_[static_cast<std::size_t>(row)] : 1.0;
    }
    void add(double S, double r = 1) {
        if (grow_) values_.push_back(r / std::sqrt(S));
    }
    // Sets and returns the factor of a row after S has grown.
    double update(std::int32_t row, double S, double r = 1) {
        return values_[static_cast<std::size_t>(row)] = r / std::sqrt(S);
    }
    void set(std::int32_t row, double scale) { values_[static_cast<std::size_t>(row)] = scale; }

  private:
    bool grow_;
    std::vector<double> values_;  // stored because scoring needs the factor of every row
};

}  // namespace tagalong
