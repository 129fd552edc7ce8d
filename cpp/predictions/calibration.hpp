// How likely a label is relevant, given its score and its place in the ranking.
//
// At the same score, a label at the head of its ranking is relevant more often than one further
// down. So labels are counted by place: the first, the second, and so on in growing groups.
// Within a group the probability is the share of relevant labels at that score, made to rise with
// the score by pooling neighbours that do not (isotonic regression).
// Few observations say little: two more are assumed, with the share of the whole group.
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
    // The scores that a round was predicted with, and its answer.
    template <class T>
    void observe(std::span<const T> scores, std::span<const int> relevant,
                 std::span<const int> unknown);
    // Of each label of an item; they fall from place to place.
    template <class T>
    void probabilities(std::span<const T> scores, double* out) const;

    std::vector<double> state() const;
    // False if this is not a state.
    bool restore(std::span<const double> state);

  private:
    static constexpr std::size_t kBins = 64;
    using Histogram = ScoreHistogram<kBins>;

    // Places 1, 2, 3, 4-5, 6-10, and the rest.
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
    // Scratch of observe().
    std::vector<std::int32_t> head_;
    std::vector<std::uint8_t> group_;
    std::vector<int> elsewhere_;
};

}  // namespace tagalong
