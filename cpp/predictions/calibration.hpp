// The probability that a label is relevant, given its score and its rank: calibration by isotonic
// regression.
//
// At the same score, a label at the top of its ranking is relevant more often than one further
// down. Therefore labels are grouped by rank: the first, the second, and so on in growing groups.
// Within a group the probability is the fraction of relevant labels near that score, made
// non-decreasing in the score by pooling adjacent violators. Two pseudo-observations with the mean
// of the group smooth fractions of few observations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "predictions/score_histogram.hpp"

namespace tagalong {

class Calibration {
  public:
    // Learns from the predicted scores of a round and its labels.
    template <class T>
    void observe(std::span<const T> scores, std::span<const int> relevant,
                 std::span<const int> unknown);
    // The probability of each label of an item; the probabilities do not increase with the rank.
    template <class T>
    void probabilities(std::span<const T> scores, double* out) const;

    std::vector<double> state() const;
    // Returns false, and changes nothing, if the state is invalid.
    bool restore(std::span<const double> state);

  private:
    static constexpr std::size_t kBins = 64;
    using Histogram = ScoreHistogram<kBins>;

    // The groups of ranks: 1, 2, 3, 4-5, 6-10, and all others. Places are ranks counted from 0.
    static constexpr std::array<std::uint8_t, 10> kGroupOfPlace = {0, 1, 2, 3, 3, 4, 4, 4, 4, 4};
    static constexpr std::size_t kHead = kGroupOfPlace.size();
    static constexpr std::size_t kGroups = 6;
    static constexpr std::uint8_t kNoGroup = kGroups;
    static std::size_t group_of(std::size_t place) {
        return place < kHead ? kGroupOfPlace[place] : kGroups - 1;
    }

    template <class T>
    void place_labels(std::span<const T> scores);

    class Curve;

    Sampling sampling_;
    std::array<Histogram, kGroups> groups_;
    // Scratch memory of observe().
    std::vector<std::int32_t> head_;
    std::vector<std::uint8_t> group_;
    std::vector<int> not_in_rest_;
};

}  // namespace tagalong
