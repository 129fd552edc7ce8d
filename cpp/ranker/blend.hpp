// Chooses the weights for predictions: the current ones, their mean over the rounds, or the average
// of both.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/score_kernels.hpp"

namespace tagalong {

// Chooses the candidate with the best average precision over recent rounds.
struct Blend {
    static constexpr std::array<double, 3> kShares = {0.0, 0.5, 1.0};  // weight of the mean
    static constexpr double kDiscount = 0.999;                         // discount per round
    std::array<double, 3> precision = {0, 0, 0};                       // discounted sums

    std::size_t best() const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < 3; ++i)
            if (precision[i] > precision[best]) best = i;
        return best;
    }
    void observe(std::size_t candidate, double round_precision) {
        precision[candidate] = kDiscount * precision[candidate] + round_precision;
    }
};

// The scores of an example with the three candidates, in the order of Blend::kShares. With theta
// the current weights and u the plane of means, the mean over T rounds is theta - u / T.
template <class T>
class BlendScores {
  public:
    using Candidates = std::array<std::span<const T>, 3>;

    Candidates operator()(std::span<const T> current, const T* mean_sums, std::int64_t rounds) {
        middle_.resize(current.size());
        mean_.resize(current.size());
        subtract(current, mean_sums, 1 / static_cast<double>(rounds), mean_);
        subtract(current, mean_sums, 0.5 / static_cast<double>(rounds), middle_);
        return {current, middle_, mean_};
    }

  private:
    static void subtract(std::span<const T> current, const T* mean_sums, double factor,
                         std::vector<T>& out) {
        kernels::minus_scaled(current.data(), mean_sums, static_cast<T>(factor), out.data(),
                              current.size());
    }

    std::vector<T> middle_, mean_;
};

}  // namespace tagalong
