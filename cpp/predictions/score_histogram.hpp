// Histograms of the scores of relevant labels and of all labels, with exponentially discounted old
// rounds.
//
// The range adapts to the scores of the relevant labels, whatever their scale: it doubles when a
// score is outside, and halves when the scores use only a quarter of it. One extra number counts
// the scores below the range; scores above it count in the last bin.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/score_kernels.hpp"
#include "predictions/state_reader.hpp"

namespace tagalong {

template <std::size_t kBins>
class ScoreHistogram {
  public:
    bool empty() const { return width_ == 0; }
    double relevant(std::size_t bin) const { return relevant_[bin]; }
    double all(std::size_t bin) const { return all_[bin]; }
    double below() const { return below_; }
    double unit() const { return unit_; }  // the count that one label of the latest round adds
    double low() const { return low_; }
    double width() const { return width_; }
    double lower_end(std::size_t bin) const { return low_ + static_cast<double>(bin) * width_; }
    double relevant_total() const {
        double total = 0;
        for (const double count : relevant_) total += count;
        return total;
    }

    // Multiplies all counts so far by `factor`.
    void discount(double factor) {
        // Equivalent: increase the unit of later rounds, and rescale all counts when it is large.
        unit_ /= factor;
        if (unit_ < kLargestUnit) return;
        for (double& count : relevant_) count /= unit_;
        for (double& count : all_) count /= unit_;
        below_ /= unit_;
        unit_ = 1;
    }

    // Counts a relevant label. Call it before `add`, which counts all labels. The first score other
    // than 0 sets the range; earlier scores are not counted.
    void add_relevant(double score) {
        if (!(std::abs(score) < kLargest)) return;
        if (width_ == 0) {
            if (std::abs(score) < kSmallest) return;
            width_ = 4 * std::abs(score) / kBins;
            low_ = -2 * std::abs(score);
        }
        while (score < low_ || score >= low_ + kBins * width_) widen(score < low_);
        relevant_[bin(score)] += unit_;
    }
    void add(double score) { (width_ > 0 && score >= low_ ? all_[bin(score)] : below_) += unit_; }
    // Counts all labels except those in `excluded`.
    template <class T>
    void add_all(std::span<const T> scores, std::span<const int> excluded) {
        // An extra bin at the end counts scores below the range. Two tables alternate because
        // consecutive labels often fall into the same bin, and would wait for each other's
        // increment.
        std::array<std::array<std::int32_t, kBins + 1>, 2> counts{};
        places_.resize(scores.size());
        kernels::bins(scores.data(), low_, width_, kBins, places_.data(), scores.size());
        for (std::size_t i = 0; i < scores.size(); ++i) ++counts[i % 2][places_[i]];
        for (const int label : excluded) --counts[0][places_[label]];
        for (std::size_t i = 0; i < kBins; ++i) all_[i] += unit_ * (counts[0][i] + counts[1][i]);
        below_ += unit_ * (counts[0][kBins] + counts[1][kBins]);
    }

    // Halves the range if the relevant scores lie within a quarter of it, as long as its bins can
    // be told apart.
    void narrow() {
        if (!(low_ + width_ / 2 > low_)) return;
        const double total = relevant_total();
        std::size_t first = 0, last = kBins;
        double below = 0, above = 0;
        while (first < kBins && (below += relevant_[first]) <= 0.001 * total) ++first;
        while (last > 0 && (above += relevant_[last - 1]) <= 0.001 * total) --last;
        if (last <= first || last - first > kBins / 4) return;
        const std::size_t middle = (first + last) / 2;
        const std::size_t from = std::min(kBins / 2, middle < kBins / 4 ? 0 : middle - kBins / 4);
        for (std::size_t i = 0; i < from; ++i) below_ += all_[i];
        const auto split = [&](Counts& counts) {
            Counts fine{};
            for (std::size_t i = 0; i < kBins; ++i) fine[i] = counts[from + i / 2] / 2;
            // Counts above the new range go to the last bin.
            for (std::size_t i = from + kBins / 2; i < kBins; ++i) fine[kBins - 1] += counts[i];
            counts = fine;
        };
        split(relevant_);
        split(all_);
        low_ += static_cast<double>(from) * width_;
        width_ /= 2;
    }

    void write(std::vector<double>& out) const {
        out.insert(out.end(), {low_, width_, unit_});
        out.insert(out.end(), relevant_.begin(), relevant_.end());
        out.insert(out.end(), all_.begin(), all_.end());
        out.push_back(below_);
    }
    void read(StateReader& state) {
        low_ = state.number(-10 * kLargest, 10 * kLargest);
        width_ = state.number(0, kLargest);
        unit_ = state.number(1, kLargestUnit);
        for (double& count : relevant_) count = state.number(0, kLargest);
        for (double& count : all_) count = state.number(0, kLargest);
        below_ = state.number(0, kLargest);
    }

  private:
    using Counts = std::array<double, kBins>;
    // Scores outside of these would overflow the range, or make it so small that it has no bins.
    static constexpr double kLargest = 1e300, kSmallest = 1e-290;
    static constexpr double kLargestUnit = 1e9;

    std::size_t bin(double score) const {
        const double at = (score - low_) / width_;
        return at >= kBins ? kBins - 1 : static_cast<std::size_t>(at);
    }

    void widen(bool downwards) {
        const auto merge = [&](Counts& counts) {
            Counts merged{};
            const std::size_t offset = downwards ? kBins / 2 : 0;
            for (std::size_t i = 0; i < kBins; ++i) merged[offset + i / 2] += counts[i];
            counts = merged;
        };
        merge(relevant_);
        merge(all_);
        if (downwards) low_ -= kBins * width_;
        width_ *= 2;
    }

    double low_ = 0;
    double width_ = 0;
    double unit_ = 1;
    double below_ = 0;
    Counts relevant_{};
    Counts all_{};
    std::vector<std::int32_t> places_;  // scratch of add_all
};

// Selects the rounds to observe: all of the first kEveryRound, then every kSample-th.
class Sampling {
  public:
    static constexpr double kDiscount = 0.999;

    // Whether to observe this round, and the discount of older ones if it is observed.
    bool observe_next() {
        rounds_ += 1;
        return rounds_ <= kEveryRound || rounds_ % kSample == 0;
    }
    double discount() const {
        return rounds_ > kEveryRound ? std::pow(kDiscount, kSample) : kDiscount;
    }
    bool is_time_to_narrow() const { return rounds_ % kNarrowEvery == 0; }

    std::int64_t rounds() const { return rounds_; }
    void read(StateReader& state) { rounds_ = static_cast<std::int64_t>(state.number(0, 1e15)); }

  private:
    static constexpr std::int64_t kEveryRound = 500;
    static constexpr std::int64_t kSample = 8;
    static constexpr std::int64_t kNarrowEvery = 1000;
    std::int64_t rounds_ = 0;
};

}  // namespace tagalong
