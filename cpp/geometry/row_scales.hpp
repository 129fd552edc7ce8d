// What a linear geometry multiplies the rows of theta by: 1 / sqrt(S_j), or 1 where S does not grow.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace tagalong {

class RowScales {
  public:
    explicit RowScales(bool grow) : grow_(grow) {}

    // Per row; null where all are 1 or there are no rows.
    const double* data() const { return values_.empty() ? nullptr : values_.data(); }
    double of(std::int32_t row) const {
        return grow_ ? values_[static_cast<std::size_t>(row)] : 1.0;
    }
    void add(double S) {
        if (grow_) values_.push_back(1 / std::sqrt(S));
    }
    // Of a row whose S has grown.
    double update(std::int32_t row, double S) {
        return values_[static_cast<std::size_t>(row)] = 1 / std::sqrt(S);
    }

  private:
    bool grow_;
    std::vector<double> values_;  // scoring needs it of every row
};

}  // namespace tagalong
