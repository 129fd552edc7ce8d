// A binary tree for the sum of many numbers that change one at a time. The sum depends only on the
// current numbers, not on their history: no rounding error of a number that was once large remains.
// The rounding error grows with the logarithm of the count.
#pragma once

#include <cstddef>
#include <vector>

namespace tagalong {

class SumTree {
  public:
    double total() const { return nodes_.size() > 1 ? nodes_[1] : 0; }

    void set(std::size_t i, double value) {
        if (i >= leaves_) grow(i);
        std::size_t at = leaves_ + i;
        nodes_[at] = value;
        for (at /= 2; at > 0; at /= 2) nodes_[at] = nodes_[2 * at] + nodes_[2 * at + 1];
    }

  private:
    void grow(std::size_t i) {
        const std::vector<double> old(nodes_.begin() + static_cast<std::ptrdiff_t>(leaves_),
                                      nodes_.end());
        while (leaves_ <= i) leaves_ = leaves_ == 0 ? 1 : 2 * leaves_;
        nodes_.assign(2 * leaves_, 0.0);
        for (std::size_t k = 0; k < old.size(); ++k) nodes_[leaves_ + k] = old[k];
        for (std::size_t at = leaves_ - 1; at > 0; --at)
            nodes_[at] = nodes_[2 * at] + nodes_[2 * at + 1];
    }

    std::size_t leaves_ = 0;
    std::vector<double> nodes_;
};

}  // namespace tagalong
